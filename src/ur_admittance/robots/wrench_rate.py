"""How often the wrench comes, beside the states: a sensor of 125 Hz is too slow for 500."""

from __future__ import annotations

from ur_admittance.robots.base import State

ENOUGH = 0.95  # wrenches a state


class WrenchRate:
    """Counts wrenches and states, from one state on.

    By states, not by the clock: what a busy machine misses, it misses of both.

    Attributes:
        full: whether a second has passed, long enough to judge.
    """

    def __init__(self, state: State, rate: float) -> None:
        """
        Args:
            state: the last before those that are added.
            rate: of the states, Hz.
        """
        self.full = False
        self._rate, self._most = rate, max(2, round(rate))
        self._states = self._fresh = 0
        self._cycle, self._counted = state.cycle, state.wrenches
        self._time = state.wrench_time
        self._share = 1.0

    def add(self, state: State) -> None:
        """Of the next state."""
        self._states += 1
        if state.wrench_time != self._time:
            self._time = state.wrench_time
            self._fresh += 1
        states, came = self._states, self._fresh
        if state.wrenches >= 0:  # single ones are counted, whenever they come
            states, came = max(state.cycle - self._cycle, 1), state.wrenches - self._counted
        self.full = self._states >= self._most
        self._share = (came + 1) / states  # one may be on its way

    def problem(self) -> str:
        """That too few came, in words; "" if not."""
        if self._share >= ENOUGH:
            return ""
        return (
            f"the wrench comes about {self._share * self._rate:.0f} times a second, the loop runs "
            f"at {self._rate:g} Hz; set the sensor to that rate, or control_rate to the sensor's"
        )
