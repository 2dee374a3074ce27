"""What a scribe is handed it writes: all of it, in order, whatever the portions and the disk."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from mcap.reader import make_reader

from tests.support import arm, touching
from ur_admittance import Config, StopReason
from ur_admittance.telemetry.recording import Recording, read
from ur_admittance.telemetry.scribe import Scribe

CONFIG = Config.preset("hand-guiding")


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    """1250 ticks at 500 Hz, by a clock that began with the run; two changes of parameters."""
    run = np.tile(touching(), 5)
    run["timing"]["arrived"] = 0.002 * np.arange(len(run))
    run["inputs"]["generation"] = np.repeat([0, 3, 4], [600, 300, 350])
    return run


class Portions:
    """A source that has a portion more at every look."""

    robot, rate = "sim", 500.0
    reason: StopReason | None = None

    def __init__(self, records: np.ndarray, size: int, *, missed: int = 0) -> None:
        self.records, self.size, self.missed, self.there = records, size, missed, 0
        self.texts = {0: CONFIG.to_yaml(), 3: CONFIG.replace({"safety.max_force": 90}).to_yaml()}

    def config(self) -> Config:
        return CONFIG

    def text_of(self, generation: int) -> str | None:
        return self.texts.get(generation)

    def since(self, index: int) -> tuple[np.ndarray, int, int]:
        self.there = min(self.there + self.size, len(self.records))
        missed, self.missed = self.missed, 0
        return self.records[index + missed : self.there], self.there, missed


def recorded(path: Path, source: Portions, **more: int) -> tuple[Scribe, Recording]:
    scribe = Scribe(cast(Any, source), path, arm(), **more)
    while source.there < len(source.records):
        scribe.poll()
    scribe.finish({"ticks": len(source.records)})
    return scribe, read(path)


def test_why_the_run_was_stopped_is_in_the_file_as_it_was_said(tmp_path, records) -> None:
    source = Portions(records, 500)
    assert recorded(tmp_path / "a.mcap", source)[1].reason is None
    source = Portions(records, 500)
    source.reason = StopReason("asked", "Tür offen; cell 3", "shut it; then start again")
    assert recorded(tmp_path / "b.mcap", source)[1].reason == source.reason


@pytest.mark.parametrize("size", [1, 7, 499, 500, 1250])
def test_portions_of_any_size_make_the_same_recording(tmp_path, records, size: int) -> None:
    scribe, recording = recorded(tmp_path / "a.mcap", Portions(records, size))
    assert recording.records.tobytes() == records.tobytes()
    assert (scribe.written, scribe.lost, scribe.problem) == (1250, 0, "")
    assert recording.finished and recording.summary == {"ticks": 1250}


def test_records_that_are_passed_over_are_not_written(tmp_path, records) -> None:
    scribe, recording = recorded(tmp_path / "a.mcap", Portions(records, 500), first=100)
    assert recording.records.tobytes() == records[100:].tobytes()
    assert scribe.lost == recording.lost == 0


def test_what_the_source_had_no_more_is_lost_and_said(tmp_path, records) -> None:
    scribe, recording = recorded(tmp_path / "a.mcap", Portions(records, 500, missed=40))
    assert recording.records.tobytes() == records[40:].tobytes()
    assert scribe.lost == recording.lost == 40


def test_each_generation_has_its_configuration_and_one_that_was_forgotten_is_named(
    tmp_path, records
) -> None:
    _, recording = recorded(tmp_path / "a.mcap", Portions(records, 100))
    assert recording.config == CONFIG
    assert [generation for generation, _ in recording.changes] == [3]
    assert recording.changes[0][1].safety.max_force == 90
    assert list(recording.unknown) == [4]


def stamps_of(path: Path) -> np.ndarray:
    """Of the ticks, ns since 1970."""
    with path.open("rb") as file:
        ticks = make_reader(file).iter_messages(topics=["/tick"], log_time_order=False)
        return np.array([message.log_time for _, _, message in ticks])


def test_times_are_the_time_of_day_spaced_as_the_states_came_and_never_fall(
    tmp_path, records
) -> None:
    odd = records.copy()
    odd["timing"]["arrived"][700:] -= 0.5  # a clock that was set back
    before = time.time_ns()
    recorded(tmp_path / "a.mcap", Portions(odd, 500))
    stamps = stamps_of(tmp_path / "a.mcap")
    assert before <= stamps[0] <= time.time_ns()
    assert (np.diff(stamps) >= 0).all()
    np.testing.assert_array_equal(np.diff(stamps[:700]), 2_000_000)
    assert (np.diff(stamps[700:900]) == 0).all()


def test_states_by_this_machines_clock_came_when_they_came_however_late_they_are_written(
    tmp_path, records
) -> None:
    real = records.copy()
    before = time.time_ns()
    real["timing"]["arrived"] += time.monotonic() - 30.0
    recorded(tmp_path / "a.mcap", Portions(real, 500))
    took = time.time_ns() - before
    first = stamps_of(tmp_path / "a.mcap")[0] + 30 * 10**9
    assert abs(first - before) <= took + 10_000_000


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """As on a disk that is full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_keeps_what_is_whole_says_so_once_and_raises_nothing(
    tmp_path, records, capsys
) -> None:
    recorded(tmp_path / "whole.mcap", Portions(records, 250))
    size = (tmp_path / "whole.mcap").stat().st_size
    with no_file_beyond(size // 2):
        source = Portions(records, 250)
        scribe = Scribe(cast(Any, source), tmp_path / "a.mcap", arm())
        while source.there < len(records):
            scribe.poll()
        scribe.finish({})
    recording = read(tmp_path / "a.mcap")
    n = len(recording.records)
    assert 0 < n == scribe.written < 1250 and n + scribe.lost == 1250
    assert recording.records.tobytes() == records[:n].tobytes()
    assert scribe.problem == f"File too large, after {n} ticks"
    assert capsys.readouterr().err.count("nothing more is recorded, the run goes on") == 1


def test_a_disk_too_full_for_the_head_leaves_no_file(tmp_path, records) -> None:
    with no_file_beyond(100), pytest.raises(OSError, match="File too large"):
        Scribe(cast(Any, Portions(records, 1)), tmp_path / "a.mcap", arm())
    assert not (tmp_path / "a.mcap").exists()
