"""What a page may ask for, each with its checks; whoever asks has shown the token."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.blackboard import Reader
from ur_admittance.calibration.tare import tare
from ur_admittance.cockpit.access import WORD_BYTES
from ur_admittance.cockpit.form import changed, live_changes, values_of
from ur_admittance.config import Config
from ur_admittance.config.validate import as_numbers, suggest, within
from ur_admittance.controller import TRACE_SECONDS
from ur_admittance.errors import ConfigError, RobotError

MERGE_SECONDS = 0.1  # changes within so long are one
UNDO = 100  # changes that can be taken back
_ONE_DRAG = 1.0  # s: changes of the same parameters closer than this are one step back
_PATH = ".path.json"  # a taught path, beside the recordings
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,39}", re.ASCII)


def plain_name(name: Any, what: str = "name") -> str:
    """A name that is safe as that of a file and on a page; ConfigError for any other."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{what}: up to 40 letters, digits, spaces, - and _, a letter or digit first; got "
            f"{name!r:.60}"
        )
    return name.strip()


def words_in(message: Mapping[str, Any], key: str) -> str:
    """A short text that a page sent, on one line and fit to print."""
    text = str(message.get(key, ""))[:WORD_BYTES]
    return "".join(c if c.isprintable() else " " for c in text).strip()


class Tuning:
    """Changes of parameters: merged, sent, taken back.

    Attributes:
        base: the configuration that changes are told against.
    """

    def __init__(self, reader: Reader, clock: Callable[[], float] = time.monotonic) -> None:
        self._reader, self._clock = reader, clock
        self.base = reader.config().flat()
        self._wanted: dict[str, Any] = {}
        self._undo: list[tuple[float, dict[str, Any]]] = []

    def want(self, changes: Any) -> None:
        """Note changes, name -> value; they are sent, checked as a whole, with the next `send`."""
        if not isinstance(changes, dict) or len(changes) > 200:
            raise ConfigError("set: give the changes as {name: value}, 200 at most")
        names = {field.name for field in Config.fields()}
        for name in changes:
            if name not in names:
                raise ConfigError(f"{name!r:.60}: no such parameter{suggest(str(name), names)}")
        self._wanted |= changes

    def send(self) -> dict[str, Any] | None:
        """Send what was wanted since the last time, as one change; None if nothing was.

        Raises:
            AdmittanceError: nothing of it was changed.
        """
        wanted, self._wanted = self._wanted, {}
        if not wanted:
            return None
        change = self._reader.set(wanted)
        if change.values:
            before = {name: old for name, (old, _) in change.values.items()}
            self._remember(before)
        return self.told(warning=change.warning)

    def undo(self) -> dict[str, Any]:
        """Take the last change back."""
        if not self._undo:
            raise ConfigError("undo: nothing was changed from here")
        _, before = self._undo[-1]
        self._reader.set({name: value for name, value in before.items()})
        self._undo.pop()
        return self.told()

    def of_preset(self, name: Any) -> tuple[dict[str, Any], list[str]]:
        """The changes that take over the feel of a preset, and what may not change while running.

        Payload, arm, workspace and safety stay as they are.
        """
        if name not in Config.presets():
            raise ConfigError(
                f"preset: no {name!r:.40}{suggest(str(name), Config.presets())}; there are "
                f"{', '.join(Config.presets())}"
            )
        changes, left = live_changes(self._reader.config(), Config.preset(name))
        keep = ("payload.", "arm.", "limits.workspace", "safety.")  # of the arm, not of the feel
        return {key: v for key, v in changes.items() if not key.startswith(keep)}, left

    def preset(self, name: Any) -> dict[str, Any]:
        """Take over the feel of a preset, as far as it may change while running."""
        changes, left = self.of_preset(name)
        self.want(changes)
        told = self.send() or self.told()
        if left:
            told["warning"] = f"not changed while running: {', '.join(left)}"
        return told

    def told(self, warning: str = "") -> dict[str, Any]:
        """All that a page shows of the configuration."""
        config = self._reader.config()
        return {
            "kind": "config",
            **values_of(config),
            "changed": changed(self.base, config.flat()),
            "undo": len(self._undo),
            "warning": warning,
            "generation": int(self._reader.params()["generation"]),
        }

    def _remember(self, before: dict[str, Any]) -> None:
        now = self._clock()
        if self._undo:
            then, last = self._undo[-1]
            if last.keys() == before.keys() and now - then < _ONE_DRAG:
                self._undo[-1] = now, last
                return
        self._undo = [*self._undo[-UNDO:], (now, before)]


def tared(reader: Reader) -> dict[str, Any]:
    """The changes that make what the sensor feels now zero; see `calibration.tare`."""
    count = round(TRACE_SECONDS * reader.rate)
    records, _, _ = reader.since(max(0, reader.index - count))
    return tare(reader.config(), np.array([reader.params()]), records)


def for_station(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a simulated arm is told for a message of a page, checked."""
    do = message["do"]
    if do == "drag":
        point = as_numbers(message.get("point"), "drag: point", (3,), unit="m")
        if not (np.abs(point) <= 5.0).all():
            raise ConfigError("drag: the point is more than 5 m away")
        return {"drag": point.tolist()}
    if do == "push":
        wrench = as_numbers(message.get("wrench"), "push: wrench", (6,), unit="N, Nm")
        seconds = message.get("seconds", 1.0)
        seconds = within("push: seconds", seconds, 0.0, 5.0, "s", above=True, error=ConfigError)
        return {"push": wrench.tolist(), "seconds": seconds}
    if do == "scene":
        keys = ("name", "side", "feel")
        return {"scene": {key: words_in(message, key) for key in keys if key in message}}
    return {do: True}


class Folder:
    """Where recordings and taught paths lie; nothing that a page sends leads out of it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, name: Any) -> Path:
        """The recording of a name."""
        return self.path / f"{plain_name(name, 'recording')}.mcap"

    def report(self, name: Any) -> Path:
        """The folder of its report."""
        return self.path / f"{plain_name(name, 'recording')}.report"

    def comparison(self, one: Any, other: Any) -> Path:
        """The folder of the page that holds two recordings against each other."""
        return self.path / f"{plain_name(one)}.against" / plain_name(other)

    def existing(self, name: Any, do: str) -> Path:
        """The recording of a name, which must be there."""
        file = self.file(name)
        if not file.exists():
            raise RobotError(f"{do}: there is no recording {file.stem!r}")
        return file

    def listed(self) -> list[dict[str, Any]]:
        """Every recording, the newest first."""
        files = sorted(self.path.glob("*.mcap"), key=lambda f: -f.stat().st_mtime)
        good = [f for f in files if _NAME.fullmatch(f.stem)]
        return [
            {
                "name": f.stem,
                "bytes": f.stat().st_size,
                "report": (self.path / f"{f.stem}.report" / "index.html").exists(),
            }
            for f in good[:50]
        ]

    def new(self, name: Any) -> Path:
        """The file of a new recording."""
        return self._new(self.file(name), "recording")

    def path_file(self, name: Any) -> Path:
        """The taught path of a name."""
        return self.path / f"{plain_name(name, 'path')}{_PATH}"

    @staticmethod
    def path_name(file: Path) -> str:
        """The name of a taught path."""
        return file.name.removesuffix(_PATH)

    def paths(self) -> list[Path]:
        """Taught paths, the newest first."""
        files = sorted(self.path.glob(f"*{_PATH}"), key=lambda f: -f.stat().st_mtime)
        return [f for f in files if _NAME.fullmatch(self.path_name(f))][:50]

    def new_path(self, name: Any) -> Path:
        """The file of a new path."""
        return self._new(self.path_file(name), "path")

    def _new(self, file: Path, what: str) -> Path:
        if file.exists():
            name = file.name.partition(".")[0]
            raise RobotError(f"{what}: there is a {name!r} already; take another name")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RobotError(f"{what}: cannot make {self.path}: {error.strerror}") from None
        return file
