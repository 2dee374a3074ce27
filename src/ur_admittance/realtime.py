"""What a process can do to be woken in time, and what it was not permitted to do."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MCL_CURRENT, _MCL_FUTURE = 1, 2
_PR_SET_TIMERSLACK = 29


@dataclass(frozen=True)
class RealTime:
    """Wishes; each that the machine does not grant costs a line, not the run.

    Attributes:
        priority: of SCHED_FIFO, 1 to 99; 0 leaves the scheduler as it is.
        cpu: core to stay on; None for any.
        lock_memory: keep all pages in memory.
        awake: keep all cores of the machine from falling asleep: less late, and warmer.
        spin: wait actively for the last 300 us before a deadline: less late, and that share of a
            core busy.
    """

    priority: int = 50
    cpu: int | None = None
    lock_memory: bool = True
    awake: bool = True
    spin: bool = False


SPIN_SECONDS = 300e-6
_LATENCY = "/dev/cpu_dma_latency"  # its wish lasts as long as it is open
_wish: list[int] = []  # that file, while it is


def prepare(wishes: RealTime) -> list[str]:
    """Make this process as punctual as it may be. Returns one line for each wish not granted."""
    refused = []
    # Whatever lives now lives for ever: the collector need not look at it again, nor run at all.
    gc.collect()
    gc.freeze()
    gc.disable()
    sys.setswitchinterval(1e-4)
    _slack(1)  # ns by which the system may wake this process late, to save power
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
    if wishes.lock_memory:
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "mlockall") or libc.mlockall(_MCL_CURRENT | _MCL_FUTURE):
            words = os.strerror(ctypes.get_errno())
            refused.append(f"memory not locked ({words}); allow it with 'ulimit -l unlimited'")
    if wishes.awake and (words := keep_awake()):
        refused.append(words)
    return refused


def keep_awake() -> str:
    """Keep all cores of the machine from falling asleep, until `let_sleep` or the end of this
    process. Returns why not, in words; "" if they are kept awake.
    """
    if _wish:
        return ""
    try:
        file = os.open(_LATENCY, os.O_WRONLY)
        _wish.append(file)
        os.write(file, bytes(4))  # us that a core may take to wake: 0
    except OSError as error:
        return f"cores may fall asleep ({error}); allow this user to write to {_LATENCY}"
    return ""


def let_sleep() -> None:
    """Take back what `keep_awake` did."""
    while _wish:
        os.close(_wish.pop())


def _slack(nanoseconds: int) -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0)


def restore() -> None:
    """Take back what `prepare` did to interpreter, scheduler and cores."""
    _slack(0)  # the default
    let_sleep()
    gc.enable()
    gc.unfreeze()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "munlockall"):
        libc.munlockall()
    try:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except (OSError, AttributeError):
        return


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

    def __init__(self, now: Callable[[], float], speed: float) -> None:
        """
        Args:
            now: the simulated time, s.
            speed: above 0.
        """
        self._now, self._speed = now, speed
        self._start = time.monotonic() - now() / speed

    def __call__(self, *_: Any) -> None:
        due = self._start + self._now() / self._speed
        behind = time.monotonic() - due
        if behind > 0.1:
            self._start += behind
        sleep_until(due, spin=False)
