"""The unmodified ur_rtde wheel drives the fake controller: its script runs because scripts run."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_fake.robot import FakeRobot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("rtde_control") is None, reason="no ur_rtde for this Python"
    ),
]
ROOT = Path(__file__).parents[2]
SECONDS = 500.0  # for a client to finish: it takes 20, on a very busy machine 100


@pytest.fixture(scope="module")
def robot() -> Iterator[FakeRobot]:
    """ur_rtde knows only the real ports: an address of its own lets tests run side by side."""
    pid = os.getpid()
    host = f"127.{100 + pid // 65536 % 100}.{pid // 256 % 256}.{pid % 254 + 1}"
    with FakeRobot(host=host, ports=0, process=True) as made:
        leave_the_script(made)
        yield made


def leave_the_script(robot: FakeRobot) -> None:
    """ur_rtde allows 5 s of real time from sending its script to its start, however busy the
    machine is. So the script is left with the controller before, which keeps what it has compiled;
    what becomes of the client that brings it does not matter.
    """
    first = start("hang", robot)
    until(robot, lambda state: state["program_state"] == "PLAYING")
    end(first)
    robot.do("stop_program")


def end(process: subprocess.Popen[str]) -> None:
    """As a client ends that is killed."""
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def start(what: str, robot: FakeRobot) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.ur_fake.ur_rtde_client", what, robot.host]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    return json.loads(out.strip().splitlines()[-1])


def until(robot: FakeRobot, done: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until something is so; a question takes the controller a cycle."""
    for _ in range(100_000):
        if done(robot.state()):
            return
    raise AssertionError("waited in vain")


@pytest.fixture(scope="module")
def seen(robot: FakeRobot) -> dict[str, Any]:
    return result(start("drive", robot))


def test_all_interfaces_connect_and_the_script_runs(seen: dict[str, Any]) -> None:
    assert seen["connected"] == [True, True, True]
    assert seen["program_running"]
    assert seen["running"]
    assert seen["dashboard"] == ["Robotmode: RUNNING", "Safetystatus: NORMAL", True]


@pytest.mark.parametrize("move", ["moveJ", "moveJ_back"])
def test_moves_of_the_joints_arrive(seen: dict[str, Any], move: str) -> None:
    answered, got, wanted = seen[move]
    assert answered
    assert np.allclose(got, wanted, atol=2e-3)


def test_a_move_of_the_tool_arrives(seen: dict[str, Any]) -> None:
    """A turn by pi has two rotation vectors: they are compared as rotations."""
    answered, got, wanted = seen["moveL"]
    assert answered
    assert np.allclose(got[:3], wanted[:3], atol=2e-3)
    between = Rotation.from_rotvec(got[3:]).inv() * Rotation.from_rotvec(wanted[3:])
    assert between.magnitude() < 2e-3


def test_a_move_can_be_stopped_on_its_way(seen: dict[str, Any]) -> None:
    where, speed = seen["stopped_on_the_way"]
    assert 0.0 < where < 1.5
    assert speed < 0.02


def test_speeds_are_kept_and_end(seen: dict[str, Any]) -> None:
    assert np.allclose(seen["speedJ"], [0.2, 0, 0, 0, 0, 0], atol=0.01)
    assert np.allclose(seen["speedStop"], 0, atol=0.05)
    assert np.allclose(seen["speedL"][:3], [0, 0, -0.05], atol=0.005)


@pytest.mark.parametrize("servo", ["servoJ", "servoL"])
def test_servo_targets_are_followed(seen: dict[str, Any], servo: str) -> None:
    got, wanted = seen[servo]
    assert got == pytest.approx(wanted, abs=2e-3)


def test_the_sensor_is_zeroed(seen: dict[str, Any]) -> None:
    assert seen["zeroFtSensor"]
    assert np.linalg.norm(seen["force_after_zero"][:3]) < 2.0


def test_the_payload_is_set(seen: dict[str, Any]) -> None:
    answered, mass, cog = seen["setPayload"]
    assert answered
    assert mass == pytest.approx(1.5)
    assert np.allclose(cog, [0, 0, 0.05])


def test_joint_torques_and_tcp_are_answered(seen: dict[str, Any]) -> None:
    assert len(seen["getJointTorques"]) == 6
    assert np.all(np.isfinite(seen["getJointTorques"]))
    assert seen["setTcp"][0]
    assert np.allclose(seen["setTcp"][1], [0, 0, 0.1, 0, 0, 0])


def test_force_mode_is_entered_moves_down_and_is_left(seen: dict[str, Any]) -> None:
    left, moved = seen["forceMode"]
    assert left
    assert moved < -0.005


def test_outputs_and_the_speed_slider_are_set(seen: dict[str, Any]) -> None:
    assert seen["io"] == [True, True, True, pytest.approx(0.5), True]


def test_the_script_ends_when_told(seen: dict[str, Any]) -> None:
    assert not seen["stopped"]


def test_a_killed_client_leaves_the_arm_braked_and_another_takes_over(
    robot: FakeRobot, seen: dict[str, Any]
) -> None:
    hanging = start("hang", robot)
    assert hanging.stdout is not None
    while hanging.stdout.readline().strip() != "moving":
        assert hanging.poll() is None
    until(robot, lambda state: state["actual_qd"][0] > 0.05)
    end(hanging)
    until(robot, lambda state: max(map(abs, state["actual_qd"])) < 0.01)
    back = result(start("come_back", robot))
    assert back["moved"]
    assert np.allclose(back["q"], [0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0], atol=2e-3)
