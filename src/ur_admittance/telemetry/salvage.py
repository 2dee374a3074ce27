"""What is left of an MCAP file: every good chunk, wherever the file is damaged.

Chunks are found by what each begins with and believed by their checksum, not by following the
lengths of records, of which one wrong byte would lose all that comes after. What lies between two
chunks must be a row of whole records; where it is not, bytes are damaged.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from ur_admittance.telemetry import mcap_file, messages

OURS = b"ur_admittance"  # with this the names of our metadata begin
SEAL = "digest"  # of the other values of a metadata record
_CHUNK_HEAD = struct.Struct("<BQQQQI8sQ")  # opcode to compressed size, of a chunk made with zstd
_ZSTD = b"\x04\0\0\0zstd"
_TO_ZSTD = 37  # bytes from the start of a chunk
_LARGEST = 1 << 28  # bytes in a chunk: far more than ours have
_KNOWN = {*range(0x01, 0x10)} - {mcap_file.CHUNK, mcap_file.MESSAGE}
_FOOTER_BYTES = 29


@dataclass
class Found:
    """What is in a file."""

    # by name; of several whole ones of one name the last
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    ticks: bytearray = field(default_factory=bytearray)  # the records of /tick, one after the other
    sequence: list[int] = field(default_factory=list)  # the number of each, counted by the recorder
    parameters: list[str] = field(default_factory=list)  # the texts of /parameters
    finished: bool = False  # whether the file has its end
    # (first byte, bytes) that cannot be read
    damage: list[tuple[int, int]] = field(default_factory=list)


def sealed(values: Mapping[str, str]) -> dict[str, str]:
    """Metadata with a digest, by which damage is seen."""
    return {**values, SEAL: _digest(values)}


def intact(values: Mapping[str, str]) -> bool:
    """Whether metadata is as it was written."""
    return values.get(SEAL) == _digest(values)


def salvage(data: mmap.mmap | bytes) -> Found:
    """Everything that can be read of a file."""
    mcap, found, where = mcap_file.library(), Found(), 0
    channels: dict[int, str] = {}
    end = len(data)
    tail = end - len(mcap_file.MAGIC) - _FOOTER_BYTES
    found.finished = data[-len(mcap_file.MAGIC) :] == mcap_file.MAGIC and (
        tail > 0 and data[tail : tail + 9] == struct.pack("<BQ", mcap_file.FOOTER, 20)
    )
    if data[: len(mcap_file.MAGIC)] == mcap_file.MAGIC:
        where = len(mcap_file.MAGIC)
    chunks = []
    for start, stop, inside in _chunks(data, mcap):
        _between(found, channels, data, mcap, where, start)
        chunks.append(inside)
        where = stop
    _between(found, channels, data, mcap, where, end - found.finished * len(mcap_file.MAGIC))
    _name(found, channels)
    for inside in chunks:
        _take(found, channels, memoryview(inside))
    return found


def _chunks(data: mmap.mmap | bytes, mcap: Any) -> Iterator[tuple[int, int, bytes]]:
    """The good ones: where each begins and ends, and what is in it."""
    at = data.find(_ZSTD)
    while at >= 0:
        start = at - _TO_ZSTD
        inside = b""
        if start >= 0 and start + _CHUNK_HEAD.size <= len(data):
            inside = _inside(data, start, mcap)
        if inside:
            stop = start + 9 + struct.unpack_from("<Q", data, start + 1)[0]
            yield start, stop, inside
            at = data.find(_ZSTD, stop)
        else:
            at = data.find(_ZSTD, at + 1)


def _inside(data: mmap.mmap | bytes, start: int, mcap: Any) -> bytes:
    """What is in the chunk that begins here; b"" if none does, or a damaged one."""
    head = _CHUNK_HEAD.unpack_from(data, start)
    opcode, length, _, _, size, crc, _, packed_size = head
    begin, whole = start + _CHUNK_HEAD.size, length == _CHUNK_HEAD.size - 9 + packed_size
    if opcode != mcap_file.CHUNK or not whole or begin + packed_size > len(data):
        return b""
    packed = data[begin : begin + packed_size]
    try:
        if not 0 < mcap.zstd.frame_content_size(packed) == size <= _LARGEST:
            return b""
        inside = mcap.zstd.ZstdDecompressor().decompress(packed)
    except mcap.zstd.ZstdError:
        return b""
    return inside if zlib.crc32(inside) == crc else b""


def _between(
    found: Found,
    channels: dict[int, str],
    data: mmap.mmap | bytes,
    mcap: Any,
    where: int,
    end: int,
) -> None:
    """Whole records from one chunk to the next: take what matters, note what is damaged."""
    while where < end:
        size = _record(data, where, end)
        if size and _matters(found, channels, data[where : where + size], mcap):
            where += size
            continue
        if not found.finished and end == len(data) and _cut_off(data, where):
            return
        following = _metadata_after(data, where + 1, end)
        found.damage.append((where, following - where))
        where = following


def _record(data: mmap.mmap | bytes, where: int, end: int) -> int:
    """The bytes of the record that begins here, as far as can be told; 0 if none does."""
    if where + 9 > end:
        return 0
    opcode, length = struct.unpack_from("<BQ", data, where)
    if opcode not in _KNOWN or length > end - where - 9:
        return 0
    if opcode == mcap_file.MESSAGE_INDEX and (
        length < 6 or struct.unpack_from("<I", data, where + 11)[0] != length - 6
    ):
        return 0
    return 9 + length


def _cut_off(data: mmap.mmap | bytes, where: int) -> bool:
    """Whether the file just ends within the record that begins here."""
    head = data[where : where + 9]
    if len(head) < 9:
        return True
    opcode, length = struct.unpack("<BQ", head)
    known = opcode in _KNOWN or opcode == mcap_file.CHUNK
    return known and len(data) - where - 9 < length <= _LARGEST


def _metadata_after(data: mmap.mmap | bytes, where: int, end: int) -> int:
    """Where the next metadata of ours begins; `end` if there is none."""
    at = data.find(OURS, where, end)
    while at >= 0:
        start = at - 13  # opcode, length, length of the name
        if start >= where and data[start] == mcap_file.METADATA and _record(data, start, end):
            return start
        at = data.find(OURS, at + 1, end)
    return end


def _matters(found: Found, channels: dict[int, str], record: bytes, mcap: Any) -> bool:
    """Keep channels and metadata; False if the record is damaged."""
    stream = mcap.stream.ReadDataStream(BytesIO(record[9:]))
    try:
        if record[0] == mcap_file.CHANNEL:
            channel = mcap.records.Channel.read(stream)
            channels[channel.id] = channel.topic
        elif record[0] == mcap_file.METADATA:
            metadata = mcap.records.Metadata.read(stream)
            if metadata.name.encode().startswith(OURS) and not intact(metadata.metadata):
                return False
            found.metadata[metadata.name] = metadata.metadata
    except (ValueError, mcap.EndOfFile, struct.error):
        return False
    return True


def _name(found: Found, channels: dict[int, str]) -> None:
    """Sealed metadata knows the channels better than records that nothing protects."""
    for values in found.metadata.values():
        if "channels" in values:
            numbers = json.loads(values["channels"])
            channels.update({number: topic for topic, number in numbers.items()})


def _take(found: Found, channels: dict[int, str], data: memoryview) -> None:
    """Keep what matters of a chunk. Most are messages of other topics: those cost little."""
    where, unpack = 0, struct.Struct("<BQHI").unpack_from
    while where + 15 <= len(data):
        opcode, length, number, sequence = unpack(data, where)
        start, where = where + 9, where + 9 + length
        if opcode == mcap_file.MESSAGE:
            topic = channels.get(number)
            if topic == messages.TICK:
                found.ticks += messages.raw_of(data[start + 22 : where])
                found.sequence.append(sequence)
            elif topic == messages.PARAMETERS:
                found.parameters.append(messages.string_of(data[start + 22 : where]))


def _digest(values: Mapping[str, str]) -> str:
    text = repr(sorted((key, value) for key, value in values.items() if key != SEAL))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
