"""A fake robot for tests, in a thread and in a process."""

from __future__ import annotations

import socket
import time

import pytest

from ur_admittance.errors import ConfigError, RobotError
from ur_fake.arm.arm import CYCLE
from ur_fake.robot import FakeRobot


def greeting(robot: FakeRobot) -> str:
    address = robot.host, robot.ports["dashboard"]
    with socket.create_connection(address, timeout=120.0) as sock:
        return sock.makefile().readline()


@pytest.mark.parametrize("process", [False, True])
def test_it_is_there_for_as_long_as_the_block_lasts(process: bool) -> None:
    with FakeRobot(
        "ur3e", process=process, states=["local"], faults=["identity:serial=7"]
    ) as robot:
        assert "Dashboard" in greeting(robot)
        assert robot.state()["remote_control"] is False
        robot.do("emergency_stop")
        assert robot.state()["safety_mode"] == "ROBOT_EMERGENCY_STOP"
        robot.inject("rtde:drop=0.5")
        assert robot.state()["faults"] == 2
        assert (robot.pid is not None) == process
    with pytest.raises(OSError, match="refused"):
        greeting(robot)


def test_two_live_side_by_side() -> None:
    with FakeRobot() as one, FakeRobot() as other:
        assert not set(one.ports.values()) & set(other.ports.values())
        one.do("power_off")
        assert other.state()["robot_mode"] == "RUNNING"


def test_what_is_refused_is_an_error() -> None:
    with FakeRobot() as robot, pytest.raises(RobotError, match="there are"):
        robot.do("explode")


def test_a_fault_that_does_not_exist_starts_nothing() -> None:
    with pytest.raises(ConfigError, match="no place"), FakeRobot(faults=["moon:full"]):
        pass


def test_its_clock_is_never_ahead_of_the_one_on_the_wall() -> None:
    with FakeRobot() as robot:
        before = time.monotonic()
        first = last = robot.state()["time"]
        while last < first + 0.1:
            last = robot.state()["time"]
        assert last - first < time.monotonic() - before + CYCLE
