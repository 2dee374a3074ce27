"""What differs from what was expected, said with both values; and nothing where nothing does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.robots.rtde.support import PumpedSocket, controller
from ur_admittance import Config, RobotError
from ur_admittance.robots.rtde.dashboard import Dashboard
from ur_admittance.robots.rtde.inspection import (
    ONCE,
    Expected,
    Found,
    NotReady,
    differences,
    read_once,
)
from ur_admittance.robots.rtde.primary import Arm

TCP = (0.0, 0.0, 0.15, 0.0, 0.0, 0.5)
ARM = Arm("ur5e", (1, 2, 3, 4, 5, 255), np.zeros((4, 6)), *[np.zeros(6)] * 4, tcp=np.array(TCP))
VALUES = {
    "payload": 1.2,
    "payload_cog": np.array([0.0, 0.01, 0.05]),
    "target_gravity": np.array([0.0, 0.0, 9.82]),
    "target_speed_fraction": 1.0,
}
CONFIG = Config.from_dict({"payload.mass": 1.2, "payload.center_of_mass": [0.0, 0.01, 0.05]})
SUMS = "00000001-00000002-00000003-00000004-00000005-000000FF"
EXPECTED = Expected("UR5e", "20191234", SUMS, TCP)


def unreachable(address: tuple[str, int], seconds: float) -> Any:
    raise OSError("nobody there")


def found(**values: Any) -> Found:
    board = Dashboard("robot", make=unreachable)
    board.serial, board.remote = "20191234", "true"
    return Found((5, 14, 0, 1), board, ARM, values={**VALUES, **values})


def said(
    robot: Found,
    expected: Expected = EXPECTED,
    config: Config = CONFIG,
    *,
    compensated: bool = False,
    own_sensor: bool = True,
) -> list[str]:
    return differences(robot, expected, config, compensated=compensated, own_sensor=own_sensor)


def test_a_robot_that_is_as_expected_is_not_spoken_of() -> None:
    assert said(found()) == []
    assert said(found(), Expected()) == []


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"model": "ur10e"}, "model: the robot has ur5e, expected is ur10e"),
        ({"serial": "1"}, "serial number: the robot has 20191234, expected is 1"),
        ({"calibration": "00"}, "kinematic calibration: the robot has 00000001-00000002-"),
        ({"tcp": (0.0, 0.0, 0.1511, 0, 0, 0.5)}, "TCP: the robot has [0, 0, 0.15, 0, 0, 0.5]"),
        ({"tcp": (0.0, 0.0, 0.15, 0, 0, 0.511)}, "expected is [0, 0, 0.15, 0, 0, 0.511]"),
        ({"tcp": (np.nan,) * 6}, "TCP: "),
    ],
)
def test_each_difference_is_one_line_with_both_values(expected: dict, words: str) -> None:
    (line,) = said(found(), replace(EXPECTED, **expected))
    assert words in line and "; " in line


def test_a_tcp_may_be_off_by_as_much_as_it_was_rounded() -> None:
    rounded = tuple(np.add(TCP, [9e-4, 0, -9e-4, 0, 9e-3, -9e-3]))
    assert said(found(), replace(EXPECTED, tcp=rounded)) == []


def test_a_serial_number_that_cannot_be_read_is_none_that_was_expected() -> None:
    robot = found()
    robot.dashboard.serial = ""
    (line,) = said(robot)
    assert "the robot has none that can be read, expected is 20191234" in line


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"payload": 1.37}, "payload: the robot has 1.37 kg, payload.mass is 1.2 kg"),
        ({"payload": 0.0}, "payload: the robot has 0 kg"),
        ({"payload": np.nan}, "payload: the robot has nan kg"),
        ({"payload_cog": np.array([0.0, 0.01, 0.08])}, "its centre at [0, 0.01, 0.08] m"),
        ({"target_gravity": np.array([0.0, 6.9, 6.9])}, "gravity: the robot has [-0, -6.9, -6.9]"),
        ({"target_gravity": np.array([0.0, 0.0, -9.82])}, "gravity: the robot has"),
        ({"target_speed_fraction": 0.0}, "speed slider: the robot has 0 %"),
        ({"target_speed_fraction": np.nan}, "speed slider: the robot has nan %"),
    ],
)
def test_what_the_pendant_was_told_is_compared_with_the_configuration(values, words) -> None:
    (line,) = said(found(**values))
    assert words in line


@pytest.mark.parametrize(
    "values",
    [
        {"payload": 1.2 + 0.1 + 0.05 * 1.2 - 1e-9},
        {"payload_cog": np.array([0.0, 0.01, 0.0699])},
        {"target_gravity": np.array([0.0, 0.3, 9.82])},  # two degrees are allowed
        {"target_speed_fraction": 0.01},
    ],
)
def test_what_differs_by_little_is_not_spoken_of(values) -> None:
    assert said(found(**values)) == []


def test_what_an_old_version_does_not_say_is_not_compared() -> None:
    robot = replace(found(), values={}, arm=None)
    robot.dashboard.remote = ""
    assert said(robot) == []


def test_a_wrench_without_the_payload_wants_none_of_ours() -> None:
    (line,) = said(found(), compensated=True)
    assert "payload.mass is 1.2 kg, but this robot takes the payload out" in line
    bare = Config()
    assert said(found(), config=bare, compensated=True) == []
    assert len(said(found(), config=bare)) == 1
    assert said(found(), config=bare, own_sensor=False) == []


def test_local_control_is_said_with_the_two_ways_out_of_it() -> None:
    robot = found()
    robot.dashboard.remote = "false"
    (line,) = said(robot)
    assert "local control" in line and "remote control" in line and "--urcap" in line


def test_all_that_stands_against_a_start_comes_at_once_with_the_robots_name() -> None:
    error = NotReady("rtde://1.2.3.4", ["one", "two"])
    assert isinstance(error, RobotError)
    assert error.problems == ["rtde://1.2.3.4: one", "rtde://1.2.3.4: two"]
    assert str(error) == "rtde://1.2.3.4: one; rtde://1.2.3.4: two"


def test_a_robot_is_told_in_one_line() -> None:
    assert found(target_speed_fraction=0.3).words == (
        "ur5e 20191234, software 5.14.0, speed slider at 30 %"
    )
    plain = replace(found(), arm=None, values={})
    plain.dashboard.serial = ""
    assert plain.words == "arm, software 5.14.0" and not plain.cb3
    assert replace(found(), version=(3, 15, 0, 0)).cb3


def test_what_changes_seldom_is_read_once_by_name() -> None:
    with controller() as fake:
        fake.machine.payload, fake.machine.payload_cog[:] = 1.5, [0.0, 0.0, 0.1]
        read = read_once(
            "127.0.0.1", fake.ports["rtde"], lambda address, seconds: PumpedSocket(fake, address)
        )
        assert set(ONCE) | {"timestamp"} >= read.keys() and read["payload"] == 1.5
        np.testing.assert_array_equal(read["payload_cog"], [0.0, 0.0, 0.1])
        assert read["target_gravity"].shape == (3,)
        assert read["target_speed_fraction"] == 1.0
