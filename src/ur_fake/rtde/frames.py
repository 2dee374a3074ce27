"""RTDE frames as bytes: two bytes of size, one of type, big-endian throughout."""

from __future__ import annotations

import struct

PROTOCOL_VERSION = ord("V")
CONTROLLER_VERSION = ord("v")
TEXT = ord("M")
DATA = ord("U")
SETUP_OUTPUTS = ord("O")
SETUP_INPUTS = ord("I")
START = ord("S")
PAUSE = ord("P")

HEADER = struct.Struct(">HB")
EXCEPTION, ERROR, WARNING, INFO = range(4)  # levels of a text message

# One value of each type of the RTDE guide, as `struct` knows it.
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


def frame(kind: int, payload: bytes = b"") -> bytes:
    """A frame of one type."""
    return HEADER.pack(HEADER.size + len(payload), kind) + payload


def cut(inbox: bytearray) -> tuple[int, bytes] | None:
    """Take a whole frame, type and payload, from the front of what came, if there is one.

    Raises:
        ValueError: for a frame smaller than its own header.
    """
    if len(inbox) < HEADER.size:
        return None
    size, kind = HEADER.unpack_from(inbox)
    if size < HEADER.size:
        raise ValueError(f"a frame of {size} bytes")
    if len(inbox) < size:
        return None
    payload = bytes(inbox[HEADER.size : size])
    del inbox[:size]
    return kind, payload


def text(message: str, level: int = INFO, source: str = "RTDE", protocol: int = 2) -> bytes:
    """A message for a person. Version 1 knows no source, and a type in place of the level."""
    words, sender = message.encode()[:255], source.encode()[:255]
    if protocol == 1:
        return frame(TEXT, bytes([level]) + words)
    parts = (bytes([len(words)]), words, bytes([len(sender)]), sender, bytes([level]))
    return frame(TEXT, b"".join(parts))


def names(payload: bytes) -> list[str]:
    """The variables of a recipe. A comma at the end is no variable."""
    listed = payload.decode("ascii", "replace").rstrip("\0\r\n ").rstrip(",")
    return [name.strip() for name in listed.split(",")] if listed else []
