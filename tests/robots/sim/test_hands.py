"""Hands that push and lead the simulated arm, with the controller behind it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.robots.sim.support import QUIET
from tests.support import arm, free_config
from ur_admittance import Config, Controller
from ur_admittance.robots.sim import ScriptedPush, SimRobot, SpringHand

pytest.importorskip("mujoco")


def test_a_scripted_push_moves_the_controlled_arm_as_the_law_says():
    """10 N on a free axis of 8 kg and 80 N s/m: x = F/D (t - T (1 - exp(-t/T))), T = M/D."""
    for axis in range(3):
        push = np.zeros(6)
        push[axis] = 10.0
        config = free_config(**{"admittance.frame": "base"})
        with SimRobot(ideal=True, realtime=False, hand=ScriptedPush([(0, 9, push)])) as robot:
            controller = Controller(robot.model, config)
            state = robot.wait()
            controller.activate(state.q)
            start, began = robot.X_WP, robot.time
            while robot.time - began < 1.0 - 1e-9:
                out = controller.update(state.q, state.wrench, 1 / robot.rate)
                robot.send_velocity(out["qd"])
                state = robot.wait()
            shift, t, T = robot.X_WP[:3, 3] - start[:3, 3], robot.time - began, 0.1
        expected = 10 / 80 * (t - T * (1 - math.exp(-t / T)))
        assert shift[axis] == pytest.approx(expected, rel=0.01)
        shift[axis] = 0
        np.testing.assert_allclose(shift, 0, atol=1e-4)


@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur20"])
def test_a_hand_leads_a_realistic_arm_along_its_path(name):
    config = Config.preset("hand-guiding")
    model = arm(name)
    p = model.fk(model.home)[:3, 3]
    hand = SpringHand(300.0, 20.0, lambda t: p + np.array([0, 0.1 * min(t, 1.0), 0]))
    with SimRobot(model, hand=hand, realtime=False) as robot:
        controller = Controller(model, config)
        state = robot.wait()
        controller.activate(state.q)
        for _ in range(1500):
            out = controller.update(state.q, state.wrench, 1 / robot.rate)
            robot.send_velocity(out["qd"])
            state = robot.wait()
        assert controller.mode == "active", controller.status_words()
        # the soft deadband leaves a rest of a few newtons, so of a centimetre
        np.testing.assert_allclose(robot.X_WP[:3, 3], p + np.array([0, 0.1, 0]), atol=0.025)


def test_a_hand_that_is_taken_away_pushes_no_more():
    hand = ScriptedPush([(0.0, 9.0, [0, 0, 5.0, 0, 0, 0])])
    for ideal in (True, False):
        with SimRobot(hand=hand, ideal=ideal, **QUIET) as robot:
            for _ in range(100):
                robot.wait()
            assert abs(robot.wait().wrench[2]) > 4
            robot.hand = None
            for _ in range(100):
                robot.wait()
            assert abs(robot.wait().wrench[2]) < 0.05
