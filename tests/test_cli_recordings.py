"""`run --record`, `replay` and `report`: what a run leaves behind, and what one can ask of it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.cli_support import GUIDED, PUSHED, attached, invoke, runtime, start, until
from ur_admittance.blackboard import Blackboard
from ur_admittance.telemetry.recording import read

__all__ = ["runtime", "start"]
BRIEF = ("--pace", "0", "--seconds", "1.5", "--push", "0", "20", "0")


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path_factory.mktemp("runtime")))
        result = invoke(*GUIDED, *BRIEF, "--record", folder / "push.mcap")
    assert result.exit_code == 0, result.output
    assert " ticks recorded\n" in result.stdout
    return folder / "push.mcap"


def test_a_replay_with_the_recorded_gains_is_the_same_bit_for_bit(recording: Path) -> None:
    result = invoke("replay", recording)
    assert result.exit_code == 0, result.output
    ticks = len(read(recording).records)
    assert result.stdout == f"the same, bit for bit: {ticks} ticks\n"


def test_a_replay_with_other_gains_shows_both_side_by_side(recording: Path, tmp_path: Path) -> None:
    plot = tmp_path / "both.png"
    (tmp_path / "slow.yaml").write_text("max_linear_velocity: 0.05\n")
    options = ("--config", tmp_path / "slow.yaml", "--plot", plot)
    result = invoke("replay", recording, *options, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["recorded"]["peak_speed"] > 0.2
    assert report["with"]["peak_speed"] == pytest.approx(0.05, rel=0.01)
    assert report["with"]["limits"]["speed_limit"] > 0.1
    assert report["with"]["distance"] < report["recorded"]["distance"]
    assert plot.read_bytes().startswith(b"\x89PNG")
    text = invoke("replay", recording, *options[:2]).stdout
    assert "peak speed" in text and "0.050 m/s" in text


@pytest.mark.slow
def test_a_report_is_a_page_beside_the_recording_and_its_numbers_here(recording: Path) -> None:
    result = invoke("report", recording, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["ticks"] == len(read(recording).records)
    assert Path(report["report"]) == recording.with_suffix("") / "index.html"
    assert Path(report["report"]).is_file()


@pytest.mark.parametrize("verb", ["replay", "report"])
def test_what_is_no_recording_leaves_with_one_and_says_so(verb: str, tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_text("something else")
    assert "not an MCAP file" in (result := invoke(verb, tmp_path / "a.mcap")).stderr
    assert result.exit_code == 1
    assert "No such file" in (result := invoke(verb, tmp_path / "b.mcap")).stderr
    assert result.exit_code == 1


def test_a_replay_into_a_folder_that_is_not_there_is_refused_first(recording: Path) -> None:
    result = invoke("replay", recording, "--plot", "no/where.png")
    assert result.exit_code == 2
    assert "there is no folder no" in result.stderr


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
