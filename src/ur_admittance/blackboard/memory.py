"""The memory behind the blackboard: one file in RAM for each robot, its layout, and its owner."""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ur_admittance.blackboard.note import Note
from ur_admittance.blackboard.requests import REQUEST, Requests
from ur_admittance.blackboard.seqlock import DEPTH, PUBLISHED
from ur_admittance.blackboard.slot import SIZES, TEXT_BYTES, Slot
from ur_admittance.errors import RobotError
from ur_admittance.kernel import layout

MAGIC = b"ur-adm-1"
LOCK_SECONDS = 2.0
SUFFIX = ".board"

HEADER = np.dtype(
    [
        ("magic", "S8"),  # written last; another one if this header ever changes
        ("digest", "S16"),  # of everything behind the header
        ("pid", np.int64),
        ("started", np.int64),  # of the process, in clock ticks since boot
        ("ended", np.int64),  # 1: closed by its owner
        ("robot", "S64"),
        ("rate", np.float64),  # Hz
        ("slots", np.int64),  # of the ring
    ]
)
TAKEN = PUBLISHED + 8  # word of the owner, in a cache line of its own: changes it has taken
TIGHTEN = TAKEN + 1  # likewise: 1 while nothing may be loosened
SENT = TAKEN + 8  # likewise, in the next line: commands sent, then the last, six numbers
_WORDS = SENT + 8
REASON = np.dtype([("code", "S32"), ("text", "S2496"), ("advice", "S1024")])  # of a stop

_LINE = 64
_COUNTERS = 1024  # byte offset in the first page
_PAGE = max(mmap.ALLOCATIONGRANULARITY, 4096)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,63}")


def _up(size: int, step: int) -> int:
    return -(-size // step) * step


_RECORDS = _up(8 * (SIZES + DEPTH), _LINE)
_TEXTS = _RECORDS + _up((DEPTH + 1) * layout.PARAMS.itemsize, _LINE)
SLOT_OFFSET = _PAGE
SLOT_BYTES = _up(_TEXTS + DEPTH * TEXT_BYTES, _PAGE)
REQUESTS_OFFSET = SLOT_OFFSET + SLOT_BYTES
REQUESTS_BYTES = _PAGE
_REASON = REQUESTS_OFFSET + REQUESTS_BYTES
_RING = _REASON + _PAGE

DIGEST = hashlib.sha256(
    repr(
        (HEADER, TEXT_BYTES, DEPTH, _PAGE, _RING, REQUEST, REASON, layout.PARAMS, layout.OUTPUTS)
    ).encode()
).hexdigest()[:16]


# --- where it lies ---


def folder() -> Path:
    """Where the blocks of this user lie: in RAM, closed to others.

    `UR_ADMITTANCE_RUNTIME` chooses another place.
    """
    chosen = os.environ.get("UR_ADMITTANCE_RUNTIME")
    if chosen:
        place = Path(chosen)
    else:
        ram = Path("/dev/shm")
        base = (
            ram
            if ram.is_dir()
            else Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
        )
        place = base / f"ur-admittance-{os.geteuid()}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError as error:
        raise RobotError(
            f"blackboard: cannot make the folder {place}: {error.strerror}; set "
            "UR_ADMITTANCE_RUNTIME to a folder of your own, best in RAM"
        ) from None
    others = stat.S_IWGRP | stat.S_IWOTH
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & others:
        raise RobotError(
            f"blackboard: {place} must be a folder of user {os.geteuid()} that nobody else can "
            "write to; remove it, or set UR_ADMITTANCE_RUNTIME to another one"
        )
    return place


def path_of(robot: str) -> Path:
    """The file of a robot's block. Any name leads to a file of that one folder, or is refused."""
    if not isinstance(robot, str) or not _NAME.fullmatch(robot) or ".." in robot:
        raise RobotError(
            f"blackboard: robot name {robot!r:.100} is not usable; give up to 64 letters, digits "
            "or . _ : / @ -, a letter or digit first, no '..', such as 'rtde://192.168.1.10'"
        )
    return folder() / (quote(robot, safe="") + SUFFIX)


@contextmanager
def locked(fd: int, what: str) -> Iterator[None]:
    """Hold the file's lock. The kernel frees it when its holder dies; a holder that hangs makes
    others give up, never wait for ever. The control loop takes no lock.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise RobotError(
                    f"{what}: another process has been busy with the same for {LOCK_SECONDS:g} s; "
                    "nothing was changed, end that process or try again"
                ) from None
            time.sleep(0.002)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """A file of blocks, open as long as the block lasts; never by way of a link."""
    fd = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


# --- whose it is ---


@dataclass(frozen=True)
class Running:
    """A control process and its robot."""

    robot: str
    pid: int
    command: str
    since: datetime  # local time at which the process began
    rate: float  # Hz

    def __str__(self) -> str:
        return f"{self.robot} (process {self.pid}, {self.command}, since {self.since:%F %T})"


def start_of(pid: int) -> int | None:
    """When a process began, in clock ticks since boot; None if it is gone. With the pid this names
    a process for good: pids come back, start times do not.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, UnicodeDecodeError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZXx" else int(fields[19])


def command_of(pid: int) -> str:
    """How a process was called, on one line and fit to print."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return ""
    text = " ".join(word.decode(errors="replace") for word in words)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 120 else text[:117] + "..."


def read_header(fd: int) -> Any:
    """The header of a block, or None if the file is not one, or is not ready yet."""
    data = os.pread(fd, HEADER.itemsize, 0)
    if len(data) < HEADER.itemsize or not data.startswith(MAGIC):
        return None
    return np.frombuffer(data, HEADER)[0]


def owner_lives(header: Any) -> bool:
    """Whether the process that made a block is there and has not closed it."""
    return not header["ended"] and start_of(int(header["pid"])) == int(header["started"])


def running_of(header: Any) -> Running:
    """Who the header says controls what, and for how long already."""
    pid = int(header["pid"])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - header["started"] / os.sysconf("SC_CLK_TCK")
    return Running(
        header["robot"].decode(errors="replace"),
        pid,
        command_of(pid),
        datetime.now() - timedelta(seconds=float(age)),
        float(header["rate"]),
    )


def header_of(path: Path) -> Any:
    """The header of the block in a file, or None."""
    try:
        with opened(path, os.O_RDONLY) as fd:
            return read_header(fd)
    except OSError:
        return None


def clear(path: Path, robot: str) -> None:
    """Remove what a dead process left; refuse if the process lives. Under the folder's lock."""
    if not os.path.lexists(path):
        return
    header = header_of(path)
    if header is not None and owner_lives(header):
        raise RobotError(
            f"blackboard: {robot} already has a controller: {running_of(header)}; end that one "
            "first, two must not move one arm"
        )
    path.unlink()


# --- what is in it ---


class Ring(NamedTuple):
    """The last records, and the number of each place: 2k + 1 while record k is being written into
    it, 2k + 2 from then on.
    """

    numbers: np.ndarray
    records: np.ndarray


def reserve(fd: int, size: int) -> mmap.mmap:
    """Map a file whose memory is all there, so that no write of the loop can ever fail or fault."""
    try:
        os.posix_fallocate(fd, 0, size)
        return mmap.mmap(fd, size, mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
    except OSError as error:
        raise RobotError(
            f"blackboard: cannot reserve {size / 1e6:.1f} MB in {folder()}: "
            f"{error.strerror}; make room there, or set UR_ADMITTANCE_RUNTIME to another folder"
        ) from None


def block_bytes(slots: int) -> int:
    """The size of a block with so many places for records."""
    return _RING + _up(8 * slots, _LINE) + _up(slots * layout.OUTPUTS.itemsize, _LINE)


def places(slots: int) -> dict[str, int]:
    """Where in the file, bytes, a process that has none of this code finds what it may want: the
    counts of records and of commands sent, the last command, the records; how many places for them
    there are, and how big one is.
    """
    records = _RING + _up(8 * slots, _LINE)
    size = layout.OUTPUTS.itemsize
    words = {"published": PUBLISHED, "sent": SENT, "command": SENT + 1}
    at = {name: _COUNTERS + 8 * word for name, word in words.items()}
    return {**at, "records": records, "slots": slots, "size": size}


def header_in(block: mmap.mmap) -> np.ndarray:
    """The header, in the mapped block."""
    return np.frombuffer(block, HEADER, 1)


def counters_in(block: mmap.mmap) -> np.ndarray:
    """The counters, likewise."""
    return np.frombuffer(block, np.int64, _WORDS, _COUNTERS)


def slot_in(block: mmap.mmap, offset: int = SLOT_OFFSET) -> Slot:
    """The slot of the parameters, likewise."""
    texts = np.frombuffer(block, np.uint8, DEPTH * TEXT_BYTES, offset + _TEXTS)
    return Slot(
        np.frombuffer(block, np.int64, _RECORDS // 8, offset),
        np.frombuffer(block, layout.PARAMS, DEPTH + 1, offset + _RECORDS),
        texts.reshape(DEPTH, TEXT_BYTES),
    )


def requests_in(block: mmap.mmap, offset: int = REQUESTS_OFFSET) -> Requests:
    """The slot of what is asked of the loop, likewise."""
    return Requests(
        np.frombuffer(block, np.int64, _LINE // 8, offset),
        np.frombuffer(block, REQUEST, 1, offset + _LINE),
    )


def reason_in(block: mmap.mmap) -> Note:
    """The note of why the run was stopped, likewise."""
    return Note(
        np.frombuffer(block, np.int64, _LINE // 8, _REASON),
        np.frombuffer(block, REASON, 1, _REASON + _LINE),
    )


def ring_in(block: mmap.mmap, slots: int) -> Ring:
    """The ring of records, likewise."""
    return Ring(
        np.frombuffer(block, np.int64, slots, _RING),
        np.frombuffer(block, layout.OUTPUTS, slots, _RING + _up(8 * slots, _LINE)),
    )
