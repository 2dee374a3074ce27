"""What a state says of the robot, one number at a time."""

from __future__ import annotations

import pytest

from ur_admittance.robots.modes import ROBOT_MODES, SAFETY_MODES
from ur_admittance.robots.rtde.script import ENDED, NOTHING_NEW, RUNS
from ur_admittance.robots.rtde.status import Status

FINE = Status(7, 1, 1, 2, 3, RUNS, 5, 0, 10)


def test_a_robot_that_runs_is_fine():
    assert FINE.fine and FINE.plausible
    assert FINE.robot_problem() is None and FINE.program_problem(5) is None
    assert FINE._replace(safety_mode=2, safety_bits=2).fine


@pytest.mark.parametrize("mode", [mode for mode in SAFETY_MODES if mode not in (1, 2)])
def test_every_safety_mode_but_two_is_a_stop_by_itself(mode: int):
    status = FINE._replace(safety_mode=mode)
    assert not status.fine
    problem = status.robot_problem()
    assert problem and SAFETY_MODES[mode] in problem.text and "start again" in problem.advice


@pytest.mark.parametrize("bit", range(2, 11))
def test_every_bit_of_a_stop_is_one_by_itself(bit: int):
    status = FINE._replace(safety_bits=1 | 1 << bit)
    assert not status.fine and status.robot_problem()


@pytest.mark.parametrize("mode", [mode for mode in ROBOT_MODES if mode != 7])
def test_every_robot_mode_but_running_is_named(mode: int):
    status = FINE._replace(robot_mode=mode)
    assert not status.fine and ROBOT_MODES[mode] in str(status.robot_problem())


def test_the_teach_button_is_noticed():
    status = FINE._replace(robot_bits=3 | 1 << 2)
    assert not status.fine and "by hand" in str(status.robot_problem())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"session": 6}, "taken over"),
        ({"why": NOTHING_NEW}, "heard nothing new"),
        ({"runtime_state": 4}, "is paused"),
        ({"runtime_state": 1}, "was stopped"),
        ({"program": ENDED}, "has ended"),
    ],
)
def test_a_program_that_is_not_ours_or_does_not_run_is_named(change, words):
    assert words in str(FINE._replace(**change).program_problem(5))


@pytest.mark.parametrize("field", ["robot_mode", "safety_mode", "runtime_state", "safety_bits"])
@pytest.mark.parametrize("value", [-2, 1 << 20])
def test_numbers_that_no_controller_has_are_not_plausible(field: str, value: int):
    assert not FINE._replace(**{field: value}).plausible
