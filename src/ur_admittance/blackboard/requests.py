"""What other processes ask of the loop: one slot, which it looks at between two ticks.

A counter and a text; the counter is odd while the text is being written. The loop compares one word
and reads on only if it has changed. It takes no lock; the askers take one among themselves.
"""

from __future__ import annotations

import numpy as np

from ur_admittance.blackboard.seqlock import load, still, store

COUNT, SIZE = 0, 1  # words: requests begun and done; bytes of the text
STOP = "stop"  # brake to rest, and end the run


class Requests:
    """The slot as either side has it."""

    def __init__(self, words: np.ndarray, text: np.ndarray) -> None:
        self._words, self._text = words, text
        self._count = words.data  # read every tick: NumPy takes longer
        self._seen = load(words, COUNT)
        still(words, COUNT, self._seen)  # compiled or loaded now, not in the loop

    def ask(self, what: str) -> None:
        """Put a request in the place of the last one. The caller holds the lock of all askers."""
        data = np.frombuffer(what.encode()[: len(self._text)], np.uint8)
        count = load(self._words, COUNT) | 1  # odd already where an asker died half way
        store(self._words, COUNT, count)
        self._text[: len(data)] = data
        self._words[SIZE] = len(data)
        store(self._words, COUNT, count + 1)

    def take(self) -> str:
        """What was asked since the last look, such as 'stop: why'; "" if nothing was."""
        if self._count[COUNT] == self._seen:
            return ""
        count = load(self._words, COUNT)
        size = min(max(int(self._words[SIZE]), 0), len(self._text))
        text = self._text[:size].tobytes()
        if count & 1 or not still(self._words, COUNT, count):  # being written: at the next look
            return ""
        self._seen = count
        return text.decode(errors="replace")
