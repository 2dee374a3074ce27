"""The file is a good MCAP, whatever happens to it half way."""

from __future__ import annotations

import errno
import os
from typing import Any

import numpy as np
import pytest
from mcap.reader import NonSeekingReader, make_reader
from mcap.stream_reader import StreamReader

from tests.telemetry.runs import summary_of
from ur_admittance.telemetry.mcap_file import McapFile


def batch(file: McapFile, start: int, count: int = 5) -> None:
    """Two channels a tick, and messages of a third before its first, third and fifth tick."""
    stamps = 1000 + 10 * np.arange(start, start + count)
    rows = {
        1: np.arange(3 * count, dtype=np.uint8).reshape(count, 3) + start,
        2: np.full((count, 1), start, np.uint8),
    }
    extras = [(0, 3, b"first"), (0, 3, b"also"), (2, 3, b"third"), (4, 3, b"")]
    file.add_batch(start, stamps, rows, extras)


def begun(path) -> McapFile:
    file = McapFile(path, "a test")
    for topic, kind in (("/a", "x/msg/A"), ("/b", "x/msg/A"), ("/c", "x/msg/C")):
        file.add_channel(topic, kind, "uint8 x")
    file.add_metadata("about", {"one": "1"})
    return file


@pytest.mark.parametrize("topics", [["/a"], ["/b"], ["/c"], None])
def test_what_was_put_in_comes_out_by_index_and_in_order(tmp_path, topics):
    path = tmp_path / "x.mcap"
    file = begun(path)
    batch(file, 0)
    batch(file, 5)
    file.finish()
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        indexed = [(c.topic, m) for _, c, m in reader.iter_messages(topics)]
        assert reader.get_header().profile == "ros2"
        assert [m.metadata for m in reader.iter_metadata()] == [{"one": "1"}]
    statistics = summary_of(path).statistics
    with path.open("rb") as stream:
        streamed = [(c.topic, m) for _, c, m in NonSeekingReader(stream).iter_messages(topics)]
    assert indexed == streamed
    assert statistics.message_count == 28 and statistics.chunk_count == 2
    assert statistics.channel_message_counts == {1: 10, 2: 10, 3: 8}
    assert (statistics.message_start_time, statistics.message_end_time) == (1000, 1090)
    times = [m.log_time for _, m in indexed]
    assert times == sorted(times)
    if topics == ["/c"]:
        assert [m.data for _, m in indexed] == 2 * [b"first", b"also", b"third", b""]
    if topics == ["/a"]:
        data = np.arange(15).reshape(5, 3)
        assert [list(m.data) for _, m in indexed] == [*data.tolist(), *(data + 5).tolist()]
        assert [m.sequence for _, m in indexed] == list(range(10))


def test_every_index_entry_points_at_its_message(tmp_path):
    path = tmp_path / "x.mcap"
    file = begun(path)
    batch(file, 0)
    file.finish()
    with path.open("rb") as stream:
        reader = StreamReader(stream, emit_chunks=True, validate_crcs=True)
        records: list[Any] = list(reader.records)
    (chunk,) = (r for r in records if type(r).__name__ == "Chunk")
    import zstandard

    data = zstandard.decompress(chunk.data)
    entries = 0
    for index in (r for r in records if type(r).__name__ == "MessageIndex"):
        for time, offset in index.records:
            assert data[offset] == 0x05
            assert int.from_bytes(data[offset + 9 : offset + 11], "little") == index.channel_id
            assert int.from_bytes(data[offset + 15 : offset + 23], "little") == time
            entries += 1
    assert entries == 14


def test_a_file_that_exists_is_not_touched(tmp_path):
    path = tmp_path / "x.mcap"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        McapFile(path, "a test")
    assert path.read_text() == "precious"


def test_a_full_disk_takes_back_the_chunk_that_did_not_fit(tmp_path, monkeypatch):
    path = tmp_path / "x.mcap"
    file = begun(path)
    batch(file, 0)
    size, real = path.stat().st_size, os.write

    def full(fd: int, data) -> int:
        if os.lseek(fd, 0, os.SEEK_CUR) >= size + 50:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[:50])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        batch(file, 5)
    assert path.stat().st_size == size
    monkeypatch.setattr(os, "write", real)
    file.finish()
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        assert len(list(reader.iter_messages())) == 14
    assert summary_of(path).statistics.message_count == 14
