"""Memory that stays: what the loop may touch is locked, what it never calls is given back.

`mlockall` alone also brings in all that libraries map and nobody uses: the whole of LLVM and BLAS,
and the stacks and buffers of their threads, twice what is in use. So pages are locked as they are
touched (`MCL_ONFAULT`), code is brought in whole, and LLVM and BLAS, which compile and decompose
but never tick, are left out.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from typing import NamedTuple

LEFT_OUT = ("libllvmlite", "openblas", "libgfortran")
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
_MAPS, _STATUS = "/proc/self/smaps", "/proc/self/status"


class Mapping(NamedTuple):
    """A stretch of this process's address space, bytes."""

    start: int
    size: int
    writable: bool
    readable: bool
    file: str  # "" if there is none
    changed: int  # bytes that differ from the file, or have none
    locked: bool

    @property
    def needed(self) -> bool:
        """Whether the loop may run code or read data there."""
        return not any(name in self.file.rpartition("/")[2] for name in LEFT_OUT)


def lock() -> str:
    """Keep in memory what the loop may touch. Returns why not, in words; "" if it is kept."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "mlockall"):
        return "no such call on this system"
    everything = _MCL_CURRENT | _MCL_FUTURE
    if libc.mlockall(everything | _MCL_ONFAULT):
        # Linux before 4.4 does not know the last word
        return os.strerror(ctypes.get_errno()) if libc.mlockall(everything) else ""
    for mapping in mappings():
        place = ctypes.c_void_p(mapping.start), ctypes.c_size_t(mapping.size)
        if not mapping.needed:
            libc.munlock(*place)
            if not (mapping.writable or mapping.changed):  # as in the file: read again when needed
                libc.madvise(*place, mmap.MADV_DONTNEED)
        elif mapping.file and mapping.readable:
            libc.mlock(*place)  # a file that was cut short meanwhile is no reason not to run
    return ""


class Locked:
    """What of this process's memory is locked, to go back to it."""

    def __init__(self) -> None:
        with mmap.mmap(-1, mmap.PAGESIZE) as page:  # locked, if all that comes is
            address = ctypes.addressof(probe := ctypes.c_char.from_buffer(page))
            found = [(m.start, m.size) for m in mappings() if m.locked]
            self._everything = any(start <= address < start + size for start, size in found)
            del probe
        self._found = found

    def restore(self) -> None:
        """Take back what `lock` did since."""
        libc = ctypes.CDLL(None)
        if self._everything or not hasattr(libc, "munlockall"):
            return
        libc.munlockall()
        for start, size in self._found:
            libc.mlock(ctypes.c_void_p(start), ctypes.c_size_t(size))


def locked_bytes() -> int:
    """How much of this process's address space is locked; 0 where the system does not say."""
    try:
        with open(_STATUS) as file:
            return next((1024 * int(s.split()[1]) for s in file if s.startswith("VmLck:")), 0)
    except OSError:
        return 0


def mappings() -> Iterator[Mapping]:
    """All of this process; none where the system does not say."""
    try:
        with open(_MAPS) as file:
            lines = file.read().splitlines()
    except OSError:
        return
    place, rights, name, changed = "", "", "", 0
    for line in lines:
        first, *rest = line.split(maxsplit=5)
        if not first.endswith(":"):  # 7f00-7f10 r-xp offset device inode path
            place, rights, name = first, rest[0], rest[4] if len(rest) > 4 else ""
        elif first == "Anonymous:":
            changed = 1024 * int(rest[0])
        elif first == "VmFlags:":  # the last of each
            start, end = (int(number, 16) for number in place.split("-"))
            path, locked = name if name.startswith("/") else "", "lo" in line.split()
            writable, readable = "w" in rights, "r" in rights
            yield Mapping(start, end - start, writable, readable, path, changed, locked)
