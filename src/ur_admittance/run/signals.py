"""Ctrl-C, SIGTERM and a closed terminal: noted, so that whoever moves an arm can brake it first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from ur_admittance.faults import StopReason

_SAID: dict[int, str] = {
    signal.SIGINT: "Ctrl-C",
    signal.SIGTERM: "SIGTERM",
    signal.SIGHUP: "its terminal was closed",
}


@runtime_checkable
class Asked(Protocol):
    """A handler of signals that keeps those that came."""

    asked: list[int]


class _Note:
    """Keeps them, and does nothing else."""

    def __init__(self, asked: list[int]) -> None:
        self.asked = asked

    def __call__(self, number: int, _: Any) -> None:
        # A closed terminal says it twice, through kernel and shell, and means it once.
        if number != signal.SIGHUP or not self.asked:
            self.asked.append(number)


def interrupted(number: int) -> StopReason:
    """The reason of a run that such a signal ended."""
    return StopReason.of("interrupted", _SAID.get(number, "somebody ended it"))


@contextmanager
def signals() -> Iterator[list[int]]:
    """Collect SIGINT, SIGTERM and SIGHUP instead of dying of them.

    A handler that is replaced may be such a list's own (`Asked`): it goes on.
    """
    handler = signal.getsignal(signal.SIGINT)
    note = _Note(handler.asked if isinstance(handler, Asked) else [])
    kept = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                kept[number] = signal.signal(number, note)
    except ValueError:  # not the main thread: somebody else handles signals
        kept = {}
    try:
        yield note.asked
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
