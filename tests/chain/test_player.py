"""A trajectory of poses above the admittance: straight, in time, inside its limits."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import DT, PUSH, ZERO, Watched, compliant
from tests.support import arm, moved
from ur_admittance.chain import (
    DESIRED,
    ControllerManager,
    PosePlayer,
    Waypoint,
)
from ur_admittance.config.validate import transform

HOME = arm().fk(arm().home)

FAR = moved(HOME, [0.1, -0.15, 0.05], [0.0, 0.3, 0.2])

CONFIG = ua.Config()


def played(player: PosePlayer, seconds: float, dt: float = DT) -> np.ndarray:
    """What a player alone exports, one row a cycle."""
    manager = ControllerManager(arm())
    manager.load(player)
    manager.switch(activate="player")
    manager.activate(arm().home)
    view = manager.interfaces.view([f"player/{name}" for name in DESIRED])
    rows = []
    for _ in range(round(seconds / dt)):
        manager.update(arm().home, ZERO, dt)
        rows.append(view.copy())
    return np.array(rows)


def test_waypoints_are_met_at_their_times_and_at_rest():
    points = [Waypoint(0.5, HOME), Waypoint(2.5, FAR), Waypoint(3.0, FAR), Waypoint(5.5, HOME)]
    rows = played(PosePlayer(arm(), points), 6.0)
    for time, X in ((0.5, HOME), (2.5, FAR), (3.0, FAR), (5.5, HOME), (6.0, HOME)):
        row = rows[round(time / DT) - 1]
        np.testing.assert_allclose(row[:3], X[:3, 3], atol=1e-5)
        np.testing.assert_allclose(row[7:13], 0.0, atol=2e-3)
        w, x, y, z = row[3:7]
        R = transform(row[:3], (w, x, y, z))[:3, :3]
        np.testing.assert_allclose(R, X[:3, :3], atol=1e-5)


def test_the_way_is_straight_and_speed_acceleration_and_jerk_are_limited():
    rows = played(PosePlayer(arm(), [Waypoint(0.0, FAR)], CONFIG, share=1.0), 2.0)
    p, V = rows[:, :3], rows[:, 7:13]
    way = FAR[:3, 3] - HOME[:3, 3]
    off = (p - HOME[:3, 3]) - np.outer((p - HOME[:3, 3]) @ way / (way @ way), way)
    assert np.abs(off).max() < 1e-12
    A = np.diff(V, axis=0) / DT
    J = np.diff(A, axis=0) / DT
    speed, acceleration, jerk = (np.linalg.norm(x[:, :3], axis=1).max() for x in (V, A, J))
    assert speed <= CONFIG.max_linear_velocity * (1 + 1e-9)
    assert acceleration <= CONFIG.limits.max_linear_acceleration * (1 + 1e-6)
    most = 10 * CONFIG.limits.max_linear_acceleration
    assert 0.9 * most < jerk <= most * (1 + 1e-3), "as quick as that allows"
    assert np.linalg.norm(V[:, 3:], axis=1).max() <= CONFIG.max_angular_velocity * (1 + 1e-9)


def test_a_first_waypoint_too_far_for_its_time_makes_everything_later():
    player = PosePlayer(arm(), [Waypoint(0.0, FAR), Waypoint(0.5, FAR)])
    rows = played(player, 3.0)
    assert player.done
    np.testing.assert_allclose(rows[-1][:3], FAR[:3, 3], atol=1e-9)
    assert np.linalg.norm(rows[:, 7:10], axis=1).max() <= 0.5 * CONFIG.max_linear_velocity * 1.001


def test_a_player_that_is_switched_off_slows_down_along_its_way():
    player = PosePlayer(arm(), [Waypoint(2.0, FAR)])
    manager = compliant(player)
    loop = Watched(manager)
    loop.run(1.0)
    manager.switch(deactivate="player")
    speeds = []
    while manager.switching:
        speeds.append(np.linalg.norm(loop.tick()["V_WD"][:3]))
    assert len(speeds) > 100
    assert speeds[0] > 0.05
    assert np.diff(speeds).max() < 2e-3
    out = loop.run(1.0)
    assert not out["V_WD"].any()
    way = FAR[:3, 3] - HOME[:3, 3]
    gone = out["X_WD"][:3, 3] - HOME[:3, 3]
    assert 0.1 < gone @ way / (way @ way) < 0.9
    assert np.linalg.norm(np.cross(gone, way)) < 1e-6


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([], "a waypoint at least"),
        ([Waypoint(-1.0, HOME)], "waypoint 1 has the time -1.0"),
        ([Waypoint(1.0, HOME), Waypoint(1.0, FAR)], "waypoint 2 has the time"),
        ([Waypoint(np.nan, HOME)], "waypoint 1 has the time nan"),
        ([Waypoint(1.0, 2 * HOME)], "waypoint 1: the last row"),
        ([Waypoint(1.0, HOME), Waypoint(1.2, FAR)], r"waypoint 2 takes \d.\d+ s at 0.5 of the"),
    ],
)
def test_waypoints_that_cannot_be_played_are_refused(points, words):
    with pytest.raises(ua.ConfigError, match=words):
        PosePlayer(arm(), points)


def test_a_share_is_a_share():
    with pytest.raises(ua.ConfigError, match="share: must be above 0 and at most 1, got"):
        PosePlayer(arm(), [Waypoint(1.0, HOME)], share=1.5)


def test_a_pushed_trajectory_gives_way_and_comes_back_to_its_path():
    config = ua.Config.from_dict({"admittance.stiffness": [300] * 3 + [20] * 3})
    player = PosePlayer(arm(), [Waypoint(2.0, FAR)], config)
    loop = Watched(compliant(player, config=config))
    loop.run(0.7)
    out = loop.run(0.6, PUSH)
    assert np.linalg.norm((out["X_WP"] - out["X_WD"])[:3, 3]) > 0.03
    out = loop.run(3.0)
    np.testing.assert_allclose(out["X_WP"], FAR, atol=2e-3)
