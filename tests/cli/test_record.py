"""`run --record`: what a run leaves behind."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest

from tests.cli.support import BRIEF, GUIDED, PUSHED, attached, invoke, until
from ur_admittance.blackboard import Blackboard
from ur_admittance.telemetry.recording import read

RECORDER = "ur_admittance.telemetry.writer"


def test_a_recording_is_never_overwritten_unless_asked(recording: Path, runtime) -> None:
    before = recording.read_bytes()
    result = invoke(*GUIDED, *BRIEF, "--record", recording)
    assert result.exit_code == 2
    assert "exists already; --force replaces it" in result.stderr
    assert recording.read_bytes() == before


@pytest.mark.slow
def test_after_ctrl_c_and_after_kill_9_there_is_a_recording(start, tmp_path: Path) -> None:
    first = start(*PUSHED, "--record", "asked.mcap")
    reader = attached(first)
    until(lambda: reader.index > 100)
    assert invoke("set", "max_linear_velocity", "0.07").exit_code == 0
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=120)
    asked = read(tmp_path / "asked.mcap")
    assert first.returncode == 0
    assert asked.finished and asked.lost == 0
    assert len(asked.records) == reader.index
    assert asked.summary["asked"] is True
    assert invoke("replay", tmp_path / "asked.mcap").exit_code == 0  # the change is in it

    second = start(*PUSHED, "--record", "killed.mcap")
    attached(second)
    until(lambda: Blackboard.attach("sim:ur5e").index > 1000)
    second.kill()
    second.wait()
    until(lambda: read(tmp_path / "killed.mcap").finished)
    assert len(read(tmp_path / "killed.mcap").records) > 1000


@pytest.mark.slow
def test_a_full_disk_is_told_at_once_and_the_run_leaves_with_one(start, tmp_path: Path) -> None:
    with (tmp_path / "errors").open("w") as errors:
        process = start(*PUSHED, "--record", "full.mcap", stderr=errors)
        reader = attached(process)
        until(lambda: children_of(process.pid, RECORDER))
        (writer,) = children_of(process.pid, RECORDER)
        most = 60_000  # bytes: room for the start and the end, not for a second of ticks
        resource.prlimit(writer, resource.RLIMIT_FSIZE, (most, most))
        until(lambda: "warning:" in (tmp_path / "errors").read_text())
        told = reader.index
        until(lambda: reader.index > told + 100)  # the run goes on
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    (warning,) = (line for line in lines(tmp_path / "errors") if line.startswith("warning:"))
    assert "full.mcap: File too large, after" in warning
    assert warning.endswith("nothing more is recorded, the run goes on")
    assert " LOST" in out and "the arm is at rest" in out


def children_of(pid: int, name: str) -> list[int]:
    """The children of a process that were called with a word."""
    every = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(n) for n in every if name in Path(f"/proc/{n}/cmdline").read_text().split("\0")]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()
