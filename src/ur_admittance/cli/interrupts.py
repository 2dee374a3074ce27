"""Ctrl-C while a verb has not begun to move anything: it ends, and nothing starts after all."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 128 + signal.SIGINT  # exit code, as shells have it


class Remembered:
    """A handler of SIGINT that raises KeyboardInterrupt, and does not forget.

    A library may swallow the exception: a compiler in one of its callbacks, say. `signals`
    takes `asked` over from the handler it replaces, so the arm does not start even then. A second
    Ctrl-C ends the process at once.
    """

    def __init__(self) -> None:
        self.asked: list[int] = []  # signals so far

    def __call__(self, number: int, _: Any) -> None:
        self.asked.append(number)
        if len(self.asked) > 1:
            os.write(2, b"interrupted\n")
            os._exit(INTERRUPTED)
        raise KeyboardInterrupt


@contextmanager
def remembered() -> Iterator[None]:
    """Handle SIGINT so, as long as this lasts."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:  # started in the background
        yield
        return
    signal.signal(signal.SIGINT, Remembered())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
