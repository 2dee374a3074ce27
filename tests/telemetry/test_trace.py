"""The last seconds before an error are a recording like any other."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import ur_admittance as ua
from tests.blackboard.processes import board_of
from tests.support import arm, scenario
from ur_admittance.blackboard import Blackboard
from ur_admittance.telemetry.recording import read
from ur_admittance.telemetry.trace import write_trace


def test_the_trace_of_an_error_is_read_back_bit_for_bit_with_its_reason(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    records = scenario()
    with board_of() as board:
        reader = Blackboard.attach("sim")
        path = write_trace(reader, records, arm(), "a joint fell off")
        config = board.config()
    assert path.parent == tmp_path
    assert re.fullmatch(r"error-\d{8}-\d{6}-\d+\.mcap", path.name)
    recording = read(path)
    assert recording.records.tobytes() == records.tobytes()
    assert recording.summary == {"error": "a joint fell off"}
    assert recording.config == config and recording.finished and recording.lost == 0
    assert recording.model.name == arm().name


def test_where_nothing_can_be_written_it_goes_to_the_folder_for_passing_files(
    tmp_path, monkeypatch
) -> None:
    closed, passing = tmp_path / "closed", tmp_path / "passing"
    passing.mkdir()
    closed.mkdir()
    monkeypatch.chdir(closed)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may always
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(passing))
    with board_of():
        path = write_trace(Blackboard.attach("sim"), scenario()[:20], arm(), "why")
    assert path.parent == passing and len(read(path).records) == 20


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "mcap", None)
    with board_of(), pytest.raises(ua.RobotError, match=r"ur-admittance\[record\]"):
        write_trace(Blackboard.attach("sim"), scenario()[:20], arm(), "why")
    assert list(Path(tmp_path).iterdir()) == []
