"""The readers' side of the blackboard: every other process."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.blackboard import memory, seqlock
from ur_admittance.blackboard.note import Note
from ur_admittance.blackboard.requests import STOP, Request
from ur_admittance.config import Config
from ur_admittance.controller.packing import Change
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.kernel import layout

SILENT_SECONDS = 1.0
_RETRIES = 100


class Reader:
    """The other side: reads without being noticed, and may send parameters or ask for a stop."""

    def __init__(self, path: Path) -> None:
        """Use `Blackboard.attach`."""
        self._path = path
        with memory.opened(path, os.O_RDONLY) as fd:
            header = memory.read_header(fd)
            if header is None:
                raise FileNotFoundError(path)
            if header["digest"] != memory.DIGEST.encode():
                raise RobotError(
                    f"blackboard: {path.name} was made by another version of ur-admittance, by "
                    f"process {header['pid']}; use the same version on both sides"
                )
            slots, found = int(header["slots"]), os.fstat(fd)
            if slots < 1 or found.st_size != memory.block_bytes(slots):
                raise RobotError(f"blackboard: {path} is damaged; restart the controller")
            block = mmap.mmap(fd, found.st_size, mmap.MAP_SHARED, mmap.PROT_READ)
        self.running = memory.running_of(header)
        self.robot, self.rate = self.running.robot, self.running.rate
        self._header = memory.header_in(block)
        self._inode = found.st_ino
        self._counters = memory.counters_in(block)
        self._slot = memory.slot_in(block)
        self._ring = memory.ring_in(block, slots)
        self._reason = memory.reason_in(block)
        self._seen = (-1, 0.0)
        self._look()

    @property
    def index(self) -> int:
        """How many records have been published: where `since` finds the next one."""
        return seqlock.load(self._counters, seqlock.PUBLISHED)

    def latest(self) -> np.record | None:
        """A copy of the newest record; None if there is none yet."""
        out = np.empty(1, layout.OUTPUTS)
        for _ in range(_RETRIES):
            count = self.index
            if count == 0:
                return None
            if seqlock.collect(*self._ring, count - 1, out):
                return out[0]
        raise RobotError(f"blackboard: {self.robot} writes faster than this process can read")

    def since(self, index: int) -> tuple[np.ndarray, int, int]:
        """Copies of all records from `index` on, the index to ask for next time, and how many
        were lost because they were asked for more than 16 s late.
        """
        count = self.index
        if not 0 <= index <= count:
            raise RobotError(f"blackboard: index {index} is not among the {count} records so far")
        first = max(index, count - len(self._ring.records))
        out = np.empty(count - first, layout.OUTPUTS)
        kept = seqlock.collect(*self._ring, first, out)
        return out[:kept], count, count - index - kept

    @property
    def state(self) -> str:
        """'running'; 'silent': the process is there, but published nothing for a second, as this
        reader saw it; 'ended': it closed; 'gone': it died.
        """
        if self._header["ended"][0]:
            return "ended"
        if not memory.owner_lives(self._header[0]):
            return "gone"
        count, when = self._look()
        return "silent" if count and time.monotonic() - when > SILENT_SECONDS else "running"

    @property
    def alive(self) -> bool:
        """Whether the loop is running."""
        return self.state == "running"

    @property
    def reason(self) -> StopReason | None:
        """Why the run was stopped, also after it has ended; None while it goes on, and where it
        ended because its time was over.
        """
        return reason_of(self._reason)

    @property
    def pending(self) -> bool:
        """Whether a change of parameters waits for the loop to take it."""
        return bool(self._slot.words[seqlock.CHANGES] != self._counters[memory.TAKEN])

    def config(self) -> Config:
        """The configuration, with every change sent so far."""
        return self._slot.config()

    def params(self) -> np.record:
        """A copy of the record that the loop works with, or takes before its next tick."""
        return self._slot.read()[1][0]

    def text_of(self, generation: int) -> str | None:
        """The configuration, as YAML, that a record names in `inputs.generation`; None if more than
        a hundred changes came after it.
        """
        return self._slot.find(generation)

    def set(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Change:
        """Change parameters of the running loop, all or nothing, as `Controller.set` does.

        They are checked and packed here; the loop takes the ready record before its next tick.
        Of several senders one comes after the other, each building on what the last one left.

        Raises:
            ConfigError: a value is wrong, may not change while running, or would loosen something
                where the owner does not allow it: see `config.tighter`.
            RobotError: there is no loop to take it, or another sender hangs.
        """
        with self._writable(f"blackboard: setting parameters of {self.robot}") as fd:
            block = mmap.mmap(fd, memory.SLOT_BYTES, offset=memory.SLOT_OFFSET)
            changes, target = {**(changes or {}), **more}, memory.slot_in(block, 0)
            guarded = bool(self._counters[memory.TIGHTEN])
            return self._slot.change(changes, self.latest(), guarded=guarded, target=target)

    def stop(self, why: str) -> None:
        """Ask the running loop to brake to rest and to end, as Ctrl-C there does. It looks between
        two ticks; `state` tells when it has ended.

        Raises:
            RobotError: there is no loop to ask, or another asker hangs.
        """
        with self._writable(f"blackboard: stopping {self.robot}") as fd:
            block = mmap.mmap(fd, memory.REQUESTS_BYTES, offset=memory.REQUESTS_OFFSET)
            memory.requests_in(block, 0).ask(Request(STOP, why))

    @contextmanager
    def _writable(self, what: str) -> Iterator[int]:
        """The open file of a controller that is still there, with the lock of all senders."""
        try:
            with memory.opened(self._path, os.O_RDWR) as fd, memory.locked(fd, what):
                if os.fstat(fd).st_ino != self._inode or self.state in ("ended", "gone"):
                    raise FileNotFoundError
                yield fd
        except FileNotFoundError:
            raise RobotError(f"{what}: its controller has ended; nothing was changed") from None

    def _look(self) -> tuple[int, float]:
        """The count of records, and when this reader first saw it."""
        count = self.index
        if count != self._seen[0]:
            self._seen = count, time.monotonic()
        return self._seen


def reason_of(note: Note) -> StopReason | None:
    """What the note of a stop says; None if there is none."""
    for _ in range(_RETRIES):
        if (found := note.read()) is not None:
            return StopReason(*found[1]) if found[1][0] else None
    return None  # its writer died half way


def attach(robot: str | None = None) -> Reader:
    """Read the blackboard of a robot; without a name, of the only one that is running."""
    running = list_running()
    names = "; ".join(str(r) for r in running)
    start = "start one with 'ur-admittance run', as this user and on this machine"
    if robot is None:
        if not running:
            raise RobotError(f"blackboard: no controller runs; {start}")
        if len(running) > 1:
            raise RobotError(f"blackboard: several controllers run, name one; running: {names}")
        robot = running[0].robot
    path = memory.path_of(robot)
    others = f"running: {names}" if names else start
    missing = RobotError(f"blackboard: no controller runs for {robot}; {others}")
    if robot not in (r.robot for r in running):
        raise missing
    try:
        return Reader(path)
    except FileNotFoundError:  # it ended just now
        raise missing from None


def list_running() -> list[memory.Running]:
    """The control processes of this user, by robot name."""
    found = []
    for path in sorted(memory.folder().glob("*" + memory.SUFFIX)):
        header = memory.header_of(path)
        if header is not None and memory.owner_lives(header):
            found.append(memory.running_of(header))
    return found
