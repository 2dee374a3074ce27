"""Robot messages of the primary interface as bytes: version, text, error, key, popup, exception."""

from __future__ import annotations

import struct

ROBOT_STATE, ROBOT_MESSAGE = 16, 20
TEXT, PROGRAM_LABEL, POPUP, VERSION, SAFETY_MODE, ERROR_CODE, KEY = 0, 1, 2, 3, 5, 6, 7
RUNTIME_EXCEPTION = 10
CONTROLLER, RTMACHINE = 7, 5  # who says it
DEBUG, INFO, WARNING, VIOLATION, FAULT = range(5)  # report levels of an error code
READ_ONLY = 210  # error code of a script on a connection that was opened in local control

_HEADER = struct.Struct(">iB")
_MESSAGE = struct.Struct(">QbB")


def packet(kind: int, body: bytes) -> bytes:
    """Size and type before a body. Size counts itself."""
    return _HEADER.pack(_HEADER.size + len(body), kind) + body


def message(kind: int, time: float, body: bytes, source: int = CONTROLLER) -> bytes:
    """A robot message.

    Args:
        kind: one of the numbers above.
        time: of the controller, s; sent in microseconds.
        body: what this kind carries.
        source: who says it.
    """
    return packet(ROBOT_MESSAGE, _MESSAGE.pack(round(time * 1e6), source, kind) + body)


def version(time: float, numbers: tuple[int, int, int, int], date: str) -> bytes:
    """The first message of every connection: project name, version, build number and date."""
    name = b"URControl"
    major, minor, bugfix, build = numbers
    head = bytes([len(name)]) + name + struct.pack(">BBii", major, minor, bugfix, build)
    return message(VERSION, time, head + date.encode(), source=-1)


def text(time: float, words: str) -> bytes:
    """What `textmsg` says."""
    return message(TEXT, time, words.encode())


def error_code(
    time: float, code: int, argument: int, words: str, level: int = WARNING, data: int = 0
) -> bytes:
    """An error with its number, C`code`A`argument` in the log."""
    head = struct.pack(">iiiII", code, argument, level, 1, data)
    return message(ERROR_CODE, time, head + words.encode())


def key(time: float, title: str, words: str, code: int = 0, argument: int = 0) -> bytes:
    """A key message: PROGRAM_XXX_STARTED and the like, whose words are a program's name."""
    name = title.encode()[:255]
    head = struct.pack(">iiB", code, argument, len(name)) + name
    return message(KEY, time, head + words.encode())


def popup(
    time: float,
    title: str,
    words: str,
    *,
    warning: bool = False,
    error: bool = False,
    blocking: bool = False,
    request: int = 0,
) -> bytes:
    """A popup on the pendant."""
    name = title.encode()[:255]
    head = struct.pack(">IB???B", request, 0, warning, error, blocking, len(name)) + name
    return message(POPUP, time, head + words.encode())


def runtime_exception(time: float, line: int, column: int, words: str) -> bytes:
    """Why and where a program has died."""
    return message(RUNTIME_EXCEPTION, time, struct.pack(">ii", line, column) + words.encode())


def safety_mode(time: float, mode: int, code: int = 0, argument: int = 0) -> bytes:
    """A change of the safety mode."""
    return message(SAFETY_MODE, time, struct.pack(">iiBII", code, argument, mode, 1, 0))
