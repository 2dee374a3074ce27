"""Lag, delay and structural mode, from motions of a simulated arm and of a made-up one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support import arm
from ur_admittance import Config
from ur_admittance.calibration.identify import REST, excitation, identify, response, to_yaml
from ur_admittance.errors import CalibrationError, RobotError
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import Run
from ur_admittance.run.signals import signals

RATE = 500.0


def recorded(
    lag: float, delay: int, mode: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What an arm with such a lag [s], delay [ticks] and mode [Hz] answers."""
    rest = np.zeros(round(REST * RATE))
    told = np.concatenate([rest, excitation(RATE, 6.2), rest])
    rng, n = np.random.default_rng(2), len(told)
    q, wrench, qd = np.zeros((n, 6)), np.zeros((n, 6)), 0.0
    bend, swing, h = 0.0, 0.0, 1 / RATE
    keep = math.exp(-h / lag)
    for k in range(n - 1):
        now = told[k - delay] if k >= delay else 0.0
        q[k + 1] = q[k] + now * h + (qd - now) * lag * (1 - keep)
        before, qd = qd, now + (qd - now) * keep
        w = math.tau * mode
        swing += h * (-w * w * bend - 0.06 * w * swing - 0.5 * (qd - before) / h)
        bend += h * swing
        wrench[k + 1, 0] = 1.5 * w * w * bend
    q += rng.normal(0, 4e-6, q.shape)
    wrench[:, :3] += rng.normal(0, 0.1, (n, 3))
    return told, q, wrench


@pytest.mark.parametrize(("lag", "delay"), [(0.005, 1), (0.01, 2), (0.02, 3)])
def test_lag_and_delay_of_a_made_up_arm_are_found(lag: float, delay: int) -> None:
    found = response(*recorded(lag, delay), RATE, np.eye(6))
    assert found.lag == pytest.approx(lag, abs=1e-3)
    assert found.delay == pytest.approx(delay / RATE, abs=1e-3)
    assert found.lag_error < 5e-4 and found.fit > 0.99
    assert found.mode_frequency == 0
    assert found.force_noise == pytest.approx(0.1, rel=0.2)
    assert found.motion_noise == pytest.approx(4e-6, rel=0.3)


@pytest.mark.parametrize("mode", [12.0, 20.0])
def test_a_structural_mode_is_found(mode: float) -> None:
    found = response(*recorded(0.01, 2, mode), RATE, np.eye(6))
    assert found.mode_frequency == pytest.approx(mode, abs=2)
    assert found.mode_confidence > 0.6


def test_a_simulated_arm_is_told_apart_and_comes_back() -> None:
    lags = []
    for bandwidth in (8.0, 16.0):
        with SimRobot(arm(), realtime=False, servo_bandwidth=bandwidth) as robot:
            found = identify(Run(robot))
            lags.append(found.lag)
            true = 1 / (math.tau * bandwidth) + 0.004
            assert found.lag + found.delay == pytest.approx(true, abs=0.003)
            np.testing.assert_allclose(robot.wait().q, arm().home, atol=0.02)
    assert lags[0] > 1.5 * lags[1]


def test_an_arm_that_does_not_answer_is_an_error() -> None:
    told, q, wrench = recorded(0.01, 2)
    with pytest.raises(CalibrationError, match="do not answer"):
        response(told, np.random.default_rng(0).normal(0, 1e-3, q.shape), wrench, RATE, np.eye(6))


def test_it_ends_when_it_is_asked_to() -> None:
    with SimRobot(arm(), realtime=False) as robot, signals() as asked:
        asked.append(2)
        with pytest.raises(RobotError, match="interrupted; the arm was stopped"):
            identify(Run(robot))


def test_what_is_written_is_a_configuration() -> None:
    found = response(*recorded(0.01, 2, 12.0), RATE, np.eye(6))
    config = Config.loads(to_yaml(found, "sim:ur5e"))
    assert config.arm.lag == pytest.approx(found.lag, abs=1e-4)
    assert config.arm.mode_frequency == pytest.approx(found.mode_frequency, abs=0.1)
    assert config.contact.force_noise == pytest.approx(found.force_noise, abs=1e-3)
