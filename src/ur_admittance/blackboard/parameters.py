"""The parameters in shared memory, as both sides see and change them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ur_admittance.blackboard import seqlock
from ur_admittance.blackboard.slot import Slot
from ur_admittance.config import Config
from ur_admittance.config.tighter import refuse_looser
from ur_admittance.controller.at_rest import drift_warning
from ur_admittance.controller.packing import Change, repack


class Parameters:
    """The configuration in a slot: parsed once for every change, and changed as a whole."""

    def __init__(self, robot: str, slot: Slot) -> None:
        self._robot, self._slot = robot, slot
        self._parsed: tuple[int, Config] | None = None

    def begin(self, params: np.ndarray, config: Config) -> None:
        """Write the first ones."""
        self._slot.begin(params, config.to_yaml())
        self._parsed = seqlock.load(self._slot.words, seqlock.CHANGES), config

    def config(self) -> Config:
        """The configuration, with every change sent so far."""
        count = seqlock.load(self._slot.words, seqlock.CHANGES)
        parsed = self._parsed
        if parsed is None or parsed[0] != count:
            count, _, text = self._slot.read()
            parsed = count, Config.loads(text, f"the configuration of {self._robot}")
            self._parsed = parsed
        return parsed[1]

    def change(
        self,
        changes: Mapping[str, Any],
        target: Slot,
        newest: np.record | None,
        *,
        tighten_only: bool = False,
    ) -> Change:
        """Check and pack changes, and write them to `target`: the slot, where it may be written.
        The caller holds the lock of all senders. By the newest record, if there is one, a change
        of payload that makes the arm drift is told. With `tighten_only`, see `config.tighter`.
        """
        old, (count, params, _) = self.config(), self._slot.read()
        new = old.replace(changes, live=True)
        if tighten_only:
            refuse_looser(old, new)
        before, now = old.flat(), new.flat()
        values = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
        before_it = params.copy()
        # what needs the robot's model, the arm, may not change while running
        recomputed = repack(params, new, None, values)  # type: ignore[arg-type]
        if values:
            target.write(params, json.dumps(now))  # YAML, too, and a hundred times quicker
            self._parsed = count + 1, new
        return Change(
            values,
            recomputed,
            new.admittance.ramp_seconds,
            drift_warning(values, before_it, params, newest),
        )
