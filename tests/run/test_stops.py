"""Every stop says why, and what to do about that."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.faults import FAULTS
from ur_admittance.run.stops import PUNCTUAL, reasons_of, told
from ur_admittance.run.summary import Summary

MODEL = ua.RobotModel.ur("ur5e")


def stopped(why: str) -> list[str]:
    """What a controller says that was stopped for a reason."""
    controller = ua.Controller(MODEL)
    controller.activate(MODEL.home)
    controller.stop(why)
    controller.update(MODEL.home, np.zeros(6), 0.002)
    return controller.status_words()


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.reaction == "stop"], ids=lambda f: f.name)
def test_every_fault_that_stops_has_a_reason_and_advice(fault) -> None:
    (reason,) = reasons_of([f"{fault.name}: {fault.words}"])
    assert reason.why and reason.what_to_do and "reset()" not in reason.what_to_do


def test_limits_and_warnings_are_no_reasons() -> None:
    assert reasons_of(["speed_limit: the tool's speed is at its limit", "nonsense"]) == []


def test_whoever_stops_the_arm_says_why_and_what_to_do() -> None:
    (reason,) = reasons_of(stopped("asked for (by hand); see that it may move again"))
    assert reason == ("asked for (by hand)", "see that it may move again")
    assert "asked for (by hand); what to do: see that" in told([reason])


def test_only_a_loop_that_was_late_is_advised_to_be_punctual() -> None:
    late = "the loop missed its cycle 3 times in a row"
    (reason,) = reasons_of(stopped(late), late)
    assert reason == (late, PUNCTUAL)
    (reason,) = reasons_of(stopped("asked for"))
    assert reason.why == "asked for" and reason.what_to_do != PUNCTUAL


def test_the_summary_as_json_has_them_too() -> None:
    summary = Summary(mode="stopped", words=stopped("a wrench is strange; see who sends it"))
    (stop,) = summary.as_dict()["stops"]
    assert stop == {"why": "a wrench is strange", "what_to_do": "see who sends it"}
