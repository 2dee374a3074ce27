"""What a process can do to be woken in time, and what it was not permitted to do."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from ur_admittance.realtime import memory

_PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 29, 30
_LINUX = hasattr(os, "sched_setscheduler")


@dataclass(frozen=True)
class RealTime:
    """Wishes; each that the machine does not grant costs a line, not the run.

    Attributes:
        priority: of SCHED_FIFO, 1 to 99; 0 leaves the scheduler as it is.
        cpu: core to stay on; None for any.
        lock_memory: keep in memory what the loop may touch.
        awake: keep all cores of the machine from falling asleep: less late, and warmer.
        spin: wait actively for the last 300 us before a deadline: less late, and that share of a
            core busy.
        strict: refuse to start unless all of it is granted.
    """

    priority: int = 50
    cpu: int | None = None
    lock_memory: bool = True
    awake: bool = True
    spin: bool = False
    strict: bool = False


SPIN_SECONDS = 300e-6
_NAP = 0.05  # s, the longest sleep during which a signal goes unseen
_LATENCY = "/dev/cpu_dma_latency"  # its wish lasts as long as it is open
_wish: list[int] = []  # that file, while it is


class _Before:
    """What `prepare` is about to change, as it was."""

    def __init__(self) -> None:
        self.collecting, self.frozen = gc.isenabled(), gc.get_freeze_count() > 0
        self.switch_interval = sys.getswitchinterval()
        self.slack = _prctl(_PR_GET_TIMERSLACK)
        self.locked, self.awake = memory.Locked(), bool(_wish)
        if _LINUX:
            self.policy, self.parameters = os.sched_getscheduler(0), os.sched_getparam(0)
            self.cores = os.sched_getaffinity(0)

    def restore(self) -> None:
        """Put it all back; one that fails leaves none of the others out."""
        with ExitStack() as after:
            after.callback(self._collect_again)
            # it is cut to whole microseconds
            after.callback(sys.setswitchinterval, self.switch_interval + 0.5e-6)
            if not self.awake:
                after.callback(let_sleep)
            after.callback(self.locked.restore)
            if self.slack >= 0:
                after.callback(_prctl, _PR_SET_TIMERSLACK, self.slack)
            if _LINUX:
                with suppress(OSError):  # cores that were taken from this process stay so
                    os.sched_setaffinity(0, self.cores)
                # A priority higher than this process may ask for by now stays lowered.
                with suppress(OSError):
                    os.sched_setscheduler(0, self.policy, self.parameters)

    def _collect_again(self) -> None:
        if not self.frozen:
            gc.unfreeze()
        if self.collecting:
            gc.enable()


_before: list[_Before] = []  # none, or what the first `prepare` found


def prepare(wishes: RealTime) -> list[str]:
    """Make this process as punctual as it may be, until `restore`. Returns one line for each wish
    not granted.
    """
    if not _before:
        _before.append(_Before())
    refused = []
    # Whatever lives now lives for ever: the collector need not look at it again, nor run at all.
    gc.collect()
    if not _before[0].frozen:
        gc.freeze()
    gc.disable()
    sys.setswitchinterval(1e-4)
    _prctl(_PR_SET_TIMERSLACK, 1)  # ns by which the system may wake this process late
    if wishes.priority > 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(wishes.priority))
        except (OSError, AttributeError) as error:
            refused.append(
                f"no real-time priority ({error}); allow it with 'ulimit -r {wishes.priority}' or "
                "the rtprio line of /etc/security/limits.conf"
            )
    if wishes.cpu is not None:
        try:
            os.sched_setaffinity(0, {wishes.cpu})
        except (OSError, AttributeError, ValueError) as error:
            refused.append(f"not bound to core {wishes.cpu} ({error})")
    if wishes.lock_memory and (words := memory.lock()):
        refused.append(f"memory not locked ({words}); allow it with 'ulimit -l unlimited'")
    if wishes.awake and (words := keep_awake()):
        refused.append(words)
    return refused


def restore() -> None:
    """Take back all that was done since the first `prepare`. Without one, nothing happens."""
    if _before:
        _before.pop().restore()


def keep_awake() -> str:
    """Keep all cores of the machine from falling asleep, until `let_sleep` or the end of this
    process. Returns why not, in words; "" if they are kept awake.
    """
    if _wish:
        return ""
    try:
        file = os.open(_LATENCY, os.O_WRONLY)
        try:
            os.write(file, bytes(4))  # us that a core may take to wake: 0
        except OSError:
            os.close(file)
            raise
        _wish.append(file)
    except OSError as error:
        return f"cores may fall asleep ({error}); allow this user to write to {_LATENCY}"
    return ""


def let_sleep() -> None:
    """Take back what `keep_awake` did."""
    while _wish:
        os.close(_wish.pop())


def _prctl(what: int, value: int = 0) -> int:
    libc = ctypes.CDLL(None)
    return libc.prctl(what, value, 0, 0, 0) if hasattr(libc, "prctl") else -1


def sleep_until(deadline: float, spin: bool) -> None:
    """Return at `deadline`, s on the monotonic clock; at once if it has passed."""
    left = deadline - time.monotonic()
    if spin:
        if left > SPIN_SECONDS:
            time.sleep(left - SPIN_SECONDS)
        while time.monotonic() < deadline:
            pass
    elif left > 0.0:
        time.sleep(left)


class Deadlines:
    """The clock of a robot that has none: deadlines one period apart, each fixed by the first, so
    that lateness does not add up. One that has passed is skipped and counted, never made up for.

    Attributes:
        missed: deadlines skipped so far.
    """

    def __init__(self, period: float, spin: bool = False) -> None:
        """
        Args:
            period: s.
            spin: see `RealTime`.
        """
        self.missed = 0
        self._period, self._spin = period, spin
        self._next = time.monotonic() + period

    def wait(self) -> float:
        """Return at the next deadline, or at once for the newest that has passed. Returns which,
        s on the monotonic clock.
        """
        late = time.monotonic() - self._next
        if late >= self._period:
            skipped = int(late / self._period)
            self._next += skipped * self._period
            self.missed += skipped
        sleep_until(self._next, self._spin)
        reached = self._next
        self._next += self._period
        return reached


class Pace:
    """Lets a simulated time pass `speed` times as fast as the clock: call it after every tick.

    That time cannot be late. Where the machine is too slow, it passes more slowly.
    """

    def __init__(self, now: Callable[[], float], speed: float, asked: Sequence[int] = ()) -> None:
        """
        Args:
            now: the simulated time, s.
            speed: above 0.
            asked: as soon as it is not empty, time passes as fast as it can: what `signals`
                collects, so that the end does not take as long as the motion.
        """
        self._now, self._speed, self._asked = now, speed, asked
        self._start = time.monotonic() - now() / speed

    def __call__(self, *_: Any) -> None:
        due = self._start + self._now() / self._speed
        behind = time.monotonic() - due
        if behind > 0.1:
            self._start += behind
        while not self._asked and due - time.monotonic() > _NAP:
            time.sleep(_NAP)
        if not self._asked:
            sleep_until(due, spin=False)
