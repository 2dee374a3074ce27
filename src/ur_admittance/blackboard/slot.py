"""Where changes of parameters lie: the last of them, each with its number.

The number of a change is the `generation` of its params record, and so of every tick that was done
with it: who reads the ticks, however late, asks for the changes by the numbers he finds there. A
change is written into the place of the oldest one and begins to count with one store of eight
bytes, so a sender that dies half way has changed nothing. The loop takes the newest; what came and
went between two ticks was never in force, and no tick names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ur_admittance.blackboard.seqlock import CHANGES, DEPTH, load, newest, store
from ur_admittance.config import Config
from ur_admittance.controller.live import parsed, prepared, written
from ur_admittance.controller.packing import Change
from ur_admittance.errors import RobotError

TEXT_BYTES = 1 << 14  # of the configuration as YAML
SIZES = CHANGES + 1  # words from here on: bytes of each place's text


class Slot:
    """Params records, the configurations they were made from, and the number of the newest.

    Attributes:
        began: the record with which the run began, or that its own process chose since.
    """

    def __init__(self, words: np.ndarray, params: np.ndarray, texts: np.ndarray) -> None:
        self.words, self.texts = words, texts
        self.params, self.began = params[:DEPTH], params[DEPTH:]
        self._parsed: tuple[int, Config] | None = None

    def config(self) -> Config:
        """The configuration, with every change sent so far; parsed once for each."""
        count = load(self.words, CHANGES)
        if self._parsed is None or self._parsed[0] != count:
            count, _, text = self.read()
            self._parsed = count, parsed(text)
        return self._parsed[1]

    def change(
        self,
        changes: Mapping[str, Any],
        newest: np.record | None,
        *,
        guarded: bool,
        target: Slot | None = None,
    ) -> Change:
        """Check and pack changes, and write them to `target`: this slot, where it may be written.
        The caller holds the lock of all senders. For the rest see `live.prepared`.

        Args:
            guarded: nothing may be loosened.
        """
        old, (count, params, _) = self.config(), self.read()
        began = self.began[0] if guarded else None
        new, record, change = prepared(old, params, changes, newest, began)
        if change.values:
            (target or self).write(record, written(new))
            self._parsed = count + 1, new
        return change

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
        is no longer there, or if it never was.
        """
        count = max(generation, 0)  # the first ones may have been changed in the process before
        if count > load(self.words, CHANGES):
            return None
        found = self._at(count)
        return found[1] if found is not None and found[0][0]["generation"] == generation else None

    def begin(self, params: np.ndarray, config: Config) -> None:
        """Write the first ones, with the generation they have."""
        count = max(int(params[0]["generation"]), 0)
        self._put(count, params, config.to_yaml(), keep=True)
        self._parsed, self.began[0] = (count, config), params[0]

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
