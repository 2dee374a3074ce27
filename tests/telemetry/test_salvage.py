"""A damaged recording gives every good chunk, before and after, and says what is damaged."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ur_admittance as ua
from tests.telemetry.runs import Run, eventful, summary_of
from ur_admittance.telemetry.recording import Recording, model_to_json, read
from ur_admittance.telemetry.replay import replay

SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module")
def chunked(tmp_path_factory) -> Run:
    """A run in several chunks of few ticks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path_factory.mktemp("runtime")))
        patch.setattr("ur_admittance.telemetry.scribe._CHUNK", 0.2)  # s
        return eventful(tmp_path_factory.mktemp("salvage") / "run.mcap")


def damaged(run: Run, data: bytes) -> Recording:
    path = run.path.with_name("damaged.mcap")
    path.write_bytes(data)
    return read(path)


def check(run: Run, recording: Recording) -> None:
    """What is there is as it was written, whatever is missing."""
    assert model_to_json(recording.model) == model_to_json(run.model)
    left = iter(rows(run.records))
    for row in rows(recording.records):
        assert any(row == other for other in left), "it was not there, or not in this order"
    assert recording.damaged == len(run.records) - len(recording.records) or not recording.finished
    again = replay(recording)
    assert again.first_difference is None
    assert again.compared + again.skipped == len(recording.records)


def rows(records: np.ndarray) -> list[bytes]:
    return [record.tobytes() for record in records]


def chunk_of(run: Run, where: int) -> int | None:
    """The number of the chunk in which a byte of the file lies."""
    for n, chunk in enumerate(summary_of(run.path).chunk_indexes):
        if chunk.chunk_start_offset <= where < chunk.chunk_start_offset + chunk.chunk_length:
            return n
    return None


def test_one_damaged_byte_costs_one_chunk(chunked):
    data = chunked.path.read_bytes()
    whole = damaged(chunked, data)
    assert (whole.damage, whole.damaged, whole.finished) == ((), 0, True)
    third = summary_of(chunked.path).chunk_indexes[2]
    wrong = bytearray(data)
    wrong[third.chunk_start_offset + third.chunk_length // 2] ^= 0xFF
    recording = damaged(chunked, bytes(wrong))
    ((start, size),) = recording.damage
    assert start == third.chunk_start_offset and size >= third.chunk_length
    assert 0 < recording.damaged == len(chunked.records) - len(recording.records) <= 100
    (before,) = (b for b in recording.breaks if b)
    assert recording.records[:before].tobytes() == chunked.records[:before].tobytes()
    after = len(recording.records) - before
    assert recording.records[before:].tobytes() == chunked.records[-after:].tobytes()
    words = f"damaged: {size} bytes at {start}; {recording.damaged} ticks lost"
    assert recording.damage_words() == words
    assert words in replay(recording).notes
    check(chunked, recording)


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=SHARED)
@given(where=st.floats(0, 1), size=st.integers(1, 3000), fill=st.randoms(use_true_random=False))
def test_bytes_flipped_anywhere_cost_what_they_hit_and_no_more(chunked, where, size, fill):
    data = bytearray(chunked.path.read_bytes())
    start = int(where * (len(data) - size))
    data[start : start + size] = fill.randbytes(size)
    assume(bytes(data) != chunked.path.read_bytes())  # a byte may come out as it was
    recording = damaged(chunked, bytes(data))
    check(chunked, recording)
    hit = {chunk_of(chunked, k) for k in (start, start + size - 1)} - {None}
    assert recording.damaged <= 101 * len(hit)
    if hit:
        assert recording.damage and recording.damaged


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=SHARED)
@given(where=st.floats(0, 1), size=st.integers(1, 200_000))
def test_bytes_taken_out_anywhere_cost_what_they_hit_and_no_more(chunked, where, size):
    data = chunked.path.read_bytes()
    start = int(where * (len(data) - 1))
    cut = data[:start] + data[start + size :]
    if b"ur_admittance" not in cut:  # nothing is left that says what it is
        with pytest.raises(ua.RobotError, match="MCAP"):
            damaged(chunked, cut)
        return
    recording = damaged(chunked, cut)
    check(chunked, recording)
    first, last = chunk_of(chunked, start), chunk_of(chunked, min(start + size, len(data)) - 1)
    if first is not None and first == last and first > 0:
        assert recording.damage and 0 < recording.damaged <= 101


def test_a_damaged_start_is_made_up_for_by_the_end(chunked):
    data = chunked.path.read_bytes()
    first = summary_of(chunked.path).chunk_indexes[0].chunk_start_offset
    for start in (b"", bytes(first)):
        recording = damaged(chunked, start + data[first:])
        assert recording.records.tobytes() == chunked.records.tobytes()
        assert recording.config == chunked.config
        check(chunked, recording)


def test_numbers_of_the_model_that_were_flipped_are_not_believed(chunked):
    data = chunked.path.read_bytes()
    at = data.index(b'"qd_max"') + 12
    wrong = data[:at] + b"9999" + data[at + 4 :]
    recording = damaged(chunked, wrong)
    assert recording.damage
    check(chunked, recording)
    with pytest.raises(ua.RobotError, match="damaged where it says so"):
        damaged(chunked, wrong[: len(wrong) // 2])  # without the copy at its end


def test_a_gap_between_ticks_of_two_activations_is_seen_by_the_recorders_count(chunked):
    """Were it judged by the ticks' own numbers alone, 7 after 6 would look whole."""
    recording = read(chunked.path)
    second = int(np.flatnonzero(recording.records["tick"] == 1)[1])
    kept = np.r_[0:6, second + 6 : len(recording.records)]
    records = recording.records[kept].copy()
    assert records["tick"][5:7].tolist() == [6, 7]
    gone = dataclasses.replace(recording, records=records, breaks=(6,))
    assert replay(gone).compared == 6


def test_an_empty_file_is_no_recording(tmp_path: Path):
    (tmp_path / "empty.mcap").touch()
    with pytest.raises(ua.RobotError, match="not an MCAP file"):
        read(tmp_path / "empty.mcap")
