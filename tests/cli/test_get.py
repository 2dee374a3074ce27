"""`get`, `stop`, `presets` and `--version`: what one asks of a controller, and of the package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import PATIENCE, PUSHED, attached, invoke, until
from ur_admittance import Config, Controller, RobotModel, __version__
from ur_admittance.blackboard import Blackboard


@pytest.fixture
def board(runtime):
    config = Config.preset("hand-guiding")
    live = Controller(RobotModel.ur("ur5e"), config).live
    with Blackboard.create("sim:a", 500.0, live) as made:
        yield made


def test_get_shows_one_parameter_a_section_or_all(board) -> None:
    assert invoke("get", "max_linear_velocity").stdout == "max_linear_velocity: 0.4\n"
    section = invoke("get", "tracking", "admittance.damping").stdout
    assert section.startswith("admittance.damping: [60, 60, 60, 2, 2, 2]\ntracking.velocity_gain: ")
    everything = invoke("get").stdout.splitlines()
    assert len(everything) == len(Config.fields())
    shown = json.loads(invoke("get", "admittance", "--json").stdout)
    assert shown["robot"] == "sim:a"
    assert shown["values"]["admittance.damping"] == [60, 60, 60, 2, 2, 2]


def test_get_of_an_unknown_name_suggests_another(board) -> None:
    result = invoke("get", "admittance.mas")
    assert result.exit_code == 2
    assert "did you mean admittance.mass?" in result.stderr


def test_tuned_gains_are_saved_as_a_configuration(board, tmp_path: Path) -> None:
    Blackboard.attach().set({"admittance.damping": [70] * 6, "max_linear_velocity": 0.3})
    tuned, gains = tmp_path / "tuned.yaml", tmp_path / "gains.yaml"
    assert invoke("get", "--save", tuned).stdout == (
        f"{tuned}: {len(Config.fields())} parameters of sim:a\n"
    )
    assert Config.load(tuned) == board.config()
    assert "frozen_samples" not in tuned.read_text(), "the next robot decides, not this one"
    assert invoke("get", "admittance.damping", "--save", gains).exit_code == 0
    gains.write_text(gains.read_text() + "extends: preset:hand-guiding\n")
    loaded = Config.load(gains)
    assert loaded.admittance.damping == (70.0,) * 6
    assert loaded.max_linear_velocity == 0.4
    before = gains.read_text()
    again = invoke("get", "--save", gains)
    assert again.exit_code == 2
    assert "exists already; --force replaces it" in again.stderr
    assert gains.read_text() == before
    assert invoke("get", "--save", gains, "--force").exit_code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_is_told_in_one_line(board) -> None:
    result = invoke("get", "--save", "/dev/full", "--force")
    assert result.exit_code == 1
    assert result.stderr == "No space left on device; make room there, and do it again\n"
    assert result.stdout == ""


@pytest.mark.parametrize("verb", ["get", "stop"])
def test_without_a_controller_one_is_told_how_to_start_one(verb: str, runtime) -> None:
    result = invoke(verb)
    assert result.exit_code == 1
    assert result.stderr == (
        "blackboard: no controller runs; start one with 'ur-admittance run', as this user and on "
        "this machine\n"
    )


def test_stop_brakes_the_arm_of_another_terminal_and_ends_its_run(start) -> None:
    process = start(*PUSHED)
    reader = attached(process)
    until(lambda: reader.index > 700)
    result = invoke("stop")
    assert result.exit_code == 0, result.output
    assert result.stdout == "sim:ur5e has come to rest, and its run has ended\n"
    out, problems = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, problems
    assert "the arm is at rest" in out
    assert "it was ended: ur-admittance stop, process" in out
    last = reader.latest()
    assert last is not None and not last["qd"].any()


def test_a_stop_that_nobody_takes_says_so_and_leaves_with_one(board) -> None:
    result = invoke("stop", "--wait", "0.1")
    assert result.exit_code == 1
    assert "goes on; look at the arm, and use its own stop" in result.stderr


def test_presets_are_listed_with_what_they_are_for() -> None:
    lines = invoke("presets").stdout.splitlines()
    assert len(lines) == len(Config.presets())
    line = lines[list(Config.presets()).index("hand-guiding")]
    assert line.startswith("preset:hand-guiding ")
    assert line.endswith("Lead the arm by hand: light, no spring, stays where it is put.")
    assert list(json.loads(invoke("presets", "--json").stdout)) == list(Config.presets())


@pytest.mark.parametrize("name", ["hand-guiding", "preset:hand-guiding"])
def test_a_preset_is_printed_as_the_yaml_that_it_is(name: str) -> None:
    text = invoke("presets", name).stdout
    assert text.startswith("# Lead the arm by hand")
    assert Config.loads(text) == Config.preset("hand-guiding")


def test_an_unknown_preset_lists_those_there_are() -> None:
    result = invoke("presets", "hand")
    assert result.exit_code == 2
    assert "the presets are constant-force, hand-guiding" in result.stderr


def test_the_version_is_printed() -> None:
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout == f"ur-admittance {__version__}\n"


def test_a_preset_without_its_prefix_is_suggested_with_it() -> None:
    for name in ("hand-guiding", "hand-guiding.yaml"):
        result = invoke("check", name)
        assert result.exit_code == 2
        assert "no such file; did you mean preset:hand-guiding?" in result.stderr
