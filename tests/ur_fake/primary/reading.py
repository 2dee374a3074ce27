"""Reads what ports 30001 to 30003 send, by the maker's tables."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.ur_fake.support import Talker


@dataclass
class Packet:
    """A packet: its type, and either sub-packets by type, or the rest."""

    kind: int
    body: bytes

    def parts(self) -> dict[int, bytes]:
        """Sub-packets of a robot state."""
        found, rest = {}, self.body
        while rest:
            size, kind = struct.unpack_from(">iB", rest)
            found[kind] = rest[5:size]
            rest = rest[size:]
        return found

    def message(self) -> tuple[int, bytes]:
        """Type and content of a robot message."""
        return self.body[9], self.body[10:]


def next_packet(client: Talker) -> Packet:
    size, kind = struct.unpack(">iB", client.take(5))
    return Packet(kind, client.take(size - 5))


def next_state(client: Talker) -> dict[int, bytes]:
    """Sub-packets of the next robot state."""
    while True:
        packet = next_packet(client)
        if packet.kind == 16:
            return packet.parts()


def next_message(client: Talker, wanted: int) -> bytes:
    """Content of the next robot message of a type."""
    while True:
        packet = next_packet(client)
        if packet.kind == 20 and packet.message()[0] == wanted:
            return packet.message()[1]
