"""The servo of the simulated arm follows as the configuration says its arm does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ur_admittance import Config, RobotModel
from ur_admittance.robots.sim import SimRobot, following
from ur_admittance.robots.sim.servo import Servo


def arm(**values: float):
    return Config.from_dict({f"arm.{name}": value for name, value in values.items()}).arm


def test_a_lag_becomes_the_servo_s_own() -> None:
    model, steps = RobotModel.ur("ur5e"), 8
    options = following(arm(lag=0.01))
    assert list(options) == ["servo_bandwidth"]
    servo = Servo(model, model.home, 0.002, steps, options["servo_bandwidth"])
    servo.velocity(np.full(6, 0.1))
    for _ in range(5 * steps):  # one lag
        servo.advance()
    np.testing.assert_allclose(servo.qd, 0.1 * (1 - math.exp(-1)), rtol=1e-9)


def test_a_delay_becomes_whole_cycles_and_at_least_one() -> None:
    assert following(arm(delay=0.0059))["latency"] == 3
    assert following(arm(delay=0.004), rate=125.0)["latency"] == 1


def test_an_arm_that_is_not_known_stays_as_it_is() -> None:
    assert following(arm()) == {}


def test_the_simulated_arm_answers_after_its_delay_and_by_its_lag() -> None:
    lag = 0.01
    with SimRobot(realtime=False, noise=(0, 0), **following(arm(lag=lag, delay=0.006))) as robot:
        q = [robot.wait().q.copy()]
        for _ in range(60):
            robot.send_velocity(np.full(6, 0.05))
            q.append(robot.wait().q.copy())
    speed = np.diff(np.array(q)[:, 5]) / 0.002
    assert np.abs(speed[:3]).max() < 1e-4
    assert speed[-1] == pytest.approx(0.05, rel=0.02)
    # what an arm with delay and lag stays behind, by its speed times both
    assert 0.05 * 60 * 0.002 - (q[-1][5] - q[0][5]) == pytest.approx(0.05 * (0.006 + lag), rel=0.2)
