"""The parameters that are in force: configuration, record and number, and how they change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.tighter import refuse_looser
from ur_admittance.controller.at_rest import drift_warning
from ur_admittance.controller.packing import Change, pack, repack
from ur_admittance.model import RobotModel


class Shared(Protocol):
    """Where other processes see the parameters, and change them: `Blackboard`."""

    @property
    def closed(self) -> bool: ...
    def change(
        self, changes: Mapping[str, Any], newest: np.record | None, *, guarded: bool
    ) -> Change: ...
    def take_params(self, live: LiveParameters) -> bool: ...


class LiveParameters:
    """Those of one controller, which everybody asks here.

    Attributes:
        record: what the tick reads, an array of one. Its `generation` is the number of the change
            it came with: a blackboard counts them upwards, and where there is none they count
            down, so that no two have the same.
    """

    def __init__(self, config: Config, model: RobotModel) -> None:
        self.record = pack(config, model)
        self._config, self._text = config, ""
        self._shared: Shared | None = None

    @property
    def config(self) -> Config:
        """What the record was made from. It is parsed here, after a change by another process: not
        for the loop.
        """
        if self._text:
            self._config, self._text = parsed(self._text), ""
        return self._config

    def set(self, changes: Mapping[str, Any], newest: np.record | None = None) -> Change:
        """Change some, all or nothing, in force at once; whoever reads the blackboard sees it.

        Args:
            newest: outputs of the last tick, for the warning of a change that makes the arm drift.

        Raises:
            ConfigError: a value is wrong, or may not change while running.
            RobotError: another process is changing some at this moment.
        """
        if self._shared is not None and not self._shared.closed:
            change = self._shared.change(changes, newest, guarded=False)
            self._shared.take_params(self)
            return change
        config, record, change = prepared(self.config, self.record, changes, newest)
        if change.recomputed:
            record["generation"] -= 1
            self.record[:] = record  # in one assignment, between two ticks
        self._config = config
        return change

    def become(self, config: Config, generation: int) -> None:
        """Be those of a configuration for the same arm, and of that number."""
        before, now = self.config.flat(), config.flat()
        repack(self.record, config, [name for name in now if before[name] != now[name]])
        self.record["generation"] = generation
        self._config = config

    def taken(self, text: str, shared: Shared) -> None:
        """The record was taken from there, and this is the configuration it was made from."""
        self._text, self._shared = text, shared

    def share(self, shared: Shared) -> None:
        """They are seen and changed there from now on."""
        self._shared = shared


def prepared(
    old: Config,
    params: np.ndarray,
    changes: Mapping[str, Any],
    newest: np.record | None,
    began: np.record | None = None,
) -> tuple[Config, np.ndarray, Change]:
    """A change, checked and packed: the configuration, a new record, and what is to be told of it.

    Args:
        params: the record of `old`, which stays as it is.
        newest: see `LiveParameters.set`.
        began: params when the run began; given, nothing may be loosened: see `config.tighter`.

    Raises:
        ConfigError: a value is wrong, may not change while running, or is looser.
    """
    new, record = old.replace(changes, live=True), params.copy()
    before, now = old.flat(), new.flat()
    values = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
    recomputed = repack(record, new, values)
    if began is not None:
        refuse_looser(old, new, began, record[0])
    warning = drift_warning(values, params, record, newest)
    return new, record, Change(values, recomputed, new.admittance.ramp_seconds, warning)


def written(config: Config) -> str:
    """A configuration as JSON, which is YAML, too, and far quicker to write and to read."""
    return json.dumps(config.flat())


def parsed(text: str) -> Config:
    """A configuration from that, or from any other YAML."""
    return Config.from_dict(json.loads(text)) if text.startswith("{") else Config.loads(text)
