"""A running controller at one moment, as a person reads it, from its blackboard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.blackboard import Reader
from ur_admittance.controller import MODES
from ur_admittance.faults import names_of
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

TRAIL_SECONDS = 20.0  # how much of the tool's path is kept
TRAIL_STEP = 0.02  # s between two points of it


@dataclass(frozen=True)
class Glance:
    """A controller at one moment, in the numbers that a person reads; SI units."""

    mode: str
    time: float  # since activation, s
    force: float  # what the sensor feels without bias and weight, low-passed, N and N m
    torque: float  # likewise
    speed: float  # of the tool as commanded, m/s and rad/s
    turn: float  # likewise
    faults: tuple[str, ...]  # names from `faults.FAULTS` that were set since the last glance
    tick: float  # the longest since the last glance, s
    reaction: float  # likewise
    late: int  # states so far
    missed: int  # likewise
    p_WP: np.ndarray  # (3,) the tool point, m
    p_WD: np.ndarray  # (3,) the point it would return to, m

    @classmethod
    def at(cls, records: np.ndarray) -> Glance:
        """What output records say, of which the last is now."""
        now, timing = records[-1], records["timing"]
        return cls(
            mode=MODES[now["mode"]],
            time=float(now["time"]),
            force=math.hypot(*now["F_S_filt"][LINEAR]),
            torque=math.hypot(*now["F_S_filt"][ANGULAR]),
            speed=math.hypot(*now["V_WP_cmd"][LINEAR]),
            turn=math.hypot(*now["V_WP_cmd"][ANGULAR]),
            faults=tuple(names_of(np.bitwise_or.reduce(records["status"]))),
            tick=float(timing["tick"].max()),
            reaction=float(timing["reaction"].max()),
            late=int(now["timing"]["late"]),
            missed=int(now["timing"]["missed"]),
            p_WP=now["X_WP"][:3, 3].copy(),
            p_WD=now["X_WD"][:3, 3].copy(),
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()}
        return plain | {"faults": list(self.faults)}


class Watcher:
    """Follows one blackboard: a glance at a time, and the way the tool has gone."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.glance: Glance | None = None
        self.trail = np.empty((0, 3))  # points of the tool, m, oldest first
        self._next = max(0, reader.index - 1)
        self._stride = max(1, round(TRAIL_STEP * reader.rate))

    def read(self) -> Glance | None:
        """What there is to see now; None before the first tick."""
        records, self._next, _ = self.reader.since(self._next)
        if len(records):
            self.glance = Glance.at(records)
            points = records["X_WP"][:: self._stride, :3, 3]
            self.trail = np.vstack((self.trail, points))[-round(TRAIL_SECONDS / TRAIL_STEP) :]
        return self.glance
