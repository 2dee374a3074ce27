"""The simulated arm against what stands around it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.robots.sim.support import QUIET, block_below, contact_wrench, lower, wrench_in_W_at_P
from tests.support import LINEAR, arm
from ur_admittance import RobotModel
from ur_admittance.robots.sim import SimRobot
from ur_admittance.robots.sim.scene import Scene

pytest.importorskip("mujoco")

ARMS = RobotModel.arms()
STILL = np.zeros(6)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("ideal", [True, False])
def test_contact_is_felt_with_the_right_sign_and_size(name, ideal):
    model, stiffness = arm(name), 15_000.0
    scene = Scene((block_below(model, gap=0.001),), stiffness=stiffness, friction=0.0)
    with SimRobot(model, scene=scene, ideal=ideal, **QUIET) as robot:
        assert not contact_wrench(robot).any()
        lower(robot, 0.01, 150)
        robot.stop()
        for _ in range(400):
            state = robot.wait()
        depth = model.fk(model.home)[2, 3] - 0.001 - robot.X_WP[2, 3]
        assert 0.001 < depth < 0.003
        np.testing.assert_allclose(contact_wrench(robot)[2], stiffness * depth, rtol=1e-3)
        felt = wrench_in_W_at_P(robot, state.wrench)
        np.testing.assert_allclose(felt, contact_wrench(robot), atol=0.05)
        np.testing.assert_allclose(state.qd, 0, atol=1e-4)


@pytest.mark.parametrize("name", ARMS)
def test_pressing_hard_stays_bounded_and_quiet(name):
    model = arm(name)
    scene = Scene((block_below(model, gap=0.002),), stiffness=100_000.0, damping=500.0)
    with SimRobot(model, scene=scene, **QUIET) as robot:
        lower(robot, 0.02, 300)
        robot.send_velocity(STILL)
        for _ in range(500):
            robot.wait()
        pressed = np.array(
            [[robot.wait().wrench[2], abs(contact_wrench(robot)[2])] for _ in range(50)]
        )
    assert 50 < pressed[0, 1] < 2000
    np.testing.assert_allclose(
        pressed, np.tile([-pressed[0, 1], pressed[0, 1]], (50, 1)), rtol=0.01
    )


def test_friction_drags_against_the_motion():
    model = arm()
    scene = Scene((block_below(model, gap=-0.001),), friction=0.5)
    with SimRobot(model, scene=scene, ideal=True, **QUIET) as robot:
        for _ in range(100):
            state = robot.wait()
            J = model.jacobian(state.q)
            robot.send_velocity(np.linalg.solve(J, [0.05, 0, 0, 0, 0, 0]))
        drag, _, press = contact_wrench(robot)[LINEAR]
    assert press > 10
    assert drag == pytest.approx(-0.5 * press, rel=0.02)
