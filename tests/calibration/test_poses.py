"""Poses for a calibration: reachable, clear of the arm itself, and with gravity from all sides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from tests.support import moved
from ur_admittance import CalibrationError, Config, RobotModel
from ur_admittance.calibration.collect import sensor_axes
from ur_admittance.calibration.payload import lacking
from ur_admittance.calibration.poses import TILT, choose, points

UR5E = RobotModel.ur("ur5e")
LONG = RobotModel.ur("ur5e", X_EP=moved(np.eye(4), [0, 0, 0.3]))
PROBE = {
    "tool.mass": 1.2,
    "tool.center_of_mass": [0.01, -0.005, 0.06],
    "tool.point": [0, 0, 0.15, 0, 0, 0],
    "payload.force_bias": [5, -3, 12],
}


def test_chosen_poses_are_inside_the_limits_and_let_gravity_pull_from_all_sides() -> None:
    config = Config.from_dict(PROBE)
    ways = choose(UR5E, config, UR5E.home)
    assert len(ways) == 12
    here = UR5E.home
    for way in ways:
        assert (way.start == here).all()
        assert (way.goal >= UR5E.q_min + 0.08).all() and (way.goal <= UR5E.q_max - 0.08).all()
        assert (way.goal[:3] == UR5E.home[:3]).all()  # the wrist alone turns
        here = way.goal
    assert lacking(np.array([sensor_axes(UR5E, way.goal) for way in ways]))[0] > 0.4


def test_where_there_is_no_room_it_says_so_before_anything_moves() -> None:
    p = UR5E.fk(UR5E.home)[:3, 3]
    tight = {"limits.workspace_min": p - 0.01, "limits.workspace_max": p + 0.01}
    with pytest.raises(CalibrationError, match="poses can be reached from here"):
        choose(UR5E, Config.from_dict(tight), UR5E.home)


@pytest.mark.parametrize(("count", "tilt"), [(6, 0.5), (9, 1.0), (12, float(TILT))])
def test_as_many_as_asked_for_and_tilted_no_farther(count: int, tilt: float) -> None:
    ways = choose(UR5E, Config(), UR5E.home, count=count, tilt=tilt)
    turns = np.array([way.goal - UR5E.home for way in ways])
    assert len(ways) == count
    assert np.abs(turns[:, 3:5]).max() <= tilt + 1e-9
    assert np.abs(turns[:, 5]).max() <= np.radians(120) + 1e-9


def test_they_see_more_of_gravity_than_as_many_by_chance() -> None:
    chosen = choose(UR5E, Config(), UR5E.home)
    seen = lacking(np.array([sensor_axes(UR5E, way.goal) for way in chosen]))[0]
    rng, by_chance = np.random.default_rng(0), []
    for _ in range(50):
        turns = rng.uniform(-1, 1, (12, 6)) * [0, 0, 0, TILT, TILT, 2.1]
        by_chance.append(lacking(np.array([sensor_axes(UR5E, UR5E.home + t) for t in turns]))[0])
    assert seen > np.quantile(by_chance, 0.95)


def test_the_points_are_where_the_frames_of_the_joints_are() -> None:
    rng = np.random.default_rng(1)
    for q in rng.uniform(-3, 3, (20, 6)):
        X, expected = np.eye(4), []
        for n in range(6):
            turn = np.eye(4)
            turn[:3, :3] = Rotation.from_euler("z", q[n]).as_matrix()
            X = X @ UR5E.X_chain[n] @ turn
            expected.append(X[:3, 3])
        np.testing.assert_allclose(points(UR5E, q)[:6], expected, atol=1e-12)
        np.testing.assert_allclose(points(UR5E, q)[6], UR5E.fk(q)[:3, 3], atol=1e-12)


def apart(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
    """The least distance of two stretches, by minimising over both."""

    def distance(shares: np.ndarray) -> float:
        return float(np.sum((a + shares[0] * (b - a) - c - shares[1] * (d - c)) ** 2))

    return float(np.sqrt(minimize(distance, [0.5, 0.5], bounds=[(0, 1)] * 2, tol=1e-14).fun))


@pytest.mark.parametrize(
    "folded", [(2.58, -0.73, -1.62), (2.12, -0.45, -2.57), (2.7, -1.94, -1.38)]
)
def test_a_long_tool_stays_clear_of_a_folded_arm_all_the_way(folded) -> None:
    q = np.array([0, -1.57, *folded, 0])
    here = points(LONG, q)
    was = [apart(here[5], here[6], here[n], here[n + 1]) for n in (1, 2)]
    ways = choose(LONG, Config(), q)
    assert len(ways) > 5
    for way in ways:
        for t in np.linspace(0, way.seconds, 25):
            now = points(LONG, way.at(t)[0])
            for least, n in zip(was, (1, 2), strict=True):
                assert apart(now[5], now[6], now[n], now[n + 1]) > min(0.08, least) - 0.015
