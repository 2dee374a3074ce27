"""The arm is led home, and the file that says where is what a configuration reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import ur_admittance as ua
from ur_admittance.calibration import equilibrium
from ur_admittance.config.validate import transform
from ur_admittance.motion.joints import straight
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.run.lead import lead

MODEL = ua.RobotModel.ur("ur5e")
NEAR = np.array([0.3, -0.2, 0.3, -0.2, 0.3, 0.5])
joints = some.lists(some.floats(-2.9, 2.9), min_size=6, max_size=6).map(np.array)


@pytest.mark.parametrize("ideal", [True, False])
def test_the_arm_arrives_at_rest_and_keeps_the_limits_on_the_way(ideal: bool) -> None:
    config = ua.Config.from_dict({"max_linear_velocity": 0.2})
    goal = MODEL.home + NEAR
    with SimRobot(MODEL, ideal=ideal, realtime=False) as robot:
        way = straight(MODEL, config, robot.wait().q, goal)
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
        way = straight(MODEL, config, robot.wait().q, MODEL.home + NEAR)
        with pytest.raises(ua.RobotError, match=r"feels 80\.?\d* N .*safety.max_force is 50"):
            lead(robot, config, way)
        assert np.abs(robot.wait().qd).max() < 0.01


def test_an_arm_that_does_not_follow_is_stopped_and_named() -> None:
    with SimRobot(MODEL, realtime=False) as robot:
        robot.speed_scaling = 0.0
        way = straight(MODEL, ua.Config(), robot.wait().q, MODEL.home + NEAR)
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
