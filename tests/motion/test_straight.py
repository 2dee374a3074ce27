"""A start far from the equilibrium is asked for, and the arm goes there straight and slowly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

import ur_admittance as ua
from tests.support import random_pose
from ur_admittance.kernel.spatial import ANGULAR, LINEAR, quaternion_of
from ur_admittance.motion.straight import (
    SLOW,
    SLOW_TURN,
    StraightWay,
    travel_of,
)

pytest.importorskip("mujoco")

from ur_admittance.robots.sim import SimRobot

MODEL = ua.RobotModel.ur("ur5e")


def config_at(q) -> ua.Config:
    """With the equilibrium where joints q, rad (6,), bring the tool, and springs to hold it."""
    X = MODEL.fk(q)
    pose = {"position": X[:3, 3].tolist(), "orientation": list(quaternion_of(X))}
    return ua.Config.preset("stiff-hold").replace({"equilibrium": pose})


def test_an_equilibrium_nearby_needs_no_asking() -> None:
    assert travel_of(MODEL, ua.Config(), MODEL.home) is None
    assert travel_of(MODEL, config_at(MODEL.home), MODEL.home) is None
    near = MODEL.home + np.array([0.03, 0, 0, 0, 0, 0])
    assert travel_of(MODEL, config_at(near), MODEL.home) is None


@pytest.mark.parametrize("joint", [0, 5], ids=["away", "turned"])
def test_one_that_is_far_in_place_or_turn_is_announced(joint: int) -> None:
    away = MODEL.home.copy()
    away[joint] += 0.5
    travel = travel_of(MODEL, config_at(away), MODEL.home)
    assert travel is not None
    assert travel.radians == pytest.approx(0.5, abs=1e-6)
    assert "0.50 rad from where the arm stands" in travel.words
    assert np.allclose(travel.X_WD, MODEL.fk(away))


@given(st.integers(0, 2**31), st.floats(0.0, 1.0))
def test_a_way_is_straight_and_turns_about_one_axis_on_the_shorter_side(seed: int, share: float):
    rng = np.random.default_rng(seed)
    start, end = random_pose(rng, 1.0), random_pose(rng, 1.0)
    speed = np.array([0.05, 0.1])
    way = StraightWay(start, end, speed)
    X, V = way.at(share * way.seconds)
    done = math.sqrt(((X - start)[:3, 3] ** 2).sum() / ((end - start)[:3, 3] ** 2).sum())
    np.testing.assert_allclose(X[:3, 3], (start + done * (end - start))[:3, 3], atol=1e-9)
    turns = Slerp([0, 1], Rotation.from_matrix([start[:3, :3], end[:3, :3]]))
    error = turns(done).inv() * Rotation.from_matrix(X[:3, :3])
    assert error.magnitude() < 1e-6
    for part, most in ((LINEAR, 0.05), (ANGULAR, 0.1)):
        assert np.linalg.norm(V[part]) <= most * (1 + 1e-9)
    (before, _), (after, V_end) = way.at(0.0), way.at(way.seconds)
    np.testing.assert_allclose(before, start, atol=1e-9)
    np.testing.assert_allclose(after, end, atol=1e-9)
    assert not V_end.any() and not way.at(0.0)[1].any()


def test_the_arm_gets_there_and_is_slow_all_the_way() -> None:
    away = MODEL.home + np.array([0.3, 0, 0, 0, 0, 0.2])
    config = config_at(away)
    travel = travel_of(MODEL, config, MODEL.home)
    assert travel is not None and travel.metres > 0.1
    twists = []

    def each(state, out) -> None:
        twists.append(np.array(out["V_WP_cmd"]))

    with SimRobot(MODEL, realtime=False, ideal=True) as robot:
        run = ua.Run(robot, controller=ua.Controller(MODEL, config), each=each, permit={"travel"})
        run.drive(14.0)
        X = MODEL.fk(robot.wait().q)
    assert np.linalg.norm(X[:3, 3] - travel.X_WD[:3, 3]) < 2e-3
    fastest = [max(np.linalg.norm(V[part]) for V in twists) for part in (LINEAR, ANGULAR)]
    assert 0.9 * SLOW < fastest[0] <= SLOW and fastest[1] <= SLOW_TURN
