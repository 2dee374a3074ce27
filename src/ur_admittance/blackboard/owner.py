"""The owner's side of the blackboard: the control process, which publishes and takes parameters."""

from __future__ import annotations

import fcntl
import functools
import math
import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import numpy as np

from ur_admittance.blackboard import memory, seqlock
from ur_admittance.blackboard.reader import Reader, attach, reason_of
from ur_admittance.blackboard.requests import Request
from ur_admittance.config import Config
from ur_admittance.config.tighter import SHARES
from ur_admittance.config.validate import within
from ur_admittance.controller import Change, LiveParameters
from ur_admittance.controller.live import written
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
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
        self._reason = memory.reason_in(block)
        self._ring = memory.ring_in(block, slots)
        self._record = layout.new_outputs()
        self._spare = layout.new_params()
        self._changes = self._slot.words.data  # read every tick: NumPy takes longer
        self._taken = 0
        self._targets = (self._counters, *self._ring)
        self._ring.records.view(np.uint8)[:] = 0  # every page is there before the loop writes
        self._publish, self._take = _compiled()

    @classmethod
    def create(cls, robot: str, rate: float, live: LiveParameters) -> Blackboard:
        """Make the block of a robot, and with it the right to control the robot.

        What a process left behind that no longer exists is taken over.

        Args:
            robot: the robot's address, such as 'sim' or 'rtde://192.168.1.10'.
            rate: ticks each second, Hz. The ring holds 16 s of them.
            live: the parameters to show, `controller.live`.

        Raises:
            RobotError: another process controls this robot; the message names it.
        """
        path = memory.path_of(robot)
        rate = within("blackboard: rate", rate, 1.0, 10000.0, "Hz")
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
                    board._begin(live)
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

    def take_params(self, live: LiveParameters) -> bool:
        """Between two ticks: copy a change of parameters into the loop's own record, if there is
        one. The record's `generation` then is the number of the change, which tells the tick.
        """
        if self._changes[seqlock.CHANGES] == self._taken:
            return False
        count = self._take(self._slot.words, self._slot.params, self._spare, live.record)
        if count < 0:  # overwritten during the copy: the next tick takes a later one
            return False
        text = self._slot.find(count)
        if text is None:
            return False
        live.taken(text, self)
        self._taken = count
        self._counters[memory.TAKEN] = count
        return True

    def drive(self, live: LiveParameters) -> None:
        """Go on with the parameters of another controller of the same arm: whatever was changed
        here holds for them, too, and they are seen and changed here from now on.
        """
        with self._alone():
            live.become(self._slot.config(), seqlock.load(self._slot.words, seqlock.CHANGES) + 1)
            self._slot.write(live.record, written(live.config))
        live.share(self)
        self.take_params(live)

    def request(self) -> Request | None:
        """Between two ticks: what another process has asked for since the last look; None if
        nothing.
        """
        return self._requests.take()

    @property
    def reason(self) -> StopReason | None:
        """Why the run was stopped, for readers; None while it goes on. The loop says it."""
        return reason_of(self._reason)

    @reason.setter
    def reason(self, reason: StopReason | None) -> None:
        self._reason.write(reason or ("", "", ""))

    @property
    def published(self) -> int:
        """How many records there have been."""
        return int(self._counters[seqlock.PUBLISHED])

    @property
    def tighten_only(self) -> bool:
        """Whether parameters may only be changed to what is more careful, by `set` here and in
        readers. Gains are held near those there were when it was set.
        """
        return bool(self._counters[memory.TIGHTEN])

    @tighten_only.setter
    def tighten_only(self, value: bool) -> None:
        if value and not self.tighten_only:
            with self._alone():  # what is being sent comes before, or is held to the rule
                self._slot.began[:] = self._slot.read()[1]
                self._counters[memory.TIGHTEN] = 1
        self._counters[memory.TIGHTEN] = int(value)

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._block is None

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
        return self._slot.config()

    def set(self, changes: Mapping[str, Any]) -> Change:
        """Change parameters as `Reader.set` does, for somebody outside, from the control process
        itself, between two ticks: it takes half a millisecond, and does not wait for other senders.

        Raises:
            ConfigError: see `Reader.set`.
            RobotError: another process is sending parameters at this moment.
        """
        records, count = self._ring.records, self.published
        newest = records[(count - 1) % len(records)] if count else None
        return self.change(changes, newest, guarded=self.tighten_only)

    def change(
        self, changes: Mapping[str, Any], newest: np.record | None, *, guarded: bool
    ) -> Change:
        """The same, for whom it is `guarded`. What the process itself wants is not: then the gains
        that it changes are held near the new ones.
        """
        with self._sending():
            before = self._slot.read()[1]
            change = self._slot.change(changes, newest, guarded=guarded)
            if not guarded:
                now, began = self._slot.read()[1], self._slot.began
                for name in SHARES:
                    if not np.array_equal(before[name], now[name]):
                        began[name] = now[name]
        return change

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

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """With the lock of all senders, at once or not at all."""
        with memory.opened(memory.path_of(self.robot), os.O_RDWR) as fd:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RobotError(
                    "set: another process is changing parameters; nothing was changed, try again"
                ) from None
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Likewise, outside the loop: it waits for a sender, for two seconds at most."""
        with (
            memory.opened(memory.path_of(self.robot), os.O_RDWR) as fd,
            memory.locked(fd, f"blackboard: beginning with {self.robot}"),
        ):
            yield

    def _begin(self, live: LiveParameters) -> None:
        self._slot.begin(live.record, live.config)
        self._taken, _, _ = self._slot.read()  # compiled or loaded now, not in the loop
        self._counters[memory.TAKEN] = self._taken
        live.share(self)

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
