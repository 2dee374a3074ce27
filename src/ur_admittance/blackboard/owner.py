"""The owner's side of the blackboard: the control process, which publishes and takes parameters."""

from __future__ import annotations

import fcntl
import functools
import math
import mmap
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from ur_admittance.blackboard import memory, seqlock
from ur_admittance.blackboard.parameters import Parameters
from ur_admittance.blackboard.reader import Reader, attach
from ur_admittance.config import Config
from ur_admittance.config.validate import within
from ur_admittance.controller.packing import Change
from ur_admittance.errors import RobotError
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import announced, entry_point

RING_SECONDS = 16.0


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
        self._command = self._counters[memory.SENT + 1 :][:6].view(np.float64)
        self._slot = memory.slot_in(block)
        self._requests = memory.requests_in(block)
        self._ring = memory.ring_in(block, slots)
        self._record = layout.new_outputs()
        self._spare = layout.new_params()
        self._changes = self._slot.words.data  # read every tick: NumPy takes longer
        self._taken = 0
        self._parameters = Parameters(robot, self._slot)
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
        rate = within("blackboard: rate", rate, 1.0, 10000.0, "Hz")
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
                    board._begin(params, config)
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
        one. The record's `generation` then is the number of the change, which tells the tick.
        """
        if self._changes[seqlock.CHANGES] == self._taken:
            return False
        _check(params)
        count = self._take(self._slot.words, self._slot.params, self._spare, params)
        if count < 0:  # overwritten during the copy: the next tick takes a later one
            return False
        self._taken = count
        self._counters[memory.TAKEN] = count
        return True

    def request(self) -> str:
        """Between two ticks: what another process has asked for since the last look, such as
        'stop: why'; "" if nothing.
        """
        return self._requests.take()

    @property
    def published(self) -> int:
        """How many records there have been."""
        return int(self._counters[seqlock.PUBLISHED])

    @property
    def tighten_only(self) -> bool:
        """Whether limits, safety and payload may only be tightened, not loosened, by `set` here and
        in readers: while the arm gives way.
        """
        return bool(self._counters[memory.TIGHTEN])

    @tighten_only.setter
    def tighten_only(self, value: bool) -> None:
        self._counters[memory.TIGHTEN] = int(value)

    def sent(self, qd: np.ndarray) -> None:
        """Write down a command, rad/s (6,), as it is sent: for whoever must go on from it, should
        this process not.
        """
        self._command[:] = qd
        self._counters[memory.SENT] += 1

    def places(self) -> dict[str, Any]:
        """The file, and what lies where in it, for a reader that has none of this code: see
        `memory.places`.
        """
        path = str(memory.path_of(self.robot))
        return {"file": path, **memory.places(len(self._ring.records))}

    def config(self) -> Config:
        """The configuration with all changes so far. After a change by another process it takes
        milliseconds: not for the loop.
        """
        return self._parameters.config()

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
            records, count = self._ring.records, self.published
            newest = records[(count - 1) % len(records)] if count else None
            tighten = self.tighten_only
            return self._parameters.change(changes, self._slot, newest, tighten_only=tighten)

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
        return attach(robot)

    def _ended(self, *_: Any) -> NoReturn:
        raise RobotError(f"blackboard: the one of {self.robot} was closed")

    def _one(self, outputs: Any) -> np.ndarray:
        kind = getattr(outputs, "dtype", None)
        if (kind is not layout.OUTPUTS and kind != layout.OUTPUTS) or outputs.size != 1:
            raise RobotError(f"publish: expected one outputs record, got {outputs!r:.100}")
        self._record[0] = outputs
        return self._record

    def _begin(self, params: np.ndarray, config: Config) -> None:
        self._parameters.begin(params, config)
        self._taken, _, _ = self._slot.read()  # compiled or loaded now, not in the loop
        self._counters[memory.TAKEN] = self._taken

    def _sign(self, slots: int) -> None:
        header = self._header[0]
        header["digest"] = memory.DIGEST
        header["pid"] = self._pid
        header["started"] = memory.start_of(self._pid)
        header["robot"] = self.robot
        header["rate"] = self.rate
        header["slots"] = slots
        header["magic"] = memory.MAGIC  # from here on readers see it


@functools.cache
def _compiled() -> tuple[Callable, Callable]:
    """What the loop calls, compiled or loaded now and never again."""
    words, params = np.zeros(16, np.int64), np.zeros(2, layout.PARAMS)
    with announced("the blackboard", seqlock.publish, seqlock.take):
        seqlock.publish(words, words.copy(), np.zeros(2, layout.OUTPUTS), layout.new_outputs())
        seqlock.take(words, params, params.copy(), params.copy())
    return entry_point(seqlock.publish), entry_point(seqlock.take)


def _check(params: np.ndarray) -> None:
    same = params.dtype is layout.PARAMS or params.dtype == layout.PARAMS
    if not same or params.shape != (1,):
        raise RobotError("blackboard: params must be one record, as `packing.pack` makes it")
