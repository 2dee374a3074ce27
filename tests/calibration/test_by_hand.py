"""A calibration that a person leads: Enter in each pose, or a recording of a run."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import invoke
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.calibration.payload import estimate
from ur_admittance.cli.by_hand import guided
from ur_admittance.robots import connect
from ur_admittance.robots.base import Robot, State
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import run
from ur_admittance.telemetry.scribe import Scribe

UR5E = RobotModel.ur("ur5e")
PROBE = Config.from_dict(
    {
        "tool.mass": 1.2,
        "tool.center_of_mass": [0.01, -0.005, 0.06],
        "payload.force_bias": [5, -3, 12],
        "control_rate": 125.0,
        "admittance.stiffness": [800.0] * 3 + [60.0] * 3,
        "max_angular_velocity": 1.5,
        "safety.wrench_timeout": 0.05,
        "safety.joint_timeout": 0.05,
    }
)
TURNS = ([0, 0, 0], [-0.7, 0, 0.5], [0.6, 0.4, 0], [0, -0.8, 0], [0, 0.8, -0.6], [0.6, -0.5, 1.0],
         [-0.5, 0.7, 0.3], [0.4, 0.8, -1])  # fmt: skip


def poses() -> list[np.ndarray]:
    return [UR5E.home + np.array([0, 0, 0, *turn]) for turn in TURNS]


def arm() -> Robot:
    return connect("sim", config=PROBE, rate=125.0, realtime=False)


def carry(robot: Robot, q: np.ndarray) -> None:
    """As a person would in freedrive, and let go."""
    robot.send_trajectory(q, np.zeros(6), 1.0)
    for _ in range(200):
        robot.wait()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal in which the command reads, and whose keys are typed here."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as typed:
        monkeypatch.setattr("sys.stdin", typed)
        yield ours
    os.close(ours)


def test_enter_takes_a_pose_and_q_ends_it(keys: int, capsys: pytest.CaptureFixture[str]) -> None:
    way = iter(poses()[1:])
    with arm() as robot:

        def taken(measured: list) -> None:
            goal = next(way, None)
            if goal is not None:
                carry(robot, goal)
            os.write(keys, b"\n" if goal is not None else b"q\n")

        os.write(keys, b"\n")
        measured = guided(robot, [], taken)
    assert len(measured) == len(TURNS)
    found = estimate(measured, real=False)
    assert found.mass == pytest.approx(1.2, rel=0.01)
    assert found.center_of_mass == pytest.approx([0.01, -0.005, 0.06], abs=0.002)
    assert found.verdict == "good"
    said = capsys.readouterr().err
    assert "press Enter" in said and "hold it still" in said


def test_an_arm_that_still_moves_is_told_and_asked_for_again(
    keys: int, capsys: pytest.CaptureFixture[str]
) -> None:
    class Restless(SimRobot):
        again = False

        def wait(self) -> State:
            state = super().wait()
            if 0 < self.time < 5.0:
                state.qd[0] = 0.3
            elif not self.again:
                os.write(keys, b"\n")
                self.again = True
            return state

    def taken(measured: list) -> None:
        os.write(keys, b"q\n")

    with Restless("ur5e", rate=125.0, realtime=False) as robot:
        os.write(keys, b"\n")
        measured = guided(robot, [], taken)
    assert len(measured) == 1
    assert "hold it still; press Enter again" in capsys.readouterr().err


def test_a_closed_terminal_ends_it_with_what_was_taken() -> None:
    with arm() as robot, pytest.MonkeyPatch.context() as patch, open(os.devnull) as nothing:
        patch.setattr("sys.stdin", nothing)
        assert guided(robot, [], lambda measured: None) == []


def test_a_recording_of_a_run_through_poses_is_calibrated_from(tmp_path: Path, runtime) -> None:
    """Every pose of the run at rest is one of the calibration's."""
    path, out = tmp_path / "run.mcap", tmp_path / "payload.yaml"
    goals = [UR5E.fk(q) for q in poses()]
    with arm() as robot:
        controller = Controller(robot.model, PROBE)
        with Blackboard.create("sim", robot.rate, controller.live) as board:
            scribe = Scribe(Blackboard.attach("sim"), path, robot.model)

            def each(state: object, out: np.record) -> None:
                if board.published % 500 == 1:  # 4 s each
                    controller.set_desired(goals[min(board.published // 500, len(goals) - 1)])
                scribe.poll()

            summary = run(robot, controller, seconds=4.0 * len(goals), board=board, each=each)
            scribe.poll()
            scribe.finish({})
    assert not summary.faulted, summary.reason
    done = invoke("calibrate", "--from", path, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["mass"] == pytest.approx(1.2, rel=0.01)
    assert found["center_of_mass"] == pytest.approx([0.01, -0.005, 0.06], abs=0.002)
    written = Config.load(out)
    assert written.payload.force_bias == pytest.approx([5, -3, 12], abs=0.1)
    assert 0.1 < written.payload.noise_force < 0.6, "0.2 N, and what was left of the motion"
