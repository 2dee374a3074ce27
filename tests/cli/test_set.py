"""`set`: another terminal tunes a controller."""

from __future__ import annotations

import json
import threading

import pytest

from tests.cli.support import PUSHED, attached, invoke
from ur_admittance.blackboard import Blackboard


def test_set_without_a_controller_leaves_with_one(runtime) -> None:
    result = invoke("set", "max_linear_velocity", "0.1")
    assert result.exit_code == 1
    assert "no controller runs" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("max_linear_velocity", "-0.1"), "must be a number > 0 and <= 5 (m/s), got -0.1"),
        (("admittance.mass", "5"), "must be six numbers"),
        (("max_linear_velocity", "0,25"), "write 0.25, with a point"),
        (("max_linear_velocity",), "give its new value, too"),
        (("max_linear_velocity", "admittance.mass=3"), "write all as NAME=VALUE"),
        (("max_linear_velocity=0.1", "0.2"), "must be NAME=VALUE, as the first is"),
        (("max_linear_velocity=",), "must be NAME=VALUE"),
        (("max_linear_velocity=0.1", "max_linear_velocity=0.2"), "given twice"),
        (("max_linear_velocity=0.1", "max_angular_velocity=90"), "must be a number > 0 and <= 10"),
        (("admittance.virtual_stiffness", *"333222"), "has no effect while admittance.damping"),
        (("mass", "5"), "did you mean admittance.mass"),
        (("tip", "flange"), "cannot change while running"),
        (("max_linear_velocity", "[1"), "is no YAML value"),
        (("max_linear_velocity", "nan"), "must be a number"),
    ],
)
def test_a_change_that_is_wrong_leaves_with_two_and_changes_nothing(words, message, board) -> None:
    result = invoke("set", *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert Blackboard.attach().config() == board.config


@pytest.mark.slow
def test_set_waits_for_a_loop_that_does_not_tick_only_so_long(board) -> None:
    board.tick(1)
    result = invoke("set", "max_linear_velocity", "0.1")
    assert result.exit_code == 1
    assert "has not taken the change" in result.stderr


def test_another_terminal_tunes_the_running_arm(start) -> None:
    reader = attached(start(*PUSHED))
    result = invoke("set", "admittance.damping", *["200", "200", "200", "5", "5", "5"])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "admittance.damping: [60, 60, 60, 2, 2, 2] -> [200, 200, 200, 5, 5, 5]",
        "sim:ur5e has taken it, and gets there within 0.5 s",
    ]
    again = invoke("set", "max_linear_velocity", "5e-2", "--json")
    report = json.loads(again.stdout)
    assert report["values"] == {"max_linear_velocity": {"before": 0.4, "now": 0.05}}
    assert report["taken"] is True
    assert report["ramp_seconds"] == 0.0
    assert invoke("set", "max_linear_velocity", "0.05").stdout.endswith("that value already\n")
    assert reader.config().effective_damping()[0] == 200


class Ticking:
    """Ticks a board in a thread while another terminal does something."""

    def __init__(self, board) -> None:
        self.board, self.over = board, threading.Event()
        self.thread = threading.Thread(target=self.go)

    def go(self) -> None:
        while not self.over.wait(0.001):
            self.board.tick(1)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_) -> None:
        self.over.set()
        self.thread.join()


def test_several_parameters_change_in_one_step(board) -> None:
    with Ticking(board):
        result = invoke("set", "max_linear_velocity=0.1", "admittance.mass=[5,5,5,.3,.3,3e-1]")
    assert result.exit_code == 0, result.output
    first, second, third = result.stdout.splitlines()
    assert first == "max_linear_velocity: 0.4 -> 0.1"
    assert second == "admittance.mass: [4, 4, 4, 0.2, 0.2, 0.2] -> [5, 5, 5, 0.3, 0.3, 0.3]"
    assert third == "sim:a has taken it, and gets there within 0.5 s"
    again = invoke("set", "max_linear_velocity=0.1", "admittance.mass=[5,5,5,.3,.3,.3]")
    assert again.stdout == "max_linear_velocity, admittance.mass have these values already\n"


def test_a_damping_ratio_rules_from_the_moment_it_is_set(board) -> None:
    with Ticking(board):
        result = invoke("set", "admittance.damping_ratio", *"111111")
    assert result.exit_code == 0, result.output
    assert "admittance.damping: [60, 60, 60, 2, 2, 2] -> none" in result.stdout
    assert Blackboard.attach().config().effective_damping()[0] == pytest.approx(69.28, rel=1e-3)
