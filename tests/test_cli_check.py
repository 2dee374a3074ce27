"""`ur-admittance check`: what it prints and how it leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

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
    assert report["axes"][2]["natural_frequency"] == pytest.approx(1.779, rel=1e-3)
    assert report["axes"][3]["enabled"] is False
    assert report["filter"]["delay"] == pytest.approx(0.019, rel=1e-2)
    assert len(report["warnings"]) == 2
    path = tmp_path / "a.yaml"
    path.write_text("tip: 5\nbase_link: 6\n")
    wrong = check(path, "--json")
    report = json.loads(wrong.stdout)
    assert wrong.exit_code == 2
    assert report["ok"] is False
    assert len(report["errors"]) == 2
    assert wrong.stderr.splitlines() == report["errors"]


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
    result = check(path, "--robot", "ur5e")
    assert result.exit_code == 2
    assert "limits.joint_velocity: shoulder_pan_joint: must be <= 3.142 rad/s" in result.stderr
    assert "limits.joint_acceleration: wrist_3_joint: must be <=" in result.stderr
    assert check("preset:pose-law", "--robot", "ur5e").exit_code == 0
    assert check("preset:pose-law", "--robot", "ur99").exit_code == 2


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
