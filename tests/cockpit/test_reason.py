"""A page shows why a run was stopped, and what to do, in the words of its terminal."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cockpit.conftest import ROBOT, hear
from tests.run.support import PUSH
from ur_admittance import Config, Controller, StopReason
from ur_admittance.blackboard import Blackboard
from ur_admittance.cli.attend import tell_stop
from ur_admittance.cockpit.frames import Feed
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.run import run
from ur_admittance.run.summary import Summary

HARD = ScriptedPush([(0.2, 1.0, np.array([0.0, 250.0, 0, 0, 0, 0]))])


class Waiting(SimRobot):
    """From a moment on its states have waited for 3 ms when they are seen."""

    def wait(self) -> State:
        state = super().wait()
        if state.cycle > 200:
            state.joint_time -= 0.003
        return state


def run_until_stopped(board: Blackboard, how: str) -> Summary:
    kind, hand = Waiting if how == "late" else SimRobot, HARD if how == "over_force" else PUSH
    with kind("ur5e", ideal=True, realtime=False, hand=hand) as robot:
        controller = Controller(robot.model, Config())

        def each(state, out) -> None:
            if out["tick"] == 100 and how == "stop()":
                controller.stop("door open; cell 3")
            if out["tick"] == 100 and how == "ur-admittance stop":
                Blackboard.attach(ROBOT).stop("ur-admittance stop; process 7")

        return run(robot, controller, seconds=3.0, board=board, each=each)


@pytest.mark.unjudged(
    "joint acceleration of what sim:ur5e is told",
    reason="after stamps that lie, one tick makes up for 3 ms, though its command comes in time",
)
@pytest.mark.parametrize("how", ["stop()", "ur-admittance stop", "over_force", "late"])
def test_a_page_shows_the_terminals_words(board, served, page, capsys, how: str) -> None:
    link = page(served.access.token)
    assert hear(link, "life")["reason"] is None
    summary = run_until_stopped(board, how)
    assert summary.reason is not None
    tell_stop(summary, None, simulated=False)
    terminal = capsys.readouterr().err
    life = hear(link, "life")
    while life["reason"] is None:
        life = hear(link, "life")
    assert StopReason(**life["reason"]) == summary.reason
    assert f"the arm was stopped: {life['reason']['text']}\n" in terminal
    assert f"what to do: {life['reason']['advice']}\n" in terminal
    if summary.faulted:
        words = json.loads(Feed(Blackboard.attach(ROBOT)).frame())["words"]
        assert words == f"stopped: {summary.reason.text}"
    board.reason = None  # it goes on
    while hear(link, "life")["reason"] is not None:
        pass
