"""A note in shared memory: a few texts that one process leaves and others read whole.

A counter and a record of bytes; the counter is odd while the record is being written. Whoever waits
for a note compares one word and reads on only if it has changed. Nobody takes a lock; where there
are several writers, they take one among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ur_admittance.blackboard.seqlock import load, still, store

COUNT = 0  # word: notes begun and done


class Note:
    """The note as either side has it.

    Attributes:
        words: the counter is among them.
    """

    def __init__(self, words: np.ndarray, record: np.ndarray) -> None:
        """
        Args:
            words: eight bytes each.
            record: an array of one, with a field of bytes for each text.
        """
        self.words, self._record = words, record
        still(words, COUNT, load(words, COUNT))  # compiled or loaded now, not in the loop

    def write(self, texts: Iterable[str]) -> None:
        """Replace the note; a text that is too long for its field is cut."""
        count = load(self.words, COUNT) | 1  # odd already where a writer died half way
        store(self.words, COUNT, count)
        self._record[0] = tuple(text.encode() for text in texts)
        store(self.words, COUNT, count + 1)

    def read(self) -> tuple[int, tuple[str, ...]] | None:
        """Its number, 0 before the first, and a copy; None while it is being written."""
        count = load(self.words, COUNT)
        fields: tuple[bytes, ...] = self._record[0].item()
        if count & 1 or not still(self.words, COUNT, count):
            return None
        return count, tuple(field.decode(errors="ignore") for field in fields)
