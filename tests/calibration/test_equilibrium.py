"""The way home keeps every limit, and the file it leads to is what a configuration reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import ur_admittance as ua
from ur_admittance.calibration import equilibrium
from ur_admittance.config.validate import transform
from ur_admittance.controller.packing import pack
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.run.lead import lead

MODEL = ua.RobotModel.ur("ur5e")
NEAR = np.array([0.3, -0.2, 0.3, -0.2, 0.3, 0.5])
joints = some.lists(some.floats(-2.9, 2.9), min_size=6, max_size=6).map(np.array)


@settings(max_examples=25)
@given(start=joints, goal=joints)
def test_a_way_keeps_half_of_every_limit_by_finite_differences(start, goal) -> None:
    config = ua.Config()
    way = equilibrium.plan(MODEL, config, start, goal)
    limits = pack(config, MODEL)[0]
    times = np.linspace(0, way.seconds, 400)
    q = np.array([way.at(t)[0] for t in times])
    h = times[1]
    points = np.array([MODEL.fk(a)[:3, 3] for a in q])
    half = equilibrium.SHARE * 1.02  # what differences of 400 samples are off by
    qd, v = np.diff(q, axis=0) / h, np.diff(points, axis=0) / h
    assert np.all(np.abs(qd) <= half * limits.qd_max)
    assert np.all(np.abs(np.diff(qd, axis=0) / h) <= half * limits.qdd_max)
    assert np.linalg.norm(v, axis=1).max() <= half * limits.v_max
    assert np.linalg.norm(np.diff(v, axis=0) / h, axis=1).max() <= half * limits.a_max
    assert q[0] == pytest.approx(start) and q[-1] == pytest.approx(goal)
    assert not way.at(0.0)[1].any() and not way.at(way.seconds + 1)[1].any()


def test_a_home_outside_the_joints_range_is_refused_by_name() -> None:
    goal = MODEL.home + np.array([0, 0, 9, 0, 0, 0])
    with pytest.raises(ua.ConfigError, match=r"home: elbow_joint must be from -3.05"):
        equilibrium.plan(MODEL, ua.Config(), MODEL.home, goal)


def test_a_way_that_leaves_the_workspace_is_refused_before_it_begins() -> None:
    config = ua.Config.from_dict({"limits.workspace_max": [10, 0.3, 10]})
    goal = MODEL.home + np.array([1.0, 0, 0, 0, 0, 0])
    with pytest.raises(ua.ConfigError, match=r"leaves the workspace at \[0\.\d+, 0\.3"):
        equilibrium.plan(MODEL, config, MODEL.home, goal)


@pytest.mark.parametrize("ideal", [True, False])
def test_the_arm_arrives_at_rest_and_keeps_the_limits_on_the_way(ideal: bool) -> None:
    config = ua.Config.from_dict({"max_linear_velocity": 0.2})
    goal = MODEL.home + NEAR
    with SimRobot(MODEL, ideal=ideal, realtime=False) as robot:
        way = equilibrium.plan(MODEL, config, robot.wait().q, goal)
        speeds = []
        wait = robot.wait

        def watched():
            state = wait()
            speeds.append(np.linalg.norm((MODEL.jacobian(state.q) @ state.qd)[:3]))
            return state

        robot.wait = watched  # type: ignore[method-assign]
        lead(robot, config, way)
        state = robot.wait()
    assert state.q == pytest.approx(goal, abs=2e-4)
    assert np.abs(state.qd).max() < 1e-3
    assert 0.05 < max(speeds) < 0.15


def test_a_push_on_the_way_stops_the_arm() -> None:
    hand = ScriptedPush([(0.5, 60, [0, 0, 80, 0, 0, 0])])
    with SimRobot(MODEL, realtime=False, hand=hand) as robot:
        config = ua.Config.from_dict({"safety.max_force": 50})
        way = equilibrium.plan(MODEL, config, robot.wait().q, MODEL.home + NEAR)
        with pytest.raises(ua.RobotError, match=r"feels 80\.?\d* N .*safety.max_force is 50"):
            lead(robot, config, way)
        assert np.abs(robot.wait().qd).max() < 0.01


def test_an_arm_that_does_not_follow_is_stopped_and_named() -> None:
    with SimRobot(MODEL, realtime=False) as robot:
        robot.speed_scaling = 0.0
        way = equilibrium.plan(MODEL, ua.Config(), robot.wait().q, MODEL.home + NEAR)
        with pytest.raises(ua.RobotError, match=r"wrist_3_joint is 0\.2\d* rad behind"):
            lead(robot, ua.Config(), way)


@settings(max_examples=25)
@given(q=joints)
def test_what_is_written_is_read_back_bit_for_bit(q, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("a") / "equilibrium.yaml"
    X_WP = MODEL.fk(q)
    equilibrium.save(path, X_WP, "a note")
    pose = ua.Config.from_dict({"equilibrium": str(path)}).equilibrium_pose()
    assert pose is not None
    assert np.array_equal(pose.position, X_WP[:3, 3])
    assert transform(pose.position, pose.orientation) == pytest.approx(X_WP, abs=1e-14)
