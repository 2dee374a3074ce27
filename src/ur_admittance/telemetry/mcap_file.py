"""An MCAP file written a batch of messages at a time.

Batches are put together with NumPy: one message at a time would cost many times as much. After
every call the file ends with a whole record, also when the disk was full in the middle of one: what
was written before is never damaged.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ur_admittance.errors import needs

MAGIC = b"\x89MCAP0\r\n"
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, METADATA = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0C
MESSAGE_INDEX = 0x07
_CHUNK_INDEX, _STATISTICS, _METADATA_INDEX = 0x08, 0x0B, 0x0D

_HEAD = np.dtype(
    [
        ("opcode", "u1"),
        ("length", "<u8"),
        ("channel", "<u2"),
        ("sequence", "<u4"),
        ("log_time", "<u8"),
        ("publish_time", "<u8"),
    ]
)
_LENGTH = _HEAD.itemsize - 9  # of a message's fields before its data

Extra = tuple[int, int, bytes]  # before which tick of the batch, channel, data


def library() -> SimpleNamespace:
    """What is used of `mcap`: its records, the builder of their bytes, and the compressor."""
    with needs("recording needs the MCAP library", "record"):
        import zstandard
        from mcap import data_stream, exceptions, records
    return SimpleNamespace(
        records=records, stream=data_stream, EndOfFile=exceptions.EndOfFile, zstd=zstandard
    )


class McapFile:
    """A new file. `OSError` from any method: nothing was written by it, all before is there."""

    def __init__(self, path: Path, writer: str) -> None:
        """At `path`, which must not exist; `writer`: who writes it."""
        self._mcap = library()
        self._compressor = self._mcap.zstd.ZstdCompressor(level=1)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._end = 0
        self._counts: Counter[int] = Counter()
        self._summary = {
            opcode: self._mcap.stream.RecordBuilder()
            for opcode in (SCHEMA, CHANNEL, _CHUNK_INDEX, _METADATA_INDEX)
        }
        self._schemas: dict[str, int] = {}
        self._channels = self._chunks = self._metadata = 0
        self._first_time = self._last_time = 0
        self._append(MAGIC + self._bytes(self._mcap.records.Header("ros2", writer)))

    def add_channel(self, topic: str, kind: str, definition: str) -> int:
        """A topic of ROS 2 messages of one kind; returns its number."""
        records = self._mcap.records
        if kind not in self._schemas:
            number = len(self._schemas) + 1
            schema = records.Schema(
                id=number, data=definition.encode(), encoding="ros2msg", name=kind
            )
            self._append(self._bytes(schema))
            schema.write(self._summary[SCHEMA])
            self._schemas[kind] = number
        number = self._channels + 1
        channel = records.Channel(
            id=number,
            topic=topic,
            message_encoding="cdr",
            metadata={},
            schema_id=self._schemas[kind],
        )
        self._append(self._bytes(channel))
        channel.write(self._summary[CHANNEL])
        self._channels = number
        return number

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        records = self._mcap.records
        data = self._bytes(records.Metadata(name, dict(values)))
        index = records.MetadataIndex(self._end, len(data), name)
        self._append(data)
        index.write(self._summary[_METADATA_INDEX])
        self._metadata += 1

    def add_batch(
        self,
        sequence: int,
        stamps: np.ndarray,
        rows: Mapping[int, np.ndarray],
        extras: Sequence[Extra] = (),
    ) -> None:
        """One chunk: for every tick one message on each of some channels, and extra ones between.

        Args:
            sequence: number of the first tick.
            stamps: (n,) ns since 1970, not falling; n >= 1.
            rows: by channel, (n, size) bytes.
            extras: by tick, in order.
        """
        n, width = len(stamps), sum(_HEAD.itemsize + data.shape[1] for data in rows.values())
        block, column, columns = np.empty((n, width), np.uint8), 0, {}
        for channel, data in rows.items():
            head = np.empty(n, _HEAD)
            head["opcode"], head["length"] = MESSAGE, _LENGTH + data.shape[1]
            head["channel"], head["sequence"] = channel, np.arange(sequence, sequence + n)
            head["log_time"] = head["publish_time"] = stamps
            after = column + _HEAD.itemsize
            block[:, column:after] = head.view(np.uint8).reshape(n, -1)
            block[:, after : after + data.shape[1]] = data
            columns[channel] = column
            column = after + data.shape[1]

        pieces, done, shift = [], 0, np.zeros(n, np.int64)
        between: dict[int, list[tuple[int, int]]] = {}
        for tick, channel, data in extras:
            stamp, moved = int(stamps[tick]), int(shift[: tick + 1].sum())
            head = (_LENGTH + len(data), channel, (sequence + tick) & 0xFFFFFFFF, stamp, stamp)
            message = struct.pack("<BQHIQQ", MESSAGE, *head) + data
            pieces += [block[done:tick].tobytes(), message]
            between.setdefault(channel, []).append((stamp, width * tick + moved))
            shift[tick] += len(message)
            done = tick
        pieces.append(block[done:].tobytes())

        starts = width * np.arange(n) + np.cumsum(shift)
        index = {c: np.stack([stamps, starts + column], axis=1) for c, column in columns.items()}
        index |= {channel: np.array(entries) for channel, entries in between.items()}
        self._add_chunk(b"".join(pieces), int(stamps[0]), int(stamps[-1]), index)

    def finish(self) -> None:
        """Write the index and close. Without it the file can be read, but only from its start."""
        records, stream = self._mcap.records, self._mcap.stream
        data_end = self._bytes(records.DataEnd(0))
        statistics = records.Statistics(
            attachment_count=0,
            channel_count=self._channels,
            channel_message_counts=dict(self._counts),
            chunk_count=self._chunks,
            message_count=self._counts.total(),
            message_end_time=self._last_time,
            message_start_time=self._first_time,
            metadata_count=self._metadata,
            schema_count=len(self._schemas),
        )
        groups = {opcode: builder.end() for opcode, builder in self._summary.items()}
        groups[_STATISTICS] = self._bytes(statistics)
        start = where = self._end + len(data_end)
        offsets = stream.RecordBuilder()
        for opcode, group in groups.items():
            if group:
                records.SummaryOffset(opcode, where, len(group)).write(offsets)
            where += len(group)
        summary = b"".join(groups.values()) + offsets.end()
        begun = struct.pack("<BQQQ", FOOTER, 20, start, where)
        footer = begun + struct.pack("<I", zlib.crc32(summary + begun))
        self._append(data_end + summary + footer + MAGIC)
        self.close()

    def close(self) -> None:
        """Leave the file as it is."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _add_chunk(self, data: bytes, first: int, last: int, index: dict[int, np.ndarray]) -> None:
        records, packed = self._mcap.records, self._compressor.compress(data)
        chunk = self._bytes(
            records.Chunk(
                compression="zstd",
                data=packed,
                message_end_time=last,
                message_start_time=first,
                uncompressed_crc=zlib.crc32(data),
                uncompressed_size=len(data),
            )
        )
        places, parts = {}, [chunk]
        where = self._end + len(chunk)
        for channel, entries in index.items():
            body = struct.pack("<HI", channel, 16 * len(entries))
            body += entries.astype("<u8").tobytes()
            parts.append(struct.pack("<BQ", MESSAGE_INDEX, len(body)) + body)
            places[channel] = where
            where += len(parts[-1])
        entry = records.ChunkIndex(
            chunk_length=len(chunk),
            chunk_start_offset=self._end,
            compression="zstd",
            compressed_size=len(packed),
            message_end_time=last,
            message_index_length=where - self._end - len(chunk),
            message_index_offsets=places,
            message_start_time=first,
            uncompressed_size=len(data),
        )
        self._append(b"".join(parts))
        entry.write(self._summary[_CHUNK_INDEX])
        self._counts.update({channel: len(entries) for channel, entries in index.items()})
        self._first_time = self._first_time if self._chunks else first
        self._last_time = last
        self._chunks += 1

    def _bytes(self, record) -> bytes:
        builder = self._mcap.stream.RecordBuilder()
        record.write(builder)
        return builder.end()

    def _append(self, data: bytes) -> None:
        """Hand the bytes to the system, all or none."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, self._end)
                os.lseek(self._fd, self._end, os.SEEK_SET)
            raise
        self._end += len(data)
