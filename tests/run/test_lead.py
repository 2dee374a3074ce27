"""An arm that is led home is watched all the way, and braked in its limits whatever ends it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.controller.packing import pack
from ur_admittance.motion.joints import straight
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run.lead import lead

MODEL = ua.RobotModel.ur("ur5e")
CONFIG = ua.Config()
LIMITS = pack(CONFIG, MODEL)[0]
GOAL = MODEL.home + np.array([0.3, -0.2, 0.3, -0.2, 0.3, 0.5])
MIDDLE = 300  # cycles: the arm is fast


class Told(SimRobot):
    """An arm that remembers what it was told, and whose samples can cease."""

    def __init__(self) -> None:
        super().__init__(MODEL, realtime=False, ideal=True)
        self.told: list[np.ndarray] = []
        self.cycles = 0
        self.each: Callable[[Told], None] = lambda arm: None
        self.joints = self.wrench = True

    def wait(self):
        before = self._state.joint_time, self._state.wrench_time
        state = super().wait()
        self.cycles += 1
        self.each(self)
        if not self.joints:
            state.joint_time = before[0]
        if not self.wrench:
            state.wrench_time = before[1]
        return state

    def send_velocity(self, qd) -> None:
        self.told.append(np.array(qd))
        super().send_velocity(qd)


def led(each: Callable[[Told], None], asked=()) -> tuple[np.ndarray, str]:
    """What the arm is told, rad/s (n, 6), and how it ended, in words."""
    words = ""
    with Told() as arm:
        way = straight(MODEL, CONFIG, arm.wait().q, GOAL)
        arm.each = each
        try:
            lead(arm, CONFIG, way, asked, verb="init")
        except ua.RobotError as error:
            words = str(error)
        return np.array(arm.told), words


def is_braked(told: np.ndarray) -> bool:
    """Inside the joints' accelerations from the first command to the last, which is zero."""
    steps = np.abs(np.diff(np.vstack([np.zeros(6), told]), axis=0)) * 500.0
    return bool((steps <= LIMITS.qdd_max * (1 + 1e-9)).all()) and not told[-1].any()


def from_the_middle(name: str) -> Callable[[Told], None]:
    """The samples of joints or wrench cease when the arm is fast."""

    def each(arm: Told) -> None:
        if arm.cycles == MIDDLE:
            setattr(arm, name, False)

    return each


@pytest.mark.parametrize(
    ("name", "words"), [("joints", "no joint state for 0.1"), ("wrench", "no wrench for 0.1")]
)
def test_an_arm_whose_samples_cease_is_braked_at_once_and_not_led_on(name: str, words: str) -> None:
    told, said = led(from_the_middle(name))
    assert words in said and "safety.lost_timeout" in said
    assert is_braked(told)
    fastest = np.abs(told).max(axis=1)
    # From 10 ms of silence on it is slower with every command.
    assert (np.diff(fastest[MIDDLE + 10 :]) <= 0).all()
    assert len(told) < MIDDLE + 200


def test_samples_that_come_back_in_time_let_it_go_on() -> None:
    def each(arm: Told) -> None:
        arm.joints = not MIDDLE <= arm.cycles < MIDDLE + 20

    told, said = led(each)
    assert not said
    assert is_braked(told)


def test_ctrl_c_brakes_inside_the_limits() -> None:
    asked: list[int] = []

    def each(arm: Told) -> None:
        if arm.cycles == MIDDLE:
            asked.append(2)

    told, said = led(each, asked)
    assert "init: interrupted" in said
    assert is_braked(told)
    assert np.abs(told).max() > 0.05 and len(told) > MIDDLE + 10


def test_what_else_stands_against_it_brakes_it_too() -> None:
    cycles = []

    def trouble() -> str:
        cycles.append(0)
        return "somebody else commands it" if len(cycles) > MIDDLE else ""

    told, said = led(lambda arm: setattr(arm, "trouble", trouble))
    assert "init: somebody else commands it" in said
    assert is_braked(told)


def test_a_wrench_that_is_no_number_counts_as_none() -> None:
    def each(arm: Told) -> None:
        if arm.cycles >= MIDDLE:
            arm._state.wrench[0] = np.nan

    told, said = led(each)
    assert "no wrench for" in said
    assert is_braked(told)
