"""Faults of a sensor that is alive: the end of its range, drift, too few samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.support import UP, Loop, T
from tests.support import AXES, LINEAR, lengths, names_in
from ur_admittance import Config, Controller, RobotError
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import run

CALIBRATED = {"payload.noise_force": 0.1, "payload.noise_torque": 0.005}
RANGE = {
    "safety.sensor_range": [100, 100, 100, 10, 10, 10],
    "safety.max_force": 1000,
    "safety.max_torque": 100,
    "safety.spike_force": 0,
    "safety.spike_torque": 0,
}
ENDS = np.repeat([100.0, 10.0], 3)


def ramp(axis: int, begin: float, end: float, ticks: int) -> np.ndarray:
    """Shares of the range of one axis."""
    wrench = np.zeros((ticks, 6))
    wrench[:, axis] = ENDS[axis] * np.linspace(begin, end, ticks)
    return wrench


# --- 6: the end of the range ---


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("axis", range(6), ids=AXES)
def test_a_reading_near_the_end_of_its_range_stops_the_arm_in_that_tick(axis, sign) -> None:
    """Row 6."""
    loop = Loop(RANGE)
    wrench = sign * ramp(axis, 0.0, 1.0, 101)
    for sample in wrench:
        loop.run(1, sample)
        if loop.mode == "stopped":
            break
    assert abs(sample[axis]) / ENDS[axis] == pytest.approx(0.95)
    assert loop.controller.last_stop.reasons == ("sensor_saturated",)  # type: ignore[union-attr]
    loop.judge()


def test_bias_and_payload_do_not_hide_the_end_of_the_range() -> None:
    """Row 6."""
    loop = Loop({**RANGE, "payload.force_bias": [96, 0, 0]})
    loop.run(2, np.array([94.0, 0, 0, 0, 0, 0]))
    assert loop.mode == "active"
    loop.run(1, np.array([96.0, 0, 0, 0, 0, 0]))
    assert loop.mode == "stopped", "nothing is left of the reading, and it says nothing"


def reset(loop: Loop) -> None:
    assert loop.mode == "stopped"
    while not loop.controller.at_rest:
        loop.run(1)
    loop.controller.reset()


def test_after_a_reset_the_arm_may_unload() -> None:
    """Row 6."""
    loop = Loop(RANGE)
    loop.run(1, ramp(2, 0, 0.5, 1))
    loop.run(1, -0.98 * np.array([0, 0, 100.0, 0, 0, 0]))
    reset(loop)
    loop.run(300, -ramp(2, 0.98, 0.5, 300))
    assert loop.mode == "active"
    assert lengths(loop.rows[-1]["V_WP_cmd"][-1, LINEAR]) > 0.1, "away from what pushes it"
    loop.run(1, -ramp(2, 0.96, 0.96, 1))
    assert loop.mode == "stopped", "and once it was below, the end is the end"


@pytest.mark.parametrize(("to", "ticks"), [(1.0, 5), (0.98, 600)], ids=["rises", "stays"])
def test_a_load_that_does_not_fall_after_a_reset_stops_the_arm_again(to, ticks) -> None:
    """Row 6."""
    loop = Loop(RANGE)
    loop.run(1)
    loop.run(1, ramp(0, 0.98, 0.98, 1)[0])
    reset(loop)
    loop.run(ticks, ramp(0, 0.98, to, ticks))
    assert loop.mode == "stopped"
    loop.judge()


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_range_that_is_not_reached_changes_not_one_bit(seed: int) -> None:
    """Row 6."""
    rng = np.random.default_rng(seed)
    wrench = rng.normal(size=(60, 6)) * np.repeat([20.0, 2.0], 3)
    plain, ranged = Loop({}), Loop({"safety.sensor_range": [1e4] * 6})
    for name in ("qd", "q_ref", "X_WC", "F_P", "status"):
        np.testing.assert_array_equal(plain.run(60, wrench)[name], ranged.run(60, wrench)[name])


# --- 9: drift ---


def drifting(seconds: float, rate: float = 0.2, start: float = 1.3, seed: int = 0) -> np.ndarray:
    """A force along -z that grows by so much, N/s, and noise as calibrated."""
    ticks = round(seconds / T)
    noise = np.random.default_rng(seed).normal(size=(ticks, 6)) * np.repeat([0.1, 0.005], 3)
    noise[:, 2] -= start + rate * T * np.arange(ticks)
    return noise


@pytest.mark.parametrize("kind", ["soft", "hard"])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_an_arm_that_moves_with_nobody_there_holds_after_two_seconds(rate, kind) -> None:
    """Row 9."""
    loop = Loop({**CALIBRATED, "admittance.deadband_kind": kind})
    history = loop.run(3500, drifting(7.0, rate, 1.65 if rate < 0.1 else 1.3))
    assert loop.mode == "holding"
    assert "drifting" in names_in(history)
    moves = np.flatnonzero(lengths(history["V_WP_law"][:, LINEAR]) > 2e-4)
    held = int(np.argmax(history["mode"] == 2))
    assert held * T - moves[0] * T <= 3.0, "2 s, and what the noise puts off"
    assert lengths(history["X_WP"][-1, :3, 3] - history["X_WP"][0, :3, 3]) < (
        0.02 if kind == "soft" else 0.06
    )
    loop.judge()


def test_drift_that_goes_on_does_not_end_the_hold_but_a_push_does() -> None:
    """Row 9."""
    loop = Loop(CALIBRATED)
    loop.run(6000, drifting(12.0))
    assert loop.mode == "holding"
    loop.run(100, drifting(0.2, 0.0, 3.7) + UP / 6)
    assert loop.mode == "active"
    loop.run(3000, drifting(6.0, 0.0, 3.7, seed=1))
    assert loop.mode == "holding", "let go: the same again, though it is more than at first"
    loop.judge()


@pytest.mark.parametrize("wobble", [0.3, 1.0])
def test_a_hand_that_guides_gently_is_not_taken_for_drift(wobble: float) -> None:
    """Row 9."""
    t = T * np.arange(2500)
    force = 2.5 + wobble * np.sin(2 * np.pi * 1.5 * t) + 0.1 * np.sin(2 * np.pi * 9 * t)
    wrench = drifting(5.0, 0.0, 0.0)
    wrench[:, 2] -= force
    loop = Loop(CALIBRATED)
    history = loop.run(2500, wrench)
    assert "drifting" not in names_in(history)


def test_a_spring_that_pulls_home_is_not_taken_for_drift() -> None:
    """Row 9."""
    soft = {"admittance.stiffness": [20.0] * 3 + [2.0] * 3, "admittance.damping": [80.0] * 6}
    for deadband in (0.0, 1.5):
        loop = Loop({**CALIBRATED, **soft, "admittance.deadband_force": deadband})
        loop.run(500, UP / 3)
        history = loop.run(4000, drifting(8.0, 0.0, 0.0))
        assert "drifting" not in names_in(history)


def test_without_a_calibrated_noise_nothing_of_it_is_in_the_motion() -> None:
    """Row 9."""
    wrench = drifting(6.0)
    plain, off = Loop({}), Loop({**CALIBRATED, "safety.drift_seconds": 0.0})
    on = Loop(CALIBRATED)
    rows = [loop.run(3000, wrench)["qd"] for loop in (plain, off, on)]
    np.testing.assert_array_equal(rows[0], rows[1])
    held = int(np.argmax((rows[0] != rows[2]).any(axis=1)))
    assert held * T > 2.0, "until it holds, the same"


# --- 12: a slow sensor ---


class SlowSensor(SimRobot):
    """A simulated arm whose wrench is as real, and as seldom, as one likes."""

    real_sensor = True

    def __init__(self, rates: list[float]) -> None:
        super().__init__(realtime=False, rate=500.0)
        self.rates, self._felt, self._when = rates, np.zeros(6), -1.0

    def wait(self) -> State:
        state = super().wait()
        rate = self.rates[min(int(self.time / 4.0), len(self.rates) - 1)]
        if state.wrench_time - self._when >= 1.0 / rate - 1e-6:
            self._felt, self._when = state.wrench.copy(), state.wrench_time
        state.wrench[:], state.wrench_time = self._felt, self._when
        return state


CONFIG = {"safety.wrench_timeout": 0.05}


@pytest.mark.parametrize("rate", [100.0, 125.0, 450.0])
def test_a_sensor_slower_than_the_loop_is_refused_before_anything_moves(rate: float) -> None:
    """Row 12."""
    with SlowSensor([rate]) as robot:
        controller = Controller(robot.model, Config.from_dict(CONFIG))
        with pytest.raises(
            RobotError, match=r"comes about \d+ times a second, the loop runs at 500"
        ):
            run(robot, controller, seconds=0.1)
        assert controller.mode == "inactive"


def test_a_sensor_that_becomes_slow_holds_the_arm_until_it_is_quick_again() -> None:
    """Row 12."""
    modes: list[tuple[float, str]] = []
    with SlowSensor([500.0, 125.0, 500.0]) as robot:
        controller = Controller(robot.model, Config.from_dict(CONFIG))
        summary = run(
            robot,
            controller,
            seconds=11.0,
            each=lambda state, out: modes.append((robot.time, controller.mode)),
        )
    assert not summary.faulted
    assert {mode for time, mode in modes if time < 4.0} == {"active"}
    assert {mode for time, mode in modes if 6.2 < time < 8.0} == {"holding"}
    assert {mode for time, mode in modes if 10.5 < time < 11.0} == {"active"}
