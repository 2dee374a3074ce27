"""Our program on the robot, executed: the very text that is sent, on the fake controller alone."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance import ConfigError, RobotModel
from ur_admittance.robots.rtde import script
from ur_admittance.robots.rtde.script import Registers, for_urcap, program
from ur_fake.machine import Machine

pytest.importorskip("lark")
pytest.importorskip("mujoco")

SESSION, CYCLE = 4711, 0.002


class Told:
    """A machine that runs the program, and registers as a client would write them."""

    def __init__(self, first: int = 24) -> None:
        self.machine, self.first, self.count = Machine("ur5e", noise=(0, 0)), first, 0
        self.machine.start()
        model = RobotModel.ur("ur5e", base="base")
        assert self.machine.load_script(program(model, SESSION, Registers(first), 500.0))
        self.step()

    def tell(self, kind: int, values=(0.0,) * 6, session: int = SESSION, cycles: int = 1) -> None:
        for _ in range(cycles):
            self.count += 1
            numbers = self.machine.input_int
            numbers[self.first : self.first + 3] = [self.count, kind, session]
            self.machine.input_double[self.first : self.first + 6] = list(values)
            self.step()

    def step(self, cycles: int = 1) -> None:
        name = f"input_int_register_{self.first}"
        for _ in range(cycles):
            self.machine.input_seen[name] = self.machine.time
            self.machine.step()

    @property
    def why(self) -> int:
        return self.machine.output_int[self.first + 2]

    @property
    def runs(self) -> bool:
        return self.machine.program_state == "PLAYING"


def test_it_fits_on_one_page_and_says_who_it_is():
    text = program(RobotModel.ur("ur5e", base="base"), SESSION, Registers(), 500.0)
    assert len(text.splitlines()) <= 110 and "$" not in text
    assert "ur-admittance" in text and str(SESSION) in text


@pytest.mark.parametrize("first", [0, 24, 42])
def test_speeds_are_made_in_whatever_registers(first: int):
    told = Told(first)
    told.tell(script.VELOCITY, [0.1, -0.1, 0.1, 0.2, -0.2, 0.1], cycles=100)
    np.testing.assert_allclose(told.machine.actual_qd, [0.1, -0.1, 0.1, 0.2, -0.2, 0.1], atol=5e-3)
    assert told.machine.output_int[first : first + 4] == [script.RUNS, SESSION, 0, told.count]


def test_after_ten_cycles_without_a_command_it_brakes_ends_and_says_why():
    told = Told()
    told.tell(script.VELOCITY, [0.5] * 6, cycles=100)
    told.step(9)
    np.testing.assert_allclose(told.machine.target_qd, 0.5)
    before = told.machine.target_qd.copy()
    for _ in range(60):
        told.step()
        assert np.abs(told.machine.target_qd - before).max() <= 6.2 * CYCLE + 1e-9
        before = told.machine.target_qd.copy()
    assert not before.any() and not told.runs
    assert told.why == script.NOTHING_NEW
    assert told.machine.output_int[24] == script.ENDED


def test_silence_after_a_word_to_rest_is_a_farewell():
    """A computer that has told the arm to rest, and then writes its recording, is not dead."""
    told = Told()
    told.tell(script.VELOCITY, [0.5] * 6, cycles=100)
    told.tell(script.HOLD, cycles=5)
    told.step(100)
    assert told.why == script.LEFT and not told.runs
    assert not told.machine.target_qd.any()


def test_what_stood_in_the_registers_before_is_not_a_command():
    machine = Machine("ur5e")
    machine.start()
    machine.input_int[24:27] = [9, script.VELOCITY, SESSION]
    machine.input_double[24:30] = [0.5] * 6
    model = RobotModel.ur("ur5e", base="base")
    machine.load_script(program(model, SESSION, Registers(), 500.0))
    for _ in range(20):
        machine.step()
        assert not machine.target_qd.any()


@pytest.mark.parametrize(
    ("kind", "values", "why"),
    [
        (script.VELOCITY, [0, 0, 0, 0, 0, 3.2], script.TOO_FAST),
        (script.VELOCITY, [float("nan"), 0, 0, 0, 0, 0], script.TOO_FAST),
        (script.VELOCITY, [0, 0, 3.1, 0, 0, 0], 0),
        (script.POSITION, [0, -1.57, 3.3, -1.57, -1.57, 0], script.OUT_OF_RANGE),
        (script.POSITION, [0, -1.57, 2.0, -1.57, -1.57, 0], script.TOO_FAR),
        (script.POSITION, [float("nan"), -1.57, 1.57, -1.57, -1.57, 0], script.OUT_OF_RANGE),
        (7, [0] * 6, script.NO_SUCH_KIND),
        (script.END, [0] * 6, script.ASKED),
    ],
)
def test_commands_are_judged_on_the_robots_side_too(kind: int, values, why: int):
    told = Told()
    told.tell(script.HOLD, cycles=5)
    told.tell(kind, values, cycles=3)
    assert told.why == why and told.runs == (why == 0)
    if why:
        assert not told.machine.target_qd.any()


def test_a_joint_that_could_not_stop_in_its_range_is_not_sent_on():
    told = Told()
    told.machine.hand_move([0, -1.57, 1.57, -1.57, -1.57, 6.25])
    told.tell(script.VELOCITY, [0, 0, 0, 0, 0, 1.0], cycles=2)
    assert told.why == script.OUT_OF_RANGE
    assert told.machine.actual_q[5] < 6.28


def test_another_session_ends_it():
    told = Told()
    told.tell(script.HOLD, cycles=5)
    told.tell(script.VELOCITY, [0.1] * 6, session=SESSION + 1)
    assert told.why == script.OTHER_SESSION


def test_a_hand_that_moved_a_paused_arm_is_not_undone():
    """Row 46 of the faults, with a client that notices nothing."""
    told = Told()
    q = told.machine.actual_q.copy()
    told.tell(script.POSITION, q, cycles=50)
    told.machine.pause_program()
    told.tell(script.POSITION, q, cycles=200)
    told.machine.hand_move(q + 0.4)
    told.machine.resume_program()
    told.tell(script.POSITION, q, cycles=100)
    np.testing.assert_allclose(told.machine.actual_q, q + 0.4, atol=0.02)
    assert told.why == script.TOO_FAR


def test_the_urcap_gets_functions_and_what_to_run_between_its_marks():
    text = for_urcap(program(RobotModel.ur("ur5e", base="base"), SESSION, Registers(), 500.0))
    marks = ["HEADER_BEGIN", "HEADER_END", "NODE_CONTROL_LOOP_BEGINS", "NODE_CONTROL_LOOP_ENDS"]
    places = [text.index(f"# {mark}") for mark in marks]
    assert places == sorted(places)
    assert "def ur_admittance" not in text


@pytest.mark.parametrize("first", [-1, 43, 60])
def test_registers_that_do_not_exist_are_refused(first: int):
    with pytest.raises(ConfigError, match="0 to 42"):
        Registers(first)
