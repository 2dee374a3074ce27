"""The blackboard: what the control loop shows to other processes, and what they may tell it.

One control process owns one block of shared memory. It appends its outputs to a ring of the last
16 s and looks, between two ticks, at one counter that tells of new parameters. Everybody else
(recorder, cockpit, `watch`, tuning) attaches as a reader. The loop takes no lock and waits for
nobody: a reader that is slow, hung, stopped or killed costs it nothing.

    with Blackboard.create("sim", 500.0, config, params) as board:       # the control process
        ...
        board.take_params(params)
        controller.update(...)
        board.publish(outputs)

    reader = Blackboard.attach("sim")                                    # any other
    reader.latest()["qd"]
    reader.set({"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4]})
"""

from __future__ import annotations

import fcntl
import functools
import json
import math
import mmap
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ur_admittance import blackboard_memory as memory
from ur_admittance import seqlock
from ur_admittance.config import Config
from ur_admittance.controller import Change
from ur_admittance.errors import RobotError
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import announced, entry_point
from ur_admittance.packing import repack

RING_SECONDS = 16.0
SILENT_SECONDS = 1.0
_RETRIES = 100


class Blackboard:
    """The owner's side. It belongs to the thread that runs the loop."""

    def __init__(self, robot: str, rate: float, block: mmap.mmap, slots: int) -> None:
        """Use `create`."""
        self.robot = robot
        self.rate = rate
        self._pid = os.getpid()
        self._block: mmap.mmap | None = block
        self._header = memory.header_in(block)
        self._counters = memory.counters_in(block)
        self._slot = memory.slot_in(block)
        self._ring = memory.ring_in(block, slots)
        self._record = layout.new_outputs()
        self._spare = layout.new_params()
        self._changes = self._slot.words.data  # read every tick: NumPy takes longer
        self._taken = 0
        self._parsed: tuple[int, Config] | None = None
        self._targets = (self._counters, *self._ring)
        self._ring.records.view(np.uint8)[:] = 0  # every page is there before the loop writes
        self._publish, self._take = _compiled()

    @classmethod
    def create(cls, robot: str, rate: float, config: Config, params: np.ndarray) -> Blackboard:
        """Make the block of a robot, and with it the right to control the robot.

        What a process left behind that no longer exists is taken over.

        Args:
            robot: the robot's address, such as 'sim' or 'rtde://192.168.1.10'.
            rate: ticks each second, Hz. The ring holds 16 s of them.
            config: the running configuration, for readers.
            params: the record made from it, the start of every later change.

        Raises:
            RobotError: another process controls this robot; the message names it.
        """
        path = memory.path_of(robot)
        if not 1.0 <= rate <= 10000.0:
            raise RobotError(f"blackboard: rate must be from 1 to 10000 Hz, got {rate!r:.100}")
        _check(params)
        slots = math.ceil(RING_SECONDS * rate)
        _compiled()
        with (
            memory.opened(path.parent, os.O_RDONLY | os.O_DIRECTORY) as folder,
            memory.locked(folder, f"blackboard: taking {robot}"),
        ):
            memory.clear(path, robot)
            with memory.opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL) as fd:
                try:
                    block = memory.reserve(fd, memory.block_bytes(slots))
                    board = cls(robot, rate, block, slots)
                    board._slot.write(params, config.to_yaml())
                    board._parsed = seqlock.load(board._slot.words, seqlock.CHANGES), config
                    board.take_params(params.copy())
                    board._sign(slots)
                except BaseException:
                    path.unlink()
                    raise
        return board

    def publish(self, outputs: np.ndarray | np.record) -> None:
        """Append one outputs record: the array of one that the controller writes (quickest), or
        the record that `Controller.update` returns.
        """
        if (
            type(outputs) is not np.ndarray
            or outputs.dtype is not layout.OUTPUTS
            or outputs.shape != (1,)
        ):
            outputs = self._one(outputs)
        self._publish(*self._targets, outputs)

    def take_params(self, params: np.ndarray) -> bool:
        """Between two ticks: copy a change of parameters into the loop's own record, if there is
        one. The record's `generation` then counts one up, which tells the tick.
        """
        if self._changes[seqlock.CHANGES] == self._taken:
            return False
        _check(params)
        count = self._take(self._slot.words, self._slot.params, self._spare, params)
        if count < 0:  # replaced during the copy: the next tick takes the later one
            return False
        self._taken = count
        self._counters[memory.TAKEN] = count
        return True

    @property
    def published(self) -> int:
        """How many records there have been."""
        return int(self._counters[seqlock.PUBLISHED])

    def config(self) -> Config:
        """The configuration with all changes so far. After a change by another process it takes
        milliseconds: not for the loop.
        """
        count = seqlock.load(self._slot.words, seqlock.CHANGES)
        if self._parsed is None or self._parsed[0] != count:
            count, _, text = self._slot.read()
            self._parsed = count, Config.loads(text, f"the configuration of {self.robot}")
        return self._parsed[1]

    def set(self, changes: Mapping[str, Any]) -> Change:
        """Change parameters as `Reader.set` does, from the control process itself, between two
        ticks: it takes half a millisecond, and does not wait for other senders.

        Raises:
            ConfigError: a value is wrong, or may not change while running.
            RobotError: another process is sending parameters at this moment.
        """
        with memory.opened(memory.path_of(self.robot), os.O_RDWR) as fd:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RobotError(
                    "set: another process is changing parameters; nothing was changed, try again"
                ) from None
            old, (count, params, _) = self.config(), self._slot.read()
            new = old.replace(changes, live=True)
            before, now = old.flat(), new.flat()
            values = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
            recomputed = repack(params, new, None, values)  # type: ignore[arg-type]
            if values:
                self._slot.write(params, json.dumps(now))  # YAML, too, and a hundred times quicker
                self._parsed = count + 1, new
        return Change(values, recomputed, new.admittance.ramp_seconds)

    def close(self) -> None:
        """Tell the readers that this is the end, and give the robot free."""
        if self._block is None or os.getpid() != self._pid:
            return
        self._header["ended"] = 1
        path = memory.path_of(self.robot)
        with (
            suppress(RobotError),  # a lock that hangs: marked as ended, the next owner clears it
            memory.opened(path.parent, os.O_RDONLY | os.O_DIRECTORY) as folder,
            memory.locked(folder, f"blackboard: leaving {self.robot}"),
        ):
            header = memory.header_of(path)
            if header is not None and header.tobytes() == self._header[0].tobytes():
                path.unlink()
        self._block = None
        self._publish = self._take = self._ended
        self._targets = ()
        self._changes = np.zeros(1, np.int64).data
        self._taken = 0

    def __enter__(self) -> Blackboard:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @staticmethod
    def attach(robot: str | None = None) -> Reader:
        """Read the blackboard of a robot; without a name, of the only one that is running."""
        running = list_running()
        names = "; ".join(str(r) for r in running) or "nothing"
        if robot is None:
            if len(running) != 1:
                many = "several controllers run, name one" if running else "no controller runs"
                raise RobotError(f"blackboard: {many}; running: {names}")
            robot = running[0].robot
        path = memory.path_of(robot)
        missing = RobotError(f"blackboard: no controller runs for {robot}; running: {names}")
        if robot not in (r.robot for r in running):
            raise missing
        try:
            return Reader(path)
        except FileNotFoundError:  # it ended just now
            raise missing from None

    def _ended(self, *_: Any) -> NoReturn:
        raise RobotError(f"blackboard: the one of {self.robot} was closed")

    def _one(self, outputs: Any) -> np.ndarray:
        kind = getattr(outputs, "dtype", None)
        if (kind is not layout.OUTPUTS and kind != layout.OUTPUTS) or outputs.size != 1:
            raise RobotError(f"publish: expected one outputs record, got {outputs!r:.100}")
        self._record[0] = outputs
        return self._record

    def _sign(self, slots: int) -> None:
        header = self._header[0]
        header["digest"] = memory.DIGEST
        header["pid"] = self._pid
        header["started"] = memory.start_of(self._pid)
        header["robot"] = self.robot
        header["rate"] = self.rate
        header["slots"] = slots
        header["magic"] = memory.MAGIC  # from here on readers see it


class Reader:
    """The other side: reads without being noticed, and may send parameters."""

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
        self._parsed: tuple[int, Config] | None = None
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
    def pending(self) -> bool:
        """Whether a change of parameters waits for the loop to take it."""
        return bool(self._slot.words[seqlock.CHANGES] != self._counters[memory.TAKEN])

    def config(self) -> Config:
        """The configuration, with every change sent so far."""
        count = seqlock.load(self._slot.words, seqlock.CHANGES)
        parsed = self._parsed
        if parsed is None or parsed[0] != count:
            count, _, text = self._slot.read()
            parsed = count, Config.loads(text, f"the configuration of {self.robot}")
            self._parsed = parsed
        return parsed[1]

    def parameters(self) -> tuple[int, np.ndarray, str]:
        """How many changes were sent so far, the newest params record, and its YAML."""
        return self._slot.read()

    def set(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Change:
        """Change parameters of the running loop, all or nothing, as `Controller.set` does.

        They are checked and packed here; the loop takes the ready record before its next tick.
        Of several senders one comes after the other, each building on what the last one left.

        Raises:
            ConfigError: a value is wrong, or may not change while running.
            RobotError: there is no loop to take it, or another sender hangs.
        """
        what = f"blackboard: setting parameters of {self.robot}"
        try:
            with memory.opened(self._path, os.O_RDWR) as fd, memory.locked(fd, what):
                if os.fstat(fd).st_ino != self._inode or self.state in ("ended", "gone"):
                    raise FileNotFoundError
                return self._send(fd, {**(changes or {}), **more})
        except FileNotFoundError:
            raise RobotError(f"{what}: its controller has ended; nothing was changed") from None

    def _send(self, fd: int, changes: Mapping[str, Any]) -> Change:
        old, (_, params, _) = self.config(), self._slot.read()
        new = old.replace(changes, live=True)
        before, now = old.flat(), new.flat()
        values = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
        # what needs the robot's model, the arm, may not change while running
        recomputed = repack(params, new, None, values)  # type: ignore[arg-type]
        if values:
            block = mmap.mmap(fd, memory.SLOT_BYTES, offset=memory.SLOT_OFFSET)
            memory.slot_in(block, 0).write(params, new.to_yaml())
        return Change(values, recomputed, new.admittance.ramp_seconds)

    def _look(self) -> tuple[int, float]:
        """The count of records, and when this reader first saw it."""
        count = self.index
        if count != self._seen[0]:
            self._seen = count, time.monotonic()
        return self._seen


def list_running() -> list[memory.Running]:
    """The control processes of this user, by robot name."""
    found = []
    for path in sorted(memory.folder().glob("*" + memory.SUFFIX)):
        header = memory.header_of(path)
        if header is not None and memory.owner_lives(header):
            found.append(memory.running_of(header))
    return found


@functools.cache
def _compiled() -> tuple[Callable, Callable]:
    """What the loop calls, compiled or loaded now and never again."""
    words, params = np.zeros(16, np.int64), np.zeros(2, layout.PARAMS)
    with announced("the blackboard"):
        seqlock.publish(words, words.copy(), np.zeros(2, layout.OUTPUTS), layout.new_outputs())
        seqlock.take(words, params, params.copy(), params.copy())
    return entry_point(seqlock.publish), entry_point(seqlock.take)


def _check(params: np.ndarray) -> None:
    same = params.dtype is layout.PARAMS or params.dtype == layout.PARAMS
    if not same or params.shape != (1,):
        raise RobotError("blackboard: params must be one record, as `packing.pack` makes it")
