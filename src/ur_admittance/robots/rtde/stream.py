"""The newest state in a stream of bytes, and what is done with bytes that make no sense.

A frame is believed if its header is the one that was agreed upon, if what follows it looks like a
frame, too, and if its owner finds the contents plausible. Else it is dropped and counted, and the
reader looks for the next header. Nothing that comes in makes it raise.
"""

from __future__ import annotations

from collections.abc import Callable

from ur_admittance.robots.rtde.protocol import DATA, HEADER, LONGEST_TEXT, TEXT, text_of

ROOM = 1 << 16  # bytes; half a second of states


class Stream:
    """Bytes in, the newest good frame out.

    Attributes:
        space: where the next bytes go, see `took`.
        newest: the contents of the last good data frame, behind the recipe's number.
        bad: frames dropped so far.
        said: the last text message.
    """

    def __init__(self, number: int, size: int, believe: Callable[[memoryview], bool]) -> None:
        """
        Args:
            number: of the recipe.
            size: bytes of its contents.
            believe: says whether the contents of a frame are plausible.
        """
        self.bad, self.said = 0, ""
        self._size = HEADER.size + 1 + size
        self._head = HEADER.pack(self._size, DATA) + bytes([number])
        self._believe = believe
        self._buffer = bytearray(ROOM)
        self._view = memoryview(self._buffer)
        self._end = 0
        self.space = self._view
        self._contents = bytearray(size)
        self.newest = memoryview(self._contents)

    def took(self, count: int) -> int:
        """So many bytes have been written to `space`. Returns how many good states were in them;
        the last is `newest`.
        """
        end = self._end + count
        usual = end == self._size and self._buffer.startswith(self._head)
        if usual and self._keep(0):
            self._leave(0)
            return 1
        return self._search(end)

    def _search(self, end: int) -> int:
        """Frame after frame."""
        at, good = 0, 0
        while end - at >= len(self._head):
            size = self._frame_at(at)
            if not size:
                at = self._lost(at, end)
                continue
            if at + size > end:
                break
            after = at + size
            follows = end - after
            if follows >= len(self._head) and not self._frame_at(after):
                at = self._lost(at, end)
            elif self._buffer[at + 2] == TEXT:
                self.said = text_of(bytes(self._view[at + HEADER.size : after]))
                at = after
            elif self._keep(at):
                good += 1
                at = after
            else:
                at = self._lost(at, end)
        self._buffer[: end - at] = self._buffer[at:end]
        self._leave(end - at)
        return good

    def _frame_at(self, at: int) -> int:
        """The size of the frame that begins there, bytes; 0 if none can."""
        if self._buffer.startswith(self._head, at):
            return self._size
        size, kind = HEADER.unpack_from(self._buffer, at)
        return size if kind == TEXT and HEADER.size + 3 <= size <= LONGEST_TEXT else 0

    def _lost(self, at: int, end: int) -> int:
        """Where the next frame may begin, behind a bad one."""
        self.bad += 1
        found = self._buffer.find(self._head, at + 1, end)
        return found if found >= 0 else max(at + 1, end - len(self._head) + 1)

    def _keep(self, at: int) -> bool:
        contents = self._view[at + len(self._head) : at + self._size]
        if not self._believe(contents):
            return False
        self._contents[:] = contents
        return True

    def _leave(self, left: int) -> None:
        """So many bytes, of a frame that is not yet whole, stay at the front."""
        self._end = left
        self.space = self._view[left:]
