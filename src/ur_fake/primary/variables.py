"""Program state messages of the primary interface: a program's variables, names and values.

Source: Universal Robots, "Client interfaces", program state messages; the numbers of the types are
those from 5.9 on.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from ur_fake.primary.messages import packet
from ur_fake.urscript.values import Pose

PROGRAM_STATE = 25
SETUP, UPDATE = 0, 1
NONE, TEXT, POSE, BOOL, INT, FLOAT, LIST, MATRIX = 0, 4, 12, 13, 15, 16, 17, 18
LARGEST = 16384  # bytes of one value; a larger one is told as none
_INT32 = range(-(2**31), 2**31)
_FLOAT32 = 3.4e38


def names(time: float, listed: Sequence[str]) -> bytes:
    """The names of a program's variables, in the order in which their values will come."""
    return _message(time, SETUP, "".join(f"{name}\n" for name in listed).encode())


def values(time: float, listed: Sequence[Any]) -> bytes:
    """The values of all variables; None for one that has none yet."""
    return _message(time, UPDATE, b"".join(value(one) + b"\n" for one in listed))


def _message(time: float, kind: int, body: bytes) -> bytes:
    return packet(PROGRAM_STATE, struct.pack(">QBH", round(time * 1e6), kind, 0) + body)


def value(one: Any) -> bytes:
    """One value: its type, and what the type has."""
    coded = _coded(one)
    return coded if len(coded) <= LARGEST else bytes([NONE])


def _coded(one: Any) -> bytes:
    if isinstance(one, bool):
        return struct.pack(">B?", BOOL, one)
    if isinstance(one, int) and one in _INT32:
        return struct.pack(">Bi", INT, one)
    if isinstance(one, int | float):
        return struct.pack(">Bf", FLOAT, min(_FLOAT32, max(-_FLOAT32, one)))
    if isinstance(one, str):
        text = one.encode()[:32767]
        return struct.pack(">Bh", TEXT, len(text)) + text
    if isinstance(one, Pose):
        return struct.pack(">B6f", POSE, *(min(_FLOAT32, max(-_FLOAT32, x)) for x in one))
    if isinstance(one, tuple):
        if one and all(isinstance(row, tuple) and not isinstance(row, Pose) for row in one):
            width = {len(row) for row in one}
            if len(width) == 1:
                cells = b"".join(_coded(cell) for row in one for cell in row)
                return struct.pack(">Bhh", MATRIX, len(one), width.pop()) + cells
        return struct.pack(">Bh", LIST, len(one)) + b"".join(_coded(item) for item in one)
    return bytes([NONE])
