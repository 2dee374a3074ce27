"""`watch` and `set`: another terminal looks at a controller and tunes it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import numpy as np
import pytest

from tests.cli_support import PUSHED, Terminal, attached, invoke, runtime, start, until
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard

__all__ = ["runtime", "start"]


class Board:
    """A blackboard of this process, and the controller whose ticks it shows."""

    def __init__(self, **changes) -> None:
        self.config = Config.preset("hand-guiding").replace(changes)
        self.controller = Controller(RobotModel.ur("ur5e"), self.config)
        self.controller.activate(self.controller.model.home)
        self.board = Blackboard.create("sim:a", 500.0, self.config, self.controller.params)

    def tick(self, count: int, push: float = 0.0) -> None:
        q = self.controller.model.home
        for _ in range(count):
            self.board.take_params(self.controller.params)
            self.controller.update(q, np.array([push, 0, 0, 0, 0, 0.0]), 0.002)
            self.board.publish(self.controller.outputs)


@pytest.fixture
def board(runtime) -> Iterator[Board]:
    made = Board()
    yield made
    made.board.close()


def test_watch_once_shows_the_newest_tick(board) -> None:
    board.tick(200, push=20.0)
    result = invoke("watch", "--once")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("running: active    20.0 N")
    assert "mm/s" in result.stdout


def test_watch_json_has_the_same_in_si_units(board) -> None:
    board.tick(200, push=20.0)
    result = invoke("watch", "--once", "--json")
    seen = json.loads(result.stdout)
    out = board.controller.outputs[0]
    assert seen["state"] == "running"
    assert seen["mode"] == "active"
    assert seen["force"] == pytest.approx(20.0, abs=0.1)
    assert seen["speed"] == pytest.approx(np.linalg.norm(out["V_WP_cmd"][:3]))
    assert seen["p_WP"] == pytest.approx(out["X_WP"][:3, 3])


def test_watch_once_without_a_controller_says_so_and_leaves_with_one(runtime) -> None:
    result = invoke("watch", "--once")
    assert result.exit_code == 1
    assert "waiting: no controller runs" in result.stdout
    named = invoke("watch", "--once", "--robot", "sim:b")
    assert named.exit_code == 1
    assert "no controller runs for sim:b" in named.stdout


def test_set_without_a_controller_leaves_with_one(runtime) -> None:
    result = invoke("set", "max_linear_velocity", "0.1")
    assert result.exit_code == 1
    assert "no controller runs" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("max_linear_velocity", "-0.1"), "must be a number > 0 and <= 5 (m/s), got -0.1"),
        (("admittance.mass", "5"), "must be six numbers"),
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


@pytest.mark.slow
def test_watch_sees_a_controller_come_fall_silent_die_and_come_back(start) -> None:
    terminal = Terminal()
    watching = start("watch", **terminal.options)
    until(lambda: terminal.shows("no controller runs"))
    first = start(*PUSHED)
    until(lambda: terminal.shows("running"))
    until(lambda: terminal.shows("from above") and terminal.shows("damping"))
    first.send_signal(signal.SIGSTOP)
    until(lambda: terminal.shows("silent"))
    first.kill()
    first.wait()
    until(lambda: terminal.shows("died without a word"))
    terminal.text = ""
    start(*PUSHED)
    until(lambda: terminal.shows("running"))
    terminal.type("q")
    assert watching.wait(120) == 0
    assert terminal.shows("\x1b[?1049l")  # back from the alternate screen
