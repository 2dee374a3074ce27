"""What is kept and said when a link of a chain fails."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np

from ur_admittance.faults import StopReason

_LOG = logging.getLogger("ur_admittance.chain")
RECOVER = (
    "When the arm stands, manager.recover() starts them again from there; "
    "manager.recover(without=[...]) leaves links out"
)
_THROTTLE = 1.0  # s between two lines about the same link


@dataclass(frozen=True)
class Failure:
    """What failed, and the last two seconds before."""

    link: str  # the one that failed; empty if a stop was asked for
    why: str  # what it raised or returned, in words
    error: Exception | None  # the exception with its traceback, if there was one
    time: float  # s since the manager was activated
    # the links that are over, or bring themselves to rest, in the order of the chain
    stopped: tuple[str, ...]
    names: tuple[str, ...]  # of the columns of `trace`
    trace: np.ndarray  # all interfaces of the last two seconds, one row a cycle, oldest first
    asked: StopReason | None = None  # what `stop()` was given; None if a link failed

    @property
    def reason(self) -> StopReason:
        """Why the chain was stopped."""
        text = f"link {self.link!r} failed at {self.time:.3f} s: {self.why}"
        return self.asked or StopReason.of("error", text, RECOVER)

    @property
    def words(self) -> str:
        """What happened, and how to recover."""
        begin = self.reason.text if self.link else f"stop asked for: {self.why}"
        links = ", ".join(self.stopped)
        return f"{begin}. Stopped: {links}; what they command brakes to rest and holds. {RECOVER}"


class Speaker:
    """Writes failures to the log, at most one line a second for each link.

    A log may block (a terminal that is stopped, a full disk), so nothing is said while the arm
    moves.
    """

    def __init__(self) -> None:
        self._waiting: list[Failure] = []
        self._said: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def note(self, failure: Failure) -> None:
        """Keep a failure until it may be said."""
        self._waiting.append(failure)

    def speak(self) -> None:
        """Say what waits; only to be called with the arm at rest."""
        waiting, self._waiting = self._waiting, []
        for failure in waiting:
            now = time.monotonic()
            if now - self._said.get(failure.link, -np.inf) < _THROTTLE:
                self._left_out[failure.link] = self._left_out.get(failure.link, 0) + 1
                continue
            self._said[failure.link] = now
            more = self._left_out.pop(failure.link, 0)
            _LOG.error("%s%s", failure.words, f" ({more} more were not logged)" if more else "")

    @property
    def silent(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting
