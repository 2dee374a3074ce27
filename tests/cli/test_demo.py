"""`ur-admittance demo`: a scene to watch, a verdict, a recording and a report."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import PATIENCE, Terminal, invoke, until
from ur_admittance.controller import Controller
from ur_admittance.scenarios import SCENARIOS, play
from ur_admittance.telemetry.recording import read


@pytest.mark.slow
def test_the_demo_ends_with_a_verdict_a_recording_and_a_report(tmp_path: Path, runtime) -> None:
    result = invoke("demo", "--scenario", "wall", "--fast", "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0, result.output
    assert "✓ stops at the wall" in result.stdout
    assert "✗" not in result.stdout
    assert (tmp_path / "new/folder/wall/index.html").is_file()
    recording = read(tmp_path / "new/folder/wall.mcap")
    assert recording.lost == 0
    # In its own time: the same on every machine, at any pace, watched or not.
    scenario, records = SCENARIOS["wall"], []
    with scenario.robot(realtime=False) as arm:
        controller = Controller(arm.model, scenario.config())
        play(scenario, arm, controller, each=lambda state, out: records.append(out.copy()))
    assert len(records) == len(recording.records)
    for field in ("qd", "X_WP", "F_P", "status", "time"):
        assert np.array_equal([r[field] for r in records], recording.records[field]), field


@pytest.mark.slow
def test_a_demo_that_is_interrupted_ends_there(start, tmp_path: Path) -> None:
    terminal = Terminal()
    process = start("demo", "--scenario", "all", **terminal.options)
    until(lambda: terminal.shows(SCENARIOS["hand-guiding"].title) and terminal.shows("from above"))
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 1
    until(lambda: terminal.shows("ended early"))
    assert not terminal.shows(SCENARIOS["surface"].title)
    assert read(tmp_path / "ur-admittance-demo" / "hand-guiding.mcap").finished


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--scenario", "pegs"),
            "there are hand-guiding, surface, wall, peg, polish and all; did you",
        ),
        (("--out", "/dev/null"), "/dev/null: File exists"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(options, words, runtime) -> None:
    result = invoke("demo", *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""
