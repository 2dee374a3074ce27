"""Who draws: a process of its own, ready first, gone with its owner."""

from __future__ import annotations

import os
import threading

import pytest

from tests.cli.support import Terminal, until
from tests.live.support import records
from ur_admittance import Config, Controller, RobotModel, live
from ur_admittance.blackboard import Blackboard


def test_nothing_is_drawn_and_started_without_a_terminal(runtime, capfd) -> None:
    with live.shown("sim:nobody"):
        pass
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_process_that_draws_is_ready_first_and_ends_with_its_owner(
    runtime, monkeypatch
) -> None:
    terminal, threads = Terminal(), set(threading.enumerate())
    config = Config()
    controller = Controller(RobotModel.ur("ur5e"), config)
    screen = os.fdopen(os.dup(terminal.theirs), "w")
    stdout = os.dup(1)
    monkeypatch.setattr("sys.stdout", screen)
    with Blackboard.create("sim:a", 500.0, controller.live) as board:
        os.dup2(terminal.theirs, 1)
        try:
            with live.shown("sim:a", "panel", "A title"):
                assert set(threading.enumerate()) <= threads  # one of an earlier test may end
                board.publish(records(1))
                until(lambda: terminal.shows("A title"))
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
    until(lambda: terminal.text.rfind("\x1b[?25h") > terminal.text.rfind("\x1b[?25l"))
