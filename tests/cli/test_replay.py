"""`replay`: a recorded run again, and with other gains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import invoke
from tests.telemetry.runs import summary_of
from ur_admittance.telemetry.recording import read


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
    assert report["with"]["stopped"] is None and "not_following" not in report["with"]["limits"]
    assert "do not answer the other commands" in text.splitlines()[0]
    assert f"10 mm apart after {report['apart']:.2f} s" in text


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


def test_a_plot_of_an_unknown_kind_is_refused_first(recording: Path) -> None:
    result = invoke("replay", recording, "--plot", "x.xyz")
    assert result.exit_code == 2
    assert "x.xyz: must end in one of" in result.stderr and "png" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("verb", ["replay", "report"])
def test_a_damaged_recording_is_used_as_far_as_it_goes_and_leaves_with_one(
    verb: str, recording: Path, tmp_path: Path
) -> None:
    data, last = bytearray(recording.read_bytes()), summary_of(recording).chunk_indexes[-1]
    data[last.chunk_start_offset + last.chunk_length // 2] ^= 0xFF
    (tmp_path / "damaged.mcap").write_bytes(data)
    result = invoke(verb, tmp_path / "damaged.mcap")
    assert result.exit_code == 1, result.output
    assert "damaged: " in result.stdout and " ticks lost" in result.stdout
    made = "bit for bit" if verb == "replay" else "index.html"
    assert made in result.stdout
