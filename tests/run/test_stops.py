"""Every stop has one reason: its words are taken whole, and are the same wherever it is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ur_admittance as ua
from tests.run.support import PUSH, simulated
from tests.support import controller_of, run
from ur_admittance import Config, StopReason
from ur_admittance.blackboard import Blackboard
from ur_admittance.cli.attend import tell_stop
from ur_admittance.faults import CAUSES, FAULTS
from ur_admittance.run import loop
from ur_admittance.run.signals import interrupted
from ur_admittance.run.summary import Summary

MODEL = ua.RobotModel.ur("ur5e")
HOME = np.array(MODEL.home)
DOOR = "door open; cell 3"
DOOR_TOLD = StopReason("asked", DOOR, CAUSES["asked"].advice)


def test_every_stop_of_the_tables_says_what_to_do_and_no_code_is_there_twice() -> None:
    stops = {fault.name: fault.recovery for fault in FAULTS if fault.reaction == "stop"}
    assert all(stops.values()) and not any("reset()" in advice for advice in stops.values())
    assert not stops.keys() & CAUSES.keys()
    assert [code for code, cause in CAUSES.items() if not cause.advice] == ["interrupted"]


def test_a_reason_in_words_is_taken_whole_however_many_semicolons_it_has() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=3)
    assert controller.reason is None
    controller.stop(DOOR)
    controller.stop("another")  # the first says why
    assert controller.reason is None
    run(controller, HOME, ticks=1)
    assert controller.reason == DOOR_TOLD
    assert controller.last_stop is not None and controller.last_stop.reason == DOOR_TOLD
    assert str(DOOR_TOLD) == f"{DOOR}; what to do: see that the arm may move, then start again"
    run(controller, HOME, ticks=3)
    controller.reset()
    assert controller.reason is None


def test_a_stop_by_the_tick_says_what_was_seen_and_what_is_allowed() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=3)
    run(controller, HOME, np.array([0, 0, 250.0, 0, 0, 0]), 6)
    assert controller.reason == StopReason(
        "over_force",
        "the force exceeded safety.max_force (250 N, at most 200 N)",
        "relieve the tool, start again",
    )
    controller.stop(DOOR)  # what comes later is not why
    run(controller, HOME, ticks=3)
    assert controller.reason and controller.reason.code == "over_force"


def test_of_causes_in_one_tick_the_gravest_gives_the_code_and_all_are_told() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=3)
    controller.stop(DOOR)
    run(controller, HOME, np.array([0, 0, 250.0, 0, 0, 0]), 1)
    assert controller.reason is not None and controller.reason.code == "over_force"
    assert controller.reason.text.endswith(f"at most 200 N); {DOOR}")


def test_a_hold_is_no_stop_though_the_last_stop_has_its_reason() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=3)
    run(controller, HOME, ticks=2, wrench_age=0.02)
    assert controller.mode == "holding" and controller.reason is None
    assert controller.last_stop is not None and controller.last_stop.reason.code == "wrench_stale"


def ended(runtime, **how) -> tuple[Summary, list[StopReason | None]]:
    """A run of the simulated arm, and what a reader was told before, and at the end."""
    with simulated(**how.pop("robot", {})) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with Blackboard.create("sim", 500.0, controller.live) as board:
            board.reason = DOOR_TOLD  # of a run before
            reader, seen = Blackboard.attach("sim"), []

            def each(state, out) -> None:
                if out["tick"] == 150:
                    seen.append(reader.reason)
                    how["then"](controller, reader)

            summary = ua.run(robot, controller, board=board, each=each, seconds=2.0)
        return summary, [*seen, reader.reason]


@pytest.mark.parametrize(
    ("then", "reason", "asked"),
    [
        (lambda controller, reader: controller.stop(DOOR), DOOR_TOLD, False),
        (lambda controller, reader: reader.stop(DOOR), DOOR_TOLD, True),
        (lambda controller, reader: None, None, False),
    ],
    ids=["by the program", "by another process", "time over"],
)
def test_the_summary_and_every_reader_have_the_same_reason(runtime, then, reason, asked) -> None:
    summary, (before, after) = ended(runtime, then=then)
    assert before is None  # cleared when the run went on
    assert summary.reason == after == reason
    assert summary.asked == asked
    assert json.loads(json.dumps(summary.as_dict()))["reason"] == (reason and reason.as_dict())


def test_a_robot_that_stops_by_itself_gives_its_own_words_and_advice(runtime) -> None:
    why = StopReason.of("robot", "protective stop; joint 3", "unlock it")
    with simulated() as robot:

        def each(state, out) -> None:
            if out["tick"] == 150:
                robot.stopped_by = why

        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), each=each)
    assert summary.faulted and summary.reason == why


def test_the_terminal_tells_it_whole(capsys) -> None:
    tell_stop(Summary(mode="stopped", reason=DOOR_TOLD), None, simulated=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"the arm was stopped: {DOOR}"
    assert lines[1] == f"what to do: {DOOR_TOLD.advice}"


def test_an_error_carries_the_reason_and_readers_have_it(runtime) -> None:
    def each(state, out) -> None:
        if out["tick"] == 150:
            raise ZeroDivisionError("a mistake; of mine")

    with simulated(hand=PUSH) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with Blackboard.create("sim", 500.0, controller.live) as board:
            reader = Blackboard.attach("sim")
            with pytest.raises(loop.RunError) as caught:
                ua.run(robot, controller, board=board, each=each)
    reason = caught.value.reason
    assert reason.code == "error" and "a mistake; of mine" in reason.text and reason.advice
    assert reader.reason == reason == controller.reason


def test_signals_have_names() -> None:
    assert interrupted(2).text == "Ctrl-C" and interrupted(15).text == "SIGTERM"
    assert interrupted(2).code == "interrupted" and str(interrupted(0)) == "somebody ended it"
