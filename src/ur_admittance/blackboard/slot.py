"""Where changes of parameters lie: the last of them, each with its number.

The number of a change is the `generation` of its params record, and so of every tick that was done
with it: who reads the ticks, however late, asks for the changes by the numbers he finds there. A
change is written into the place of the oldest one and begins to count with one store of eight
bytes, so a sender that dies half way has changed nothing. The loop takes the newest; what came and
went between two ticks was never in force, and no tick names it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ur_admittance.blackboard.seqlock import CHANGES, DEPTH, load, newest, store
from ur_admittance.errors import RobotError

TEXT_BYTES = 1 << 14  # of the configuration as YAML
SIZES = CHANGES + 1  # words from here on: bytes of each place's text


class Slot(NamedTuple):
    """Params records, the configurations they were made from, and the number of the newest."""

    words: np.ndarray
    params: np.ndarray
    texts: np.ndarray

    def read(self) -> tuple[int, np.ndarray, str]:
        """Number, record and YAML of the newest change."""
        for _ in range(1000):
            count = load(self.words, CHANGES)
            found = self._at(count)
            if found is not None:
                return count, *found
        raise RobotError("blackboard: parameters change faster than they can be read")

    def find(self, generation: int) -> str | None:
        """The YAML that a generation was made from; None if so many changes came after it that it
        is no longer there, or if it never was: `Controller.set` shows nothing here.
        """
        count = max(generation, 0)  # the first ones may have been changed in the process before
        if count > load(self.words, CHANGES):
            return None
        found = self._at(count)
        return found[1] if found is not None and found[0][0]["generation"] == generation else None

    def begin(self, params: np.ndarray, text: str) -> None:
        """Write the first ones, with the generation they have."""
        self._put(max(int(params[0]["generation"]), 0), params, text, keep=True)

    def write(self, params: np.ndarray, text: str) -> None:
        """Put a change into the place of the oldest, then make it count. One writer at a time."""
        self._put(load(self.words, CHANGES) + 1, params, text)

    def _at(self, count: int) -> tuple[np.ndarray, str] | None:
        """Copies of what the change of that number left; None if it is being overwritten."""
        place = count % DEPTH
        params = self.params[place : place + 1].copy()
        size = min(max(int(self.words[SIZES + place]), 0), TEXT_BYTES)
        text = self.texts[place, :size].tobytes()
        if newest(self.words) - count > DEPTH - 2:  # the next one may be half written
            return None
        return params, text.decode()

    def _put(self, count: int, params: np.ndarray, text: str, *, keep: bool = False) -> None:
        data = text.encode()
        if len(data) > TEXT_BYTES:
            raise RobotError(
                f"blackboard: the configuration takes {len(data)} bytes as YAML, at most "
                f"{TEXT_BYTES} fit; shorten its names"
            )
        place = count % DEPTH
        self.params[place] = params[0]
        if not keep:
            self.params["generation"][place] = count
        self.texts[place, : len(data)] = np.frombuffer(data, np.uint8)
        self.words[SIZES + place] = len(data)
        store(self.words, CHANGES, count)
