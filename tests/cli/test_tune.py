"""`ur-admittance tune`: what it writes, says and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import invoke
from ur_admittance import Config

QUICK = ("--quick", "--jobs", 1)


@pytest.mark.slow
def test_gains_are_written_as_a_configuration_that_check_accepts(tmp_path: Path) -> None:
    file = tmp_path / "tuned.yaml"
    question = ("tune", "--task", "guide", "--surface", 20000, "--push", 20, "--lag", 0.008)
    result = invoke(*question, "--out", file, *QUICK)
    assert result.exit_code == 0, result.output
    assert "M = " in result.stdout and "stiffest surface" in result.stdout
    assert (tmp_path / "tuned.png").read_bytes().startswith(b"\x89PNG")
    assert invoke("check", file).exit_code == 0
    config = Config.load(file)
    assert config.contact.adapt and config.arm.lag == 0.008
    assert config.environment_stiffness == 20000
    again = invoke(*question, "--out", file, *QUICK)
    assert again.exit_code == 2 and "--force" in again.stderr


def test_what_identify_wrote_is_no_model_of_an_arm(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    for _ in ("before it is written", "and after"):
        result = invoke("tune", "--arm", file, "--out", tmp_path / "tuned.yaml", *QUICK)
        assert result.exit_code == 2
        assert f"did you mean --identified {file}?" in result.stderr
        file.write_text("arm: {lag: 0.02}\n")
    both = invoke("tune", "--identified", file, "--lag", 0.01, *QUICK)
    assert both.exit_code == 2 and "--lag: --identified knows it" in both.stderr
    unknown = invoke("tune", "--arm", "ur99", *QUICK)
    assert unknown.exit_code == 2 and "unknown arm 'ur99'" in unknown.stderr


def test_a_folder_that_is_none_is_found_before_the_work(tmp_path: Path) -> None:
    for words in (("tune", *QUICK), ("map", "preset:touch")):
        result = invoke(*words, "--out", tmp_path / "no" / "where.yaml")
        assert result.exit_code == 2
        assert "is no folder that can be written to" in result.stderr


@pytest.mark.slow
def test_a_task_that_cannot_be_met_leaves_with_1_and_writes_no_configuration(
    tmp_path: Path,
) -> None:
    arm, file = tmp_path / "arm.yaml", tmp_path / "tuned.yaml"
    arm.write_text("arm: {lag: 0.08, delay: 0.02}\n")  # as `identify` writes it
    hopeless = (
        "tune",
        "--surface",
        400000,
        "--push",
        5,
        "--identified",
        arm,
        "--out",
        file,
        *QUICK,
    )
    result = invoke(*hopeless)
    assert result.exit_code == 1 and not file.exists()
    assert "no gains meet this" in result.stdout and "nearest is" in result.stdout
    assert "lag 80 ms" in result.stdout
    assert "What would help" in result.stdout
    assert (tmp_path / "tuned.png").exists()


def test_a_question_that_is_none_leaves_with_2(tmp_path: Path) -> None:
    both = ("--arm", "preset:touch", "--lag", 0.01)
    wrongs = (("--task", "dance"), ("--surface", "soft"), ("--push", -1), ("--arm", "r2d2"))
    for wrong in (*wrongs, both):
        result = invoke("tune", *wrong, "--out", tmp_path / "tuned.yaml")
        assert result.exit_code == 2, wrong
        assert result.stderr and not (tmp_path / "tuned.yaml").exists()
