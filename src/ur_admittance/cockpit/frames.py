"""What a page sees: the newest ticks of a blackboard as one small text, thirty times a second."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ur_admittance.blackboard import Reader
from ur_admittance.cockpit.words import sentence
from ur_admittance.controller import MODES
from ur_admittance.faults import FAULTS, names_of
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

RATE = 30.0  # frames a second


class Feed:
    """Frames of one blackboard. Every page gets the same bytes, made once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._next = max(0, reader.index - 1)
        self._newest: np.record | None = None
        self._generation = None
        self._params: Any = None

    def frame(self, **more: Any) -> str:
        """The newest frame, JSON; `more` is added to it. Numbers are SI units, poses row by row."""
        records, self._next, _ = self.reader.since(self._next)
        seen: dict[str, Any] = {"kind": "frame", "state": self.reader.state, **more}
        if len(records):
            self._newest = records[-1]
        now = self._newest
        if now is None:
            return json.dumps(seen)
        rows = records if len(records) else np.array([now])
        params = self._params_of(int(now["inputs"]["generation"]))
        status = int(np.bitwise_or.reduce(rows["status"]))
        R_WS = now["X_WP"][:3, :3] @ params["R_PS"]
        timing = rows["timing"]
        seen |= {
            "n": self._next,
            "t": _round(now["time"], 4),
            "mode": MODES[now["mode"]],
            "words": sentence(now, params, status, self.reader.reason),
            "lamps": names_of(status),
            "q": _round(now["q"], 5),
            "P": _round(now["X_WP"][:3].ravel(), 5),
            "C": _round(now["X_WC"][:3].ravel(), 5),
            "D": _round(now["X_WD"][:3].ravel(), 5),
            "f": _round(R_WS @ now["F_S_filt"][LINEAR], 3),
            "m": _round(R_WS @ now["F_S_filt"][ANGULAR], 4),
            "v": _round(now["V_WP_cmd"], 5),
            "x": _round(now["offset"], 5),
            "tick": _round(1e6 * timing["tick"].max(), 1),
            "reaction": _round(1e6 * timing["reaction"].max(), 1),
            "late": int(now["timing"]["late"]),
            "missed": int(now["timing"]["missed"]),
            "touch": _round(now["contact_stiffness"], 0),
            "generation": int(now["inputs"]["generation"]),
        }
        return json.dumps(seen)

    def params(self) -> Any:
        """The record that the newest tick was done with, or will be."""
        return self.reader.params()

    def _params_of(self, generation: int) -> Any:
        if self._params is None or generation != self._generation:
            self._params, self._generation = self.params(), generation
        return self._params


def lamps() -> list[dict[str, str]]:
    """Every lamp there is: its name, colour, meaning, and what to do."""
    return [fault._asdict() for fault in FAULTS]


def _round(values: Any, digits: int) -> Any:
    """Plain numbers with so many digits after the point; what is no number is null."""
    array = np.asarray(values, np.float64)
    rounded = np.where(np.isfinite(array), np.round(array, digits), np.nan)
    plain = rounded.tolist()
    if isinstance(plain, float):
        return plain if plain == plain else None
    return [value if value == value else None for value in plain]
