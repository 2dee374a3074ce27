"""Where one script ends and the next begins, in what comes on a socket."""

from __future__ import annotations

import re

SCRIPT_BYTES = 1 << 20  # a longer script is refused

_IGNORED = re.compile(r'#.*|"[^"\n]*"' r"|'[^'\n]*'")
_WORDS = re.compile(r"\b(?:def|sec|thread|while|for|if|end)\b")
_OPENS = re.compile(r"^\s*(?:def|sec|thread)\b")


class Scripts:
    """Cuts a stream of text into programs: `def` (or `sec`) to its `end`, or one line outside.

    A controller takes a program when it is whole, however many packets it came in.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self._size = 0

    @property
    def waiting(self) -> int:
        """Characters of a program that is not yet whole."""
        return self._size

    def feed(self, inbox: bytearray, *, last: bool = False) -> list[str]:
        """Take whole lines from the front of what came. Returns the programs they complete.

        Args:
            inbox: bytes; an unfinished line stays there, unless it is the last.
            last: no more will come.
        """
        end = len(inbox) if last else inbox.rfind(b"\n") + 1
        if not end:
            return []
        came = bytes(inbox[:end]).decode("utf-8", "replace").replace("\r\n", "\n")
        del inbox[:end]
        done = []
        for line in came.removesuffix("\n").split("\n"):
            bare = _IGNORED.sub(" ", line)
            if not self._depth and not bare.strip():
                continue
            self._lines.append(line)
            self._size += len(line) + 1
            if self._depth or _OPENS.match(bare):
                words = _WORDS.findall(bare)
                self._depth += len(words) - 2 * words.count("end")
            if self._depth <= 0:
                done.append(self._take())
        if last and self._lines:
            done.append(self._take())
        return done

    def _take(self) -> str:
        whole = "\n".join(self._lines) + "\n"
        self._lines, self._depth, self._size = [], 0, 0
        return whole
