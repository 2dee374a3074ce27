"""A run that an error ends leaves its last seconds behind."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import invoke
from ur_admittance import Config, Controller, RobotError
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import Run
from ur_admittance.run.claim import claimed
from ur_admittance.telemetry.recording import read


def failing(record: Path | None = None) -> str:
    """A run whose callback fails at tick 1500, three seconds in; what is said of it."""
    published = []

    def fail(state, out: np.record) -> None:
        published.append(out.copy())
        if out["tick"] == 1500:
            raise RuntimeError("a test says so")

    with SimRobot("ur5e", realtime=False) as arm:
        controller = Controller(arm.model, Config.preset("hand-guiding"))
        with (
            pytest.raises(RobotError, match="a test says so; the arm was stopped") as caught,
            Run(arm, controller=controller, record=record, each=fail) as run,
        ):
            run.drive()
    return str(caught.value)


def test_the_last_two_seconds_before_an_error_are_kept_and_named(tmp_path, monkeypatch, runtime):
    monkeypatch.chdir(tmp_path)
    found = re.search(r"the last two seconds: ur-admittance report (.*)$", failing())
    assert found is not None
    recording = read(found[1])
    assert Path(found[1]).parent == tmp_path
    assert 900 <= len(recording.records) <= 1001 and recording.records["tick"][-1] >= 1500
    assert np.all(np.diff(recording.records["tick"]) == 1)
    assert "a test says so" in recording.summary["error"]
    assert recording.reason is not None and recording.reason.code == "error"
    assert recording.reason.text == "run: RuntimeError: a test says so"
    result = invoke("report", found[1])
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_a_run_that_is_recorded_needs_no_second_file(tmp_path, monkeypatch, runtime):
    monkeypatch.chdir(tmp_path)
    words = failing(tmp_path / "run.mcap")
    assert words.endswith(f"; the run until then is in {tmp_path / 'run.mcap'}")
    assert [file.name for file in tmp_path.glob("*.mcap")] == ["run.mcap"]
    reason = read(tmp_path / "run.mcap").reason
    assert reason is not None and reason.code == "error"


@pytest.mark.parametrize("verb", [("run", "--config", "preset:hand-guiding"), ("init",)])
def test_a_robot_is_claimed_before_it_is_connected(verb, tmp_path, monkeypatch, runtime):
    """Row 53 of the faults: the second of two that start together says no word to the robot."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SimRobot, "connect", lambda self: pytest.fail("it was connected"))
    with claimed("sim:ur5e"):
        result = invoke(*verb, "--robot", "sim")
    assert result.exit_code == 1
    assert "sim:ur5e: another process of yours is about to control it" in result.stderr
