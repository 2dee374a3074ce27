"""RTDE as bytes: frames, the questions of a client, and the controller's answers.

Source: Universal Robots, "Real-Time Data Exchange (RTDE) Guide". Big-endian throughout. A frame is
two bytes of size, which count themselves, one of type, and a payload.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ur_admittance.errors import RobotError

PROTOCOL_VERSION, CONTROLLER_VERSION = ord("V"), ord("v")
SETUP_OUTPUTS, SETUP_INPUTS = ord("O"), ord("I")
START, PAUSE, TEXT, DATA = ord("S"), ord("P"), ord("M"), ord("U")
HEADER = struct.Struct(">HB")
LONGEST_TEXT = HEADER.size + 2 * 256 + 1  # two texts of up to 255 bytes with a size, and a level
LONGEST_ANSWER = 8192

# One value of each type of the guide, as `struct` knows it.
CODES = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT32": "I",
    "UINT64": "Q",
    "INT32": "i",
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "VECTOR6UINT32": "6I",
}
NOT_FOUND, IN_USE = "NOT_FOUND", "IN_USE"


def frame(kind: int, payload: bytes = b"") -> bytes:
    """A frame of one type."""
    return HEADER.pack(HEADER.size + len(payload), kind) + payload


def ask_protocol(version: int) -> bytes:
    """May it be this version of the protocol?"""
    return frame(PROTOCOL_VERSION, struct.pack(">H", version))


def ask_outputs(rate: float, names: Sequence[str]) -> bytes:
    """Send these variables so often, Hz."""
    return frame(SETUP_OUTPUTS, struct.pack(">d", rate) + ",".join(names).encode())


def ask_inputs(names: Sequence[str]) -> bytes:
    """These variables will be set."""
    return frame(SETUP_INPUTS, ",".join(names).encode())


@dataclass(frozen=True)
class Recipe:
    """What the controller answered to a list of names.

    Attributes:
        number: of the recipe; 0 if it was refused.
        types: of each variable, or NOT_FOUND, or IN_USE.
    """

    number: int
    names: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def parse(cls, names: Sequence[str], payload: bytes) -> Recipe:
        """
        Raises:
            RobotError: the answer is none.
        """
        listed = payload[1:].decode("ascii", "replace").strip("\0\r\n ,")
        types = tuple(listed.split(",")) if listed else ()
        if len(types) != len(names):
            raise RobotError(
                f"RTDE: the robot answered {len(types)} types for {len(names)} variables "
                f"({listed!r:.200}); is this the RTDE port of a UR controller?"
            )
        return cls(payload[0], tuple(names), types)

    def refused(self, why: str) -> list[str]:
        """The variables with which something is wrong: NOT_FOUND or IN_USE."""
        return [name for name, kind in zip(self.names, self.types, strict=True) if kind == why]

    @property
    def layout(self) -> struct.Struct:
        """The payload of a data frame, behind the recipe's number."""
        unknown = [kind for kind in self.types if kind not in CODES]
        if unknown:
            raise RobotError(f"RTDE: the robot has a type that is not known here: {unknown[0]!r}")
        return struct.Struct(">" + "".join(CODES[kind] for kind in self.types))


def text_of(payload: bytes) -> str:
    """What a text message says: its words, and who says them."""
    size = payload[0] if payload else 0
    words = payload[1 : 1 + size].decode("utf-8", "replace")
    rest = payload[1 + size :]
    source = rest[1 : 1 + rest[0]].decode("utf-8", "replace") if rest else ""
    return f"{source}: {words}" if source else words
