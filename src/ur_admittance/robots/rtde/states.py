"""States: which variables they hold, which of them are believed, and their numbers."""

from __future__ import annotations

import math
import struct
from collections import deque

import numpy as np

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.status import NAMES, Status

_LAYOUT = struct.Struct(">20d9i")
_FLOATS = 20
_GAP = 10.0  # s by which the robot's time may leap between two states
_BACK = 1.0  # s by which a state that comes again may be old


def names_of(wrench: str, registers: list[str]) -> list[str]:
    """RTDE names of a state: time, joints, wrench, scaling; then whole numbers, see `Status`."""
    return ["timestamp", "actual_q", "actual_qd", wrench, "speed_scaling", *NAMES, *registers]


class States:
    """Judges what comes, and unpacks the newest.

    Attributes:
        q, qd, wrench: (6,) of the last state taken: views that `take` overwrites.
        scaling: 0 to 1, likewise.
        whole: its whole numbers.
        time: of the newest state that was believed, s of the robot.
        fresh: whether a new one came since the last `take`.
        doubled: states that came twice.
    """

    def __init__(self) -> None:
        self._floats = np.full(_FLOATS, np.nan)
        self.q, self.qd = self._floats[1:7], self._floats[7:13]
        self.wrench = self._floats[13:19]
        self.scaling = 1.0
        self.whole: tuple[int, ...] = (0,) * 9
        self.time, self.fresh, self.doubled = 0.0, False, 0
        self._values: tuple = ()
        self._bytes = bytearray(_LAYOUT.size)
        self._raw = np.frombuffer(self._bytes, ">f8", _FLOATS)
        self._plausible: tuple[int, ...] = ()  # whole numbers that were, but for the last

    @property
    def status(self) -> Status:
        """The whole numbers of the last state taken, by name."""
        return Status._make(self.whole)

    @staticmethod
    def check(layout: struct.Struct) -> None:
        """
        Raises:
            RobotError: the robot's types are not those that the guide documents.
        """
        if layout.size != _LAYOUT.size:
            raise RobotError(
                f"RTDE: a state of this robot has {layout.size} bytes, documented are "
                f"{_LAYOUT.size}; its variables have other types than the guide says"
            )

    def believe(self, contents: memoryview) -> bool:
        """Whether a state can be one. The last that is new is kept."""
        values = _LAYOUT.unpack(contents)
        now = values[0]
        if not math.isfinite(sum(values)):  # whole numbers are, and cannot make it so
            return False
        if values[_FLOATS:-1] != self._plausible:  # seldom: they hardly ever change
            if not Status._make(values[_FLOATS:]).plausible:
                return False
            self._plausible = values[_FLOATS:-1]
        if not any(values[1:7]):  # all joints at exactly zero: the robot does not know them yet
            return False
        if now <= self.time:
            self.doubled += 1
            return now > self.time - _BACK
        if self.time and now > self.time + _GAP:
            return False
        self.time, self._values, self.fresh = now, values, True
        self._bytes[:] = contents
        return True

    def take(self) -> None:
        """Make the newest the one to be read."""
        values = self._values
        self._floats[:] = self._raw
        self.scaling = min(1.0, max(0.0, values[_FLOATS - 1]))
        self.whole = values[_FLOATS:]
        self.fresh = False


class BadPackets:
    """Counts packets without sense: three within a second are too many.

    Attributes:
        seen: how many were counted by now.
    """

    MOST, SECONDS = 3, 1.0

    def __init__(self) -> None:
        self.seen = 0
        self._times = deque[float](maxlen=self.MOST)

    def too_many(self, bad: int, now: float) -> bool:
        """
        Args:
            bad: how many there have been in all.
            now: s.
        """
        if bad == self.seen:
            return False
        self._times.extend([now] * min(bad - self.seen, self.MOST))
        self.seen = bad
        return len(self._times) == self.MOST and now - self._times[0] <= self.SECONDS

    def forgive(self, bad: int) -> None:
        """What came so far does not count."""
        self.seen = bad
        self._times.clear()
