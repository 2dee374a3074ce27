"""Teaching a path: keeps the way of a tool while somebody leads it."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.recfunctions import repack_fields

from ur_admittance.blackboard import Reader
from ur_admittance.errors import RobotError
from ur_admittance.motion.taught import LONGEST, RATE, Path


class Lesson:
    """What is seen of a controller, which does not notice.

    Attributes:
        over: it has seen all it will: the run has ended or begun anew, or it has been too long.
    """

    def __init__(self, reader: Reader) -> None:
        self.over = False
        self._reader, self._next, self._lost = reader, reader.index, 0
        self._step = max(1, round(reader.rate / RATE))
        self._ticks, self._time = 0, -math.inf
        self._seen: list[np.ndarray] = []

    def look(self) -> None:
        """See what the arm has done since the last look, which must not be 16 s ago."""
        if self.over:
            return
        running = self._reader.state in ("running", "silent")
        records, self._next, lost = self._reader.since(self._next)
        self._lost += lost
        fallen = np.flatnonzero(np.diff(records["time"], prepend=self._time) < 0.0)
        if len(fallen):
            records = records[: fallen[0]]
        kept = records[(-self._ticks) % self._step :: self._step]
        self._seen.append(repack_fields(kept[["time", "X_WP", "V_WP_cmd", "q"]]))
        self._ticks += len(records)
        self._time = float(records["time"][-1]) if len(records) else self._time
        full = self._ticks >= LONGEST * self._reader.rate
        self.over = bool(len(fallen)) or full or not running

    def path(self) -> Path:
        """What was taught, until now.

        Raises:
            AdmittanceError: it is no path, the arm has not moved, say; or not all of it was seen.
        """
        self.look()
        if self._lost:
            raise RobotError(f"teach: {self._lost} ticks were seen too late; teach it again")
        return Path.of(np.concatenate(self._seen))
