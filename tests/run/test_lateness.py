"""A loop, or a network, that is late: what is counted, and what stops the arm."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import ur_admittance as ua
from tests.run.support import PUSH, Clock, simulated
from ur_admittance.blackboard import Blackboard
from ur_admittance.controller import live
from ur_admittance.faults import StopReason
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import SimRobot

IN_A_ROW = StopReason.of("late", "the loop missed its cycle 3 times in a row")


def test_a_loop_that_is_too_slow_three_times_in_a_row_stops_the_arm(monkeypatch):
    clock = Clock(monkeypatch)
    with simulated(realtime=True, hand=None) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        summary = ua.run(robot, controller, seconds=5.0, each=lambda state, out: clock.sleep(0.008))
    assert summary.late >= 3
    assert summary.reason == IN_A_ROW
    assert summary.missed > 0 and summary.overruns >= 3
    assert summary.seconds < 4.0
    assert controller.last_stop is not None


class Jittery(SimRobot):
    """Its states come late, again and again, as over a bad network; none is lost."""

    _behind = 0.0

    def wait(self) -> State:
        self._behind += 0.004 * (round(self.time * self.rate) % 10 == 0)
        return super().wait()

    def clock(self) -> float:
        return super().clock() + self._behind


class Bunched(SimRobot):
    """Every tenth of its states comes together with the next, as over a bad network."""

    def wait(self) -> State:
        state = super().wait()
        if state.cycle % 10 == 0:
            state = super().wait()
        state.first_time = state.joint_time
        return state


@pytest.mark.parametrize(("kind", "counter"), [(Jittery, "late"), (Bunched, "missed")])
def test_states_that_come_late_or_together_are_counted_and_do_not_stop_the_arm(kind, counter):
    with kind("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=1.0)
    assert getattr(summary, counter) > 20
    assert summary.overruns == 0
    assert not summary.faulted and summary.reason is None


class Silent(SimRobot):
    """For 31 ms no state comes while it moves: after five periods each it gives the old one."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.told: list[tuple[float, np.ndarray]] = []

    def wait(self) -> State:
        state = super().wait()
        if not 0.4 < self.time < 0.431:
            self._said = copy.deepcopy(state)
            state.first_time = state.joint_time
            return state
        for _ in range(4):
            super().wait()
        return self._said

    def send_velocity(self, qd) -> None:
        self.told.append((self.clock(), np.array(qd)))
        super().send_velocity(qd)


def test_while_a_robot_is_silent_time_passes_and_is_not_made_up_for_when_it_speaks_again():
    with Silent("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        ticks = []
        controller = ua.Controller(robot.model, ua.Config())
        ua.run(
            robot, controller, seconds=0.6,
            each=lambda state, out: ticks.append((robot.clock(), out["time"])),
        )  # fmt: skip
        clock, time = np.array(ticks).T
        np.testing.assert_allclose(np.diff(time), np.diff(clock), atol=1e-9)
        silent = np.diff(clock) > 0.009
        assert silent.sum() == 3
        told = np.array([qd for _, qd in robot.told])
        steps = np.abs(np.diff(told, axis=0)) / robot.model.qdd_max
        assert (steps.max(axis=1) <= np.diff([at for at, _ in robot.told]) + 1e-9).all()
        speeds = np.abs(told).max(axis=1)
        assert speeds[:-1][silent].min() > 0.05 and (np.diff(speeds)[silent] < 0.0).all()


class Sleeping(SimRobot):
    """Half a second passes at once while it moves, as when the process was suspended."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.sent: list[float] = []

    def clock(self) -> float:
        return super().clock() + 0.5 * (self.time > 0.4)

    def send_velocity(self, qd) -> None:
        self.sent.append(float(np.abs(qd).max()))
        super().send_velocity(qd)


def test_a_loop_that_slept_sends_no_old_command_and_does_not_go_on():
    with Sleeping("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=2.0)
    slept = next(k for k, speed in enumerate(robot.sent) if speed == 0.0 and k > 100)
    assert robot.sent[slept - 1] > 0.05 and not any(robot.sent[slept:])
    assert summary.faulted
    assert summary.reason == StopReason.of("late", "the loop slept for 0.50 s")


def test_what_was_changed_outside_holds_for_the_loop_too_which_does_not_parse_it(monkeypatch):
    patient = ua.Config.from_dict({"safety.lost_timeout": 1.0, "output.mode": "trajectory"})
    with Sleeping("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        controller = ua.Controller(robot.model, patient)
        with Blackboard.create("sim:patient", robot.rate, controller.live) as board:
            reader = Blackboard.attach("sim:patient")

            def each(state: State, out: np.record) -> None:
                if out["tick"] == 50:
                    reader.set({"safety.lost_timeout": 0.1})
                    monkeypatch.setattr(live, "parsed", None)

            summary = ua.run(robot, controller, seconds=2.0, board=board, each=each)
    monkeypatch.undo()
    assert summary.faulted
    assert summary.reason == StopReason.of("late", "the loop slept for 0.50 s")
    assert controller.config.safety.lost_timeout == controller.params["lost_timeout"] == 0.1


class Waiting(SimRobot):
    """Three of its states have waited for 3 ms when they are seen."""

    last = 202

    def wait(self) -> State:
        state = super().wait()
        if 200 <= state.cycle <= self.last:
            state.joint_time -= 0.003
        return state


@pytest.mark.unjudged(
    "joint acceleration of what sim:ur5e is told",
    reason="after stamps that lie, one tick makes up for 3 ms, though its command comes in time",
)
def test_a_state_that_is_seen_when_the_next_was_due_is_an_overrun():
    with Waiting("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=5.0)
    assert summary.overruns == 3
    assert summary.faulted
    assert summary.reason == IN_A_ROW


class Seldom(Waiting):
    """Of its states one in so many has waited for 3 ms."""

    one_in = 0

    def wait(self) -> State:
        state = SimRobot.wait(self)
        if state.cycle > 200 and state.cycle % self.one_in == 0:
            state.joint_time -= 0.003
        return state


@pytest.mark.parametrize(("one_in", "stops"), [(700, False), (110, False), (90, True)])
def test_one_overrun_in_a_hundred_ticks_is_counted_and_more_of_them_stop_the_arm(one_in, stops):
    """Row 20: within a second of 500 ticks, and never three in a row."""
    with Seldom("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        robot.one_in = one_in
        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=2.5)
    assert summary.faulted == stops
    missed = StopReason.of("late", "the loop missed its cycle 6 times within a second")
    assert summary.reason == (missed if stops else None)
    assert stops or summary.overruns == sum(n % one_in == 0 for n in range(201, 1300))


class AlwaysWaiting(Waiting):
    """The states after them, too."""

    last = 10**9


def test_a_loop_that_is_late_while_it_brakes_says_the_same_why_and_what_to_do():
    with AlwaysWaiting("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=5.0)
    assert summary.overruns > 3
    assert summary.reason == IN_A_ROW
