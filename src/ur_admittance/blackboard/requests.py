"""What other processes ask of the loop: one note, which it looks at between two ticks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ur_admittance.blackboard.note import COUNT, Note
from ur_admittance.blackboard.seqlock import load

STOP = "stop"  # brake to rest, and end the run
REQUEST = np.dtype([("kind", "S16"), ("text", "S496")])


class Request(NamedTuple):
    """What is asked for.

    Attributes:
        kind: such as `STOP`.
        text: why, in the asker's words.
    """

    kind: str
    text: str


class Requests:
    """The note as either side has it."""

    def __init__(self, words: np.ndarray, record: np.ndarray) -> None:
        self._note = Note(words, record)
        self._count = words.data  # read every tick: NumPy takes longer
        self._seen = load(words, COUNT)

    def ask(self, request: Request) -> None:
        """Put a request in the place of the last one. The caller holds the lock of all askers."""
        self._note.write(request)

    def take(self) -> Request | None:
        """What was asked since the last look; None if nothing was."""
        if self._count[COUNT] == self._seen or (found := self._note.read()) is None:
            return None
        self._seen, texts = found
        return Request(*texts)
