"""What the wrist of the simulated arm feels: weight, bias, pushes, inertia and noise."""

from __future__ import annotations

import numpy as np
import pytest

from tests.robots.sim.support import QUIET, wrench_in_W_at_P
from tests.support import LINEAR, free_config, random_pose
from ur_admittance import Controller, RobotModel
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.robots.sim.scene import Tool

pytest.importorskip("mujoco")

G = 9.81


@pytest.mark.parametrize("ideal", [True, False])
@pytest.mark.parametrize("name", ["ur3e", "ur30"])
def test_the_sensor_feels_weight_and_bias_as_the_configuration_describes_them(name, ideal):
    rng = np.random.default_rng(2)
    bias = rng.uniform(-5, 5, 6)
    model = RobotModel.ur(name, X_EP=random_pose(rng, 0.1), X_ES=random_pose(rng, 0.1))
    tool = Tool(mass=1.7, com=(0.01, -0.02, 0.06))
    for q0 in rng.uniform(-1.5, 1.5, (4, 6)):
        with SimRobot(model, tool=tool, bias=bias, q0=q0, ideal=ideal, **QUIET) as robot:
            state = robot.wait()
            R_SW = (model.fk(q0) @ np.linalg.inv(model.X_EP) @ model.X_ES)[:3, :3].T
            weight = R_SW @ [0, 0, -1.7 * G]
            expected = np.concatenate([weight, np.cross(tool.com, weight)]) + bias
            np.testing.assert_allclose(state.wrench, expected, atol=1e-6)


def test_the_controller_takes_weight_and_bias_out_again():
    config = free_config(
        **{
            "payload.mass": 1.2,
            "payload.center_of_mass": [0.0, 0.01, 0.05],
            "payload.force_bias": [1.0, -2.0, 3.0],
            "payload.torque_bias": [0.1, 0.2, -0.3],
        }
    )
    tool, bias = Tool(mass=1.2, com=(0.0, 0.01, 0.05)), [1, -2, 3, 0.1, 0.2, -0.3]
    with SimRobot(tool=tool, bias=bias, ideal=True, **QUIET) as robot:
        controller = Controller(robot.model, config)
        state = robot.wait()
        controller.activate(state.q)
        out = controller.update(state.q, state.wrench, 0.002)
        np.testing.assert_allclose(out["F_P"], 0, atol=1e-9)


@pytest.mark.parametrize("ideal", [True, False])
def test_a_push_is_felt_as_what_the_world_does_to_the_tool(ideal):
    rng = np.random.default_rng(3)
    model = RobotModel.ur("ur5e", X_EP=random_pose(rng, 0.1), X_ES=random_pose(rng, 0.1))
    push = np.array([10.0, -4.0, 7.0, 0.5, -0.3, 0.2])
    hand = ScriptedPush([(0.0, 9.0, push)])
    with SimRobot(model, hand=hand, ideal=ideal, **QUIET) as robot:
        for _ in range(500):
            state = robot.wait()
        np.testing.assert_allclose(wrench_in_W_at_P(robot, state.wrench), push, atol=1e-3)


def test_the_sensor_feels_the_inertia_of_the_tool():
    """Turning the base from rest with a tool of 2 kg: f = -m a, against the motion."""
    with SimRobot(tool=Tool(mass=2.0), ideal=True, **QUIET) as robot:
        at_rest = robot.wait().wrench.copy()
        model, acceleration = robot.model, 1.0
        robot.send_velocity([acceleration / robot.rate, 0, 0, 0, 0, 0])
        felt = robot.wait().wrench - at_rest
        p = model.fk(model.home)[:3, 3]
        force = model.fk(robot.wait().q)[:3, :3] @ felt[LINEAR]
        expected = -2.0 * np.cross([0, 0, acceleration], p)
        np.testing.assert_allclose(force, expected, atol=1e-3)


def test_noise_has_the_size_asked_for_and_bias_is_its_mean():
    bias = np.array([3.0, 0, 0, 0, 0, -0.2])
    with SimRobot(realtime=False, noise=(0.5, 0.02), bias=bias, seed=4) as robot:
        wrenches = np.array([robot.wait().wrench.copy() for _ in range(2000)])
    np.testing.assert_allclose(wrenches.std(0), [0.5] * 3 + [0.02] * 3, rtol=0.1)
    np.testing.assert_allclose(wrenches.mean(0), bias, atol=0.05)
