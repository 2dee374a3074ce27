"""What all processes of a test have written, read and judged in the one of the tests."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.oracle.taps import (
    CHAIN,
    COMMAND,
    CYCLE,
    END,
    EVENTS,
    FOUND,
    HEAD,
    PARAMS,
    PROCESS,
    ROBOT,
    ROBOTS,
    TICK,
    here,
)

ROOM = 1 << 32  # bytes, for those of all


def place() -> str | None:
    """Where to write: in memory, if there is much; else where temporary files go."""
    try:
        space = os.statvfs("/dev/shm")
    except OSError:
        return None
    return "/dev/shm" if space.f_bavail * space.f_frsize > ROOM else None


class Watches:
    """Judges all that is written in the folder.

    Attributes:
        folder: where it is written.
        ticks: of controllers, by process.
        commands: to robots, by process.
    """

    def __init__(self, folder: Path) -> None:
        self.ticks: Counter[int] = Counter()
        self.commands: Counter[int] = Counter()
        self.folder = folder
        self._processes: dict[str, _Process] = {}
        self._at: dict[Path, int] = {}
        here.full = self.look

    def look(self) -> None:
        """Judge all that came since the last time."""
        here.turn_over()
        for path in sorted(self.folder.iterdir()):
            name, _, _ = path.name.partition(".")
            number = int(name.partition("-")[0])
            ended = number == os.getpid() or not Path(f"/proc/{number}").exists()
            process = self._processes.setdefault(name, _Process(self, number))
            self._at[path] = process.read(path, self._at.get(path, 0))
            if ended:
                path.unlink()
                del self._at[path]
                if number != os.getpid():
                    process.judge()
        for process in self._processes.values():
            process.judge()

    def end(self) -> dict[str, str]:
        """What was broken since the last end: what -> where first, and by how much."""
        self.look()
        found: dict[str, str] = {}
        for process in self._processes.values():
            found |= process.found()
        return found


class _Process:
    """What one process has written."""

    def __init__(self, watches: Watches, number: int) -> None:
        self._watches, self._number, self._words = watches, number, ""
        self._judges: dict[int, Any] = {}
        self._rows: dict[int, list[bytes]] = defaultdict(list)
        self._events: dict[int, dict[int, Any]] = defaultdict(dict)
        self._found: dict[str, str] = {}

    def read(self, path: Path, at: int) -> int:
        """Take the records of a file from a place on; returns the place of the next."""
        import numpy as np

        from tests.oracle import sent
        from tests.oracle.judge import Judge
        from ur_admittance.kernel import layout

        judges = self._judges
        for kind, source, data, after in records(path, at):
            at = after
            if kind == TICK:
                self._rows[source].append(data)
                self._watches.ticks[self._number] += 1
                if len(self._rows[source]) >= 4000:
                    self._judge(source)
            elif kind == PARAMS:
                self._judge(source)
                params = np.frombuffer(data, layout.PARAMS)[0]
                if source in judges:
                    judges[source].change(params)
                else:
                    judges[source] = Judge(params)
            elif kind == EVENTS:
                place = len(self._rows[source])
                self._events[source][place] = np.frombuffer(data, layout.EVENT)
            elif kind == CYCLE:
                judges[source].cycle(np.frombuffer(data, sent.CYCLE)[0])
            elif kind == COMMAND:
                judges[source].command(np.frombuffer(data, sent.COMMAND)[0])
                self._watches.commands[self._number] += 1
            elif kind == CHAIN:
                self._collect(source)
                judges[source] = sent.ChainCommands(np.frombuffer(data, float).reshape(2, 6))
            elif kind == ROBOT:
                limits = np.frombuffer(data, float, 13)
                judges[source] = sent.RobotCommands(data[ROBOTS.size :].decode(), limits)
            elif kind == FOUND:
                name, _, where = data.decode().partition("\n")
                self._found.setdefault(name, where)
            elif kind == PROCESS:
                self._words = data.decode(errors="replace")
            elif kind == END:
                self._judge(source)
                self._collect(source)
        return at

    def judge(self) -> None:
        """What is not judged yet."""
        for source in list(self._rows):
            self._judge(source)

    def found(self) -> dict[str, str]:
        """What was broken since the last time."""
        for source in self._judges:
            self._collect(source, keep=True)
        found, self._found = self._found, {}
        if self._number != os.getpid():
            found = {name: f"{where}, in {self._words}" for name, where in found.items()}
        return found

    def _judge(self, source: int) -> None:
        import numpy as np

        from tests.oracle.piece import ROW

        if rows := self._rows.pop(source, None):
            events = self._events.pop(source, {})
            self._judges[source].take(np.frombuffer(b"".join(rows), ROW), events)

    def _collect(self, source: int, keep: bool = False) -> None:
        judge = self._judges.get(source)
        if judge is not None:
            self._found = judge.found | self._found
            judge.found = {}
            if not keep:
                del self._judges[source]


def records(path: Path, at: int) -> Iterator[tuple[int, int, bytes, int]]:
    """From a place in a file on: kind, source, contents, and the place of the next. The last may
    not be whole: it is still being written, or its process was killed over it.
    """
    with path.open("rb") as file:
        file.seek(at)
        while len(head := file.read(HEAD.size)) == HEAD.size:
            kind, source, size = HEAD.unpack(head)
            data = file.read(size)
            if len(data) < size:
                return
            at += HEAD.size + size
            yield kind, source, data, at


watches: Watches
"""All of them, where there are tests: see `tests/conftest.py`."""
