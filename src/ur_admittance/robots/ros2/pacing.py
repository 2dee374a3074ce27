"""What paces an arm on a ROS 2 graph: its joint states, or a timer of the loop's own.

By a timer (`clock: timer`) the loop ticks at `control_rate` whatever the pace of the joint states:
faster ones are taken as they come, and the newest counts; slower ones are predicted in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ur_admittance.robots.base import State
from ur_admittance.robots.ros2.wire import Bell

FEWEST = 0.2  # joint states a tick, at least, with a timer
TOLERANCE = 0.1  # share by which a rate may be off
_SILENT = 5.0  # periods without a joint state, after which the loop ticks without one
_SAME = 1e-6  # s, that make no difference
_SPIN = 3e-4  # s before a deadline that are waited for actively, if asked for


class ByJointStates:
    """Each joint state is a cycle. One that does not come is not waited for for ever."""

    def __init__(self, rate: float, bell: Bell, take: Callable[[], bool]) -> None:
        """
        Args:
            rate: cycles a second, Hz.
            bell: rings when a joint state arrives.
            take: takes what has arrived, and says whether a joint state was among it.
        """
        self._rate, self._bell, self._take = rate, bell, take

    def wait(self, state: State, spin: bool) -> None:
        period = 1.0 / self._rate
        deadline = max(state.joint_time + _SILENT * period, time.monotonic() + period)
        while not self._take() and (left := deadline - time.monotonic()) > 0.0:
            self._bell.wait(left)

    def problem(self, rate: float, topic: str, joint_timeout: float) -> str:
        """What is wrong with joint states that come so often, Hz, in words; or ""."""
        if abs(rate - self._rate) <= TOLERANCE * self._rate:
            return ""
        return (
            f"joint states come on {topic} {rate:.0f} times a second, control_rate is "
            f"{self._rate:g} Hz; make them agree, or let a timer pace the loop (clock: timer)"
        )


class ByTimer:
    """Absolute deadlines, a period apart. Those that have passed unseen are missed cycles.

    Attributes:
        slow: the rate of the joint states, Hz, where they are predicted in between; else 0.
    """

    def __init__(self, rate: float, bell: Bell, take: Callable[[], bool]) -> None:
        """
        Args:
            rate: see `ByJointStates`; likewise the others.
        """
        self._rate, self._bell, self._take = rate, bell, take
        self._deadline, self._cycle = 0.0, 0
        self.slow = 0.0

    def wait(self, state: State, spin: bool) -> None:
        period, now = 1.0 / self._rate, time.monotonic()
        if not self._deadline:
            self._deadline = now
        self._deadline += period
        passed = max(0, int((now - self._deadline) / period))
        state.first_time = self._deadline
        self._deadline += passed * period
        self._take()
        margin = _SPIN if spin else 0.0
        while (left := self._deadline - time.monotonic() - margin) > _SAME:
            self._bell.wait(left)
            self._take()
        while spin and time.monotonic() < self._deadline:
            pass
        self._cycle += 1 + passed
        state.cycle, state.tick_time = self._cycle, time.monotonic()

    def problem(self, rate: float, topic: str, joint_timeout: float) -> str:
        """See `ByJointStates`."""
        self.slow = rate if rate < (1.0 - TOLERANCE) * self._rate else 0.0
        words = f"joint states come on {topic} {rate:.0f} times a second"
        if rate < (1.0 - TOLERANCE) * FEWEST * self._rate:
            return (
                f"{words}, control_rate is {self._rate:g} Hz; with clock: timer there must be at "
                f"least a fifth of that, {FEWEST * self._rate:g}"
            )
        if self.slow and joint_timeout < 1.5 / rate:
            return (
                f"{words}: safety.joint_timeout must be at least one and a half times the time "
                f"between two, {1.5 / rate:.4g} s, got {joint_timeout:g} s"
            )
        return ""


def paced(kind: str, rate: float, bell: Bell, take: Callable[[], bool]) -> ByJointStates | ByTimer:
    """What the parameter `clock` asks for."""
    return (ByTimer if kind == "timer" else ByJointStates)(rate, bell, take)
