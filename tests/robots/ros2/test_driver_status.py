"""What the driver says of the robot: only one that runs, and safely, may be commanded."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from ur_admittance.robots.ros2.driver_status import (
    program_problem,
    robot_problem,
    safety_problem,
)


def test_a_robot_that_runs_normally_or_reduced_may_be_commanded() -> None:
    assert not robot_problem(7) and not safety_problem(1) and not safety_problem(2)
    assert not program_problem(True)


@pytest.mark.parametrize("mode", [m for m in range(-1, 12) if m != 7])
def test_every_other_robot_mode_stops_it(mode: int) -> None:
    assert f"robot mode {mode}, " in str(robot_problem(mode))


@pytest.mark.parametrize("mode", [0, *range(3, 20)])
def test_every_other_safety_mode_stops_it(mode: int) -> None:
    assert f"safety mode {mode}, " in str(safety_problem(mode))


def test_a_stop_is_named_with_what_to_do() -> None:
    assert "protective stop); what to do: clear it there first" in str(safety_problem(3))
    assert "press play" in str(program_problem(False))
