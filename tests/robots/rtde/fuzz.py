"""States of a robot as bytes, whole and broken."""

from __future__ import annotations

import math
import random
import struct

from ur_admittance.robots.rtde import protocol
from ur_admittance.robots.rtde.states import States
from ur_admittance.robots.rtde.stream import Stream

LAYOUT = struct.Struct(">20d9i")
SIZE = LAYOUT.size
FRAME = SIZE + 4  # header and number of the recipe


def frame(time: float) -> bytes:
    """A state at a time of the robot, s."""
    floats = [time, *[0.1 * n for n in range(1, 20)]]
    return protocol.frame(protocol.DATA, b"\x01" + LAYOUT.pack(*floats, 7, 1, 1, 2, 3, 1, 9, 0, 4))


def believable(contents: memoryview) -> bool:
    """As a robot judges them: numbers, and modes that exist."""
    values = LAYOUT.unpack(contents)
    return math.isfinite(sum(values[:20])) and -1 <= values[20] <= 20 and 0 <= values[23] <= 10


def stream_of() -> Stream:
    return Stream(1, SIZE, believable)


def judged() -> tuple[Stream, States]:
    """A stream with the judge that a robot has."""
    states = States()
    return Stream(1, SIZE, states.believe), states


def mutated(rng: random.Random, n: int) -> bytes:
    """A state, mostly broken: flipped, cut, grown, doubled, swallowed, or noise."""
    data = bytearray(frame(float(n)))
    for _ in range(rng.randrange(4)):
        kind = rng.randrange(7)
        at = rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(40))
        elif kind == 3:
            data += data[: 2 * FRAME]
        elif kind == 4:
            del data[:at]
        elif kind == 5:
            data = bytearray(rng.randbytes(rng.randrange(600)))
        else:
            data[:2] = struct.pack(">H", rng.randrange(65536))
        if not data:
            break
    return bytes(data)
