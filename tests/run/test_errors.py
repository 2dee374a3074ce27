"""An error anywhere stops the arm inside its limits, and names itself."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.run.support import PUSH, simulated
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import loop


def test_an_error_in_a_callback_stops_the_arm_and_names_itself():
    def each(state, out):
        if out["tick"] > 200:
            raise ZeroDivisionError("a mistake of mine")

    with simulated() as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with pytest.raises(ua.RobotError, match=r"ZeroDivisionError: a mistake of mine.*stopped"):
            ua.run(robot, controller, each=each)
        for _ in range(300):
            state = robot.wait()
        assert np.abs(state.qd).max() < 1e-3


class Broken(SimRobot):
    """Its wire breaks after a while: no state comes any more, or no command gets through."""

    def __init__(self, *arguments, what: str, **options) -> None:
        super().__init__(*arguments, **options)
        self.what, self.sent = what, []

    def wait(self) -> State:
        if self.what == "wait" and self.time > 0.6:
            raise ConnectionError("no state")
        return super().wait()

    def send_velocity(self, qd) -> None:
        self.sent.append(np.array(qd))
        super().send_velocity(qd)


def steps_of(sent: list[np.ndarray], model) -> np.ndarray:
    """By how much each command changed, as a share of what the joints may."""
    return np.abs(np.diff(np.array(sent), axis=0)) / (0.002 * model.qdd_max)


@pytest.mark.parametrize("where", ["each", "board", "wait"])
def test_an_error_anywhere_ends_in_a_braked_stop_with_the_last_two_seconds(where: str) -> None:
    """Nothing steps to zero: neither an error beside the tick nor a robot that falls silent."""

    class Board:
        def publish(self, outputs) -> None:
            if where == "board" and outputs["tick"][0] > 300:
                raise OSError("no memory")

        def take_params(self, live) -> bool:
            return False

        reason = None

        def request(self) -> None:
            return None

    def each(state, out) -> None:
        if where == "each" and out["tick"] > 300:
            raise ZeroDivisionError("a mistake of mine")

    with Broken("ur5e", what=where, ideal=True, realtime=False, hand=PUSH) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with pytest.raises(loop.RunError, match="the arm was stopped") as caught:
            ua.run(robot, controller, seconds=5.0, each=each, board=Board())
        assert type(caught.value.__cause__).__name__ in (
            "ZeroDivisionError",
            "OSError",
            "ConnectionError",
        )
        assert np.abs(robot.sent[250]).max() > 0.05
        assert not robot.sent[-1].any()
        assert steps_of(robot.sent[:-1], robot.model).max() <= 1.0 + 1e-6
        assert len(caught.value.trace) > 200
