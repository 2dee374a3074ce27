"""`ur-admittance init`: the arm goes home, and its pose becomes the equilibrium."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import PATIENCE, PATIENT, invoke, until
from ur_admittance import Config, RobotModel
from ur_admittance.blackboard import list_running

HOME = [0.2, -1.4, 1.4, -1.5, -1.5, 0.1]


@pytest.mark.slow
def test_the_pose_at_home_is_written_and_a_run_can_use_it(tmp_path: Path, runtime) -> None:
    file = tmp_path / "equilibrium.yaml"
    (tmp_path / "patient.yaml").write_text(PATIENT)
    words = ("--config", tmp_path / "patient.yaml", "--out", file, "--home", *HOME, "--json")
    result = invoke("init", "--robot", "sim", *words)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["joints"] == pytest.approx(HOME, abs=1e-3)
    assert "moves for" in result.stderr
    (tmp_path / "a.yaml").write_text("equilibrium: equilibrium.yaml\n")
    pose = Config.load(tmp_path / "a.yaml").equilibrium_pose()
    assert pose is not None
    assert pose.position == pytest.approx(RobotModel.ur("ur5e").fk(HOME)[:3, 3], abs=1e-3)
    brief = ("--pace", "0", "--seconds", "0.2", "--allow-travel")
    ran = invoke("run", "--robot", "sim", "--config", tmp_path / "a.yaml", *brief)
    assert ran.exit_code == 0, ran.output


def test_stay_writes_where_the_arm_stands(tmp_path: Path, runtime) -> None:
    file = tmp_path / "here.yml"
    result = invoke("init", "--robot", "sim:ur3e", "--out", file, "--stay")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{file}: the tool is at ")
    assert "moves" not in result.stderr
    model = RobotModel.ur("ur3e")
    pose = Config.from_dict({"equilibrium": str(file)}).equilibrium_pose()
    assert pose is not None
    assert np.array_equal(np.round(pose.position, 6), np.round(model.fk(model.home)[:3, 3], 6))


def test_a_simulated_arm_carries_the_tool_whose_pose_is_written(tmp_path: Path, runtime) -> None:
    (tmp_path / "tool.yaml").write_text("tool: {point: [0, 0, 0.1, 0, 0, 0]}\n")
    config, file = ("--config", tmp_path / "tool.yaml"), tmp_path / "here.yaml"
    result = invoke("init", "--robot", "sim", "--stay", "--out", file, *config, "--json")
    assert result.exit_code == 0, result.output
    model = RobotModel.ur("ur5e")
    point = (model.fk(model.home) @ [0.0, 0.0, 0.1, 1.0])[:3]
    np.testing.assert_allclose(json.loads(result.stdout)["position"], point, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("there.yaml", "exists already; --force replaces it"),
        ("no/where.yaml", "cannot be written"),
        ("pose.txt", "must end in .yaml"),
    ],
)
def test_a_file_that_cannot_be_written_is_found_before_anything_moves(
    name: str, words: str, tmp_path: Path, runtime
) -> None:
    (tmp_path / "there.yaml").write_text("mine\n")
    result = invoke("init", "--robot", "sim", "--out", tmp_path / name)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "moves" not in result.stderr
    assert (tmp_path / "there.yaml").read_text() == "mine\n"


def test_force_replaces_the_file(tmp_path: Path, runtime) -> None:
    file = tmp_path / "there.yaml"
    file.write_text("mine\n")
    assert invoke("init", "--robot", "sim", "--out", file, "--stay", "--force").exit_code == 0
    assert "position" in file.read_text()


@pytest.mark.slow
def test_ctrl_c_on_the_way_stops_the_arm_and_writes_nothing(start, tmp_path: Path) -> None:
    away = ("1.5", "-1", "1", "-1", "-1", "1")
    (tmp_path / "patient.yaml").write_text(PATIENT)
    process = start("init", "--robot", "sim", "--config", "patient.yaml", "--home", *away)
    assert process.stderr is not None
    assert "moves for" in process.stderr.readline()
    until(list_running)
    process.send_signal(signal.SIGINT)
    _, problems = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "init: interrupted" in problems
    assert not (tmp_path / "equilibrium.yaml").exists()
