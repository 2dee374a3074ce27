"""A timer keeps its deadlines, counts those it missed, and says which joint states are too slow."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from ur_admittance.robots.base import State
from ur_admittance.robots.ros2 import pacing

RATE = 500.0


class Time:
    """A clock that passes only while somebody waits; joint states come at a rate of their own."""

    def __init__(self, rate: float) -> None:
        self.now, self._period, self.taken = 100.0, 1.0 / rate, 0
        self._next = self.now + 0.3 * self._period

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        """As a bell: until a state arrives, at most so long."""
        self.now = min(self.now + seconds, max(self._next, self.now))

    def take(self) -> bool:
        before = self.taken
        while self._next <= self.now:
            self._next += self._period
            self.taken += 1
        return self.taken > before


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch):
    def make(states: float) -> tuple[Time, pacing.ByTimer]:
        clock = Time(states)
        monkeypatch.setattr(pacing, "time", clock)
        return clock, pacing.ByTimer(RATE, clock, clock.take)  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize("states", [100.0, 333.0, 1000.0])
def test_the_timer_ticks_at_its_own_rate_and_takes_every_state(made, states: float):
    clock, pace = made(states)
    state, times = State(), []
    for _ in range(1000):
        pace.wait(state, False)
        times.append(state.tick_time)
        clock.now += 2e-4  # the tick
    assert np.allclose(np.diff(times), 1.0 / RATE, atol=2e-6)
    assert times[-1] - times[0] == pytest.approx(999.0 / RATE, abs=2e-6)  # nothing adds up
    assert clock.taken == pytest.approx(1000.0 / RATE * states, abs=2)
    assert state.cycle == 1000


def test_deadlines_that_passed_unseen_are_missed_and_the_first_of_them_is_told(made):
    clock, pace = made(1000.0)
    state = State()
    pace.wait(state, False)
    first, cycle = clock.now, state.cycle
    clock.now += 3.4 / RATE
    pace.wait(state, False)
    assert state.cycle - cycle == 3 and state.first_time == pytest.approx(first + 1.0 / RATE)
    pace.wait(state, False)
    assert state.tick_time == pytest.approx(first + 4.0 / RATE)  # in step again


def test_a_loop_that_is_a_little_late_ticks_at_once_and_keeps_its_deadlines(made):
    clock, pace = made(1000.0)
    state = State()
    pace.wait(state, False)
    first = clock.now
    clock.now += 1.3 / RATE
    pace.wait(state, False)
    assert (state.tick_time, state.cycle) == (pytest.approx(first + 1.3 / RATE), 2)
    pace.wait(state, False)
    assert state.tick_time == pytest.approx(first + 2.0 / RATE)


@pytest.mark.parametrize(
    ("states", "timeout", "words", "slow"),
    [
        (1000.0, 0.01, "", 0.0),
        (500.0, 0.01, "", 0.0),
        (125.0, 0.02, "", 125.0),
        (125.0, 0.01, "safety.joint_timeout must be at least", 125.0),
        (80.0, 0.1, "at least a fifth of that, 100", 80.0),
        (0.0, 0.1, "at least a fifth of that, 100", 0.0),
    ],
)
def test_joint_states_may_be_fast_and_not_too_slow(made, states, timeout, words, slow):
    _, pace = made(500.0)
    found = pace.problem(states, "/joint_states", timeout)
    assert words in found and bool(found) == bool(words)
    assert pace.slow == slow


def test_paced_by_joint_states_they_must_have_the_rate_of_the_loop():
    pace = pacing.paced("joint_states", RATE, None, None)  # type: ignore[arg-type]
    assert pace.problem(510.0, "/joint_states", 0.01) == ""
    assert "clock: timer" in pace.problem(1000.0, "/joint_states", 0.01)
