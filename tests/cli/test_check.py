"""`ur-admittance check`: what it prints and how it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.support import PATIENCE
from ur_admittance.cli import app, main
from ur_admittance.config import Config

run = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})


def check(*arguments: str | Path):
    return run.invoke(app, ["check", *map(str, arguments)])


@pytest.mark.parametrize("name", Config.presets())
def test_every_preset_passes_and_fits_a_narrow_terminal(name: str) -> None:
    result = check(f"preset:{name}")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines if not line.startswith("warning"))
    assert "…" not in result.stdout
    for words in ("kg m²", "N s/m", "Nm/rad", "Hz", "deadband", "surface", "delay"):
        assert words in result.stdout


def test_a_file_is_reported_with_its_numbers_and_warnings(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("max_linear_velocity: 0.5\nadmittance:\n  filter_coefficient: 1\n")
    result = check(path)
    assert result.exit_code == 0
    (x,) = [line.split() for line in result.stdout.splitlines() if line.startswith("x ")]
    assert x == ["x", "8", "78.4", "0", "-", "-", "0.102", "0.128", "3919"]
    assert "filter    none" in result.stdout
    assert "warning   limits.max_linear_jerk: off" in result.stdout


def test_a_wrong_file_leaves_with_two_and_all_problems_on_stderr(tmp_path: Path) -> None:
    path = tmp_path / "wrong [bold].yaml"
    path.write_text("admittance:\n  mas: 1\n  mass: [1, 2]\ncontrol_rate: 1 kHz\n")
    result = check(path)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        f"{path}:2:3",
        f"{path}:3",
        f"{path}:4",
    ]
    assert "did you mean admittance.mass?" in lines[0]


@pytest.mark.parametrize("file", ["missing.yaml", "preset:nope", "preset:../pose-law", ".", ""])
def test_what_cannot_be_found_leaves_with_two(file: str) -> None:
    result = check(file)
    assert result.exit_code == 2
    assert result.stderr
    assert result.stdout == ""


def test_json_is_one_object_whether_right_or_wrong(tmp_path: Path) -> None:
    result = check("preset:surface-following", "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert report["ok"] is True
    assert report["errors"] == []
    assert [axis["axis"] for axis in report["axes"]] == ["x", "y", "z", "rx", "ry", "rz"]
    assert report["axes"][2]["natural_frequency"] == pytest.approx(0.919, rel=1e-3)
    assert report["axes"][3]["enabled"] is False
    assert report["filter"]["delay"] == pytest.approx(0.00124, rel=1e-2)
    assert len(report["warnings"]) == 1
    path = tmp_path / "a.yaml"
    path.write_text("tip: 5\nbase_link: 6\n")
    wrong = check(path, "--json")
    report = json.loads(wrong.stdout)
    assert wrong.exit_code == 2
    assert report["ok"] is False
    assert len(report["errors"]) == 2
    assert wrong.stderr.splitlines() == report["errors"]


def test_the_arm_s_lag_and_what_is_left_of_it_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("contact: {adapt: true}\narm: {lag: 0.01, delay: 0.004}\n")
    text = check(path).stdout
    assert "follows with 10 ms of lag, 4 ms of delay" in text
    assert "6 ms of delay and lag are left" in text


def test_json_has_no_numbers_that_json_lacks(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("loop_delay: 0\nadmittance:\n  filter_coefficient: 1\n")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    json.loads(check(path, "--json").stdout, parse_constant=refuse)


def test_joint_limits_beyond_the_arm_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("ur_admittance.model")
    path = tmp_path / "a.yaml"
    path.write_text("limits:\n  joint_velocity: 9\n  joint_acceleration: [1, 1, 1, 1, 1, 100]\n")
    assert check(path).exit_code == 0
    result = check(path, "--arm", "ur5e")
    assert result.exit_code == 2
    assert "limits.joint_velocity: shoulder_pan_joint: must be <= 3.142 rad/s" in result.stderr
    assert "limits.joint_acceleration: wrist_3_joint: must be <=" in result.stderr
    assert check("preset:pose-law", "--arm", "ur5e").exit_code == 0
    assert check("preset:pose-law", "--arm", "ur99").exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "limits: {workspace_min: [-1, 0.4, 0], workspace_max: [1, 0.9, 1]}",
            "limits.workspace_min: axis y: the tool starts at 0.133 m, outside the wall at 0.4 m",
        ),
        (
            "equilibrium: {position: [1.5, 0, 0.4], orientation: [1, 0, 0, 0]}",
            "equilibrium: must be within reach of a ur5e, 1.04 m from its shoulder, got 1.52 m",
        ),
    ],
)
def test_what_an_arm_cannot_reach_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    assert check(path).exit_code == 0
    result = check(path, "--arm", "ur5e")
    assert result.exit_code == 2
    assert words in result.stderr
    assert "can be used" not in result.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "limits: {workspace_min: [-1, -0.5, 0], workspace_max: [70, 0.5, 1]}",
            "limits.workspace_max: 70 m is far beyond the 1.04 m that a ur5e reaches",
        ),
        (
            "equilibrium: {position: [0, 0, 1.15], orientation: [0, 1, 0, 0]}",
            "equilibrium: no joint angles of a ur5e were found for it",
        ),
        (
            "equilibrium: {position: [0.6, 0.2, 0.4], orientation: [0, 1, 0, 0]}",
            "equilibrium: is 0.15 m from the start; the arm goes there when it starts",
        ),
        (
            "equilibrium: {position: [0.6, 0.2, 0.4], orientation: [0, 1, 0, 0]}\n"
            "limits: {workspace_min: [0, -1, 0.45], workspace_max: [1, 1, 1]}",
            "equilibrium: lies outside the box",
        ),
    ],
)
def test_what_is_unwise_with_an_arm_is_a_warning(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    result = check(path, "--arm", "ur5e")
    assert result.exit_code == 0, result.output
    assert words in result.stdout
    assert words not in check(path).stdout


def test_another_start_is_given_by_its_joint_angles(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("limits: {workspace_min: [-1, -1, 0], workspace_max: [0, 1, 1]}\n")
    turned = ("3.14159", "-1.5708", "1.5708", "-1.5708", "-1.5708", "0")
    assert check(path, "--arm", "ur5e").exit_code == 2
    result = check(path, "--arm", "ur5e", "--q", *turned, "--json")
    assert result.exit_code == 0, result.output
    arm = json.loads(result.stdout)["arm"]
    assert arm["start"][0] < 0 and arm["at_home"] is False and arm["walls"] is True
    assert "of which arm" in check(path, "--q", *turned).stderr
    beyond = check(path, "--arm", "ur5e", "--q", "7", *turned[1:])
    assert "--q: shoulder_pan_joint: must be from" in beyond.stderr
    assert check(path, "--arm", "ur5e", "--q", "nan", *turned[1:]).exit_code == 2


@pytest.mark.parametrize("arm", ["ur3e", "ur5e", "ur30"])
def test_presets_can_be_used_with_every_arm_and_have_no_walls(arm: str) -> None:
    result = check("preset:pose-law", "--arm", arm)
    assert result.exit_code == 0, result.output
    assert "walls     none within reach" in result.stdout


def test_it_says_whose_axes_they_are() -> None:
    assert "of the base (admittance.frame: base)" in check("preset:velocity-law").stdout
    assert "of the desired pose (admittance.frame: probe)" in check("preset:hand-guiding").stdout


def test_signs_that_a_terminal_lacks_become_others() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "ur_admittance_command", "check", "preset:hand-guiding"]
    result = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    assert b"kg m2" in result.stdout
    assert result.stdout.isascii()


def test_a_missing_equilibrium_file_is_found_before_the_robot_moves(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("equilibrium: home.yaml\n")
    result = check(path)
    assert result.exit_code == 2
    assert "home.yaml: no such file" in result.stderr


def test_help_names_the_verb_and_the_units() -> None:
    assert "check" in run.invoke(app, ["--help"]).stdout
    text = check("--help").stdout
    for unit in ("kg m^2", "N s/m", "N/m", "Hz", "m/s", "rad/s", "[s]"):
        assert unit in text
    assert "preset:NAME" in text


def test_main_runs_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ur-admittance", "check", "preset:pose-law", "--json"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert json.loads(capsys.readouterr().out)["ok"]


def test_a_mesh_that_is_none_is_told_before_any_run(tmp_path: Path) -> None:
    path = tmp_path / "probe.yaml"
    path.write_text("tool:\n  mesh: probe.stl\n")
    missing = check(path)
    assert missing.exit_code == 2
    assert f"tool.mesh {tmp_path / 'probe.stl'}: no such file" in missing.stderr
    (tmp_path / "probe.stl").write_bytes(b"solid probe\n" * 20)
    assert "perhaps this is an ASCII file?" in check(path).stderr
