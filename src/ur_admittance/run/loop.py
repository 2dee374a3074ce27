"""The control loop: wait for a state, tick, send the command; and what it measures about itself.

The robot is the clock. A tick that comes late is not made up for: the next state is the newest, and
what was missed is counted. Ctrl-C, SIGTERM and a closed terminal brake to rest, then end the run.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.faults import StopReason, shares
from ur_admittance.kernel.check import GAP, LONGEST_DT
from ur_admittance.motion.base import Motion
from ur_admittance.realtime import RealTime, prepare, restore
from ur_admittance.robots.base import Consent, Robot, State
from ur_admittance.robots.wrench_rate import WrenchRate
from ur_admittance.run import preflight
from ur_admittance.run.driver import Board, Driver
from ur_admittance.run.signals import interrupted, signals
from ur_admittance.run.summary import Summary

LATE = 1.5  # periods between two states, beyond which the second counts as late
OVERRUNS_IN_A_ROW = 3
OVERRUNS_SHARE = 0.01  # of the ticks of a second
_BATCH = 500  # ticks between two additions to the histograms
_PATIENCE = 10.0  # s, for coming to rest at the end
_PASSED_OVER = 0.1  # s without joint angles that are numbers, before a start is given up


class RunError(RobotError):
    """A run that an error ended, which is its `__cause__`.

    Attributes:
        trace: what the driver kept of the last two seconds, oldest first.
        reason: why the arm was stopped.
    """

    def __init__(self, trace: np.ndarray, reason: StopReason) -> None:
        super().__init__(f"{reason.text}; the arm was stopped")
        self.trace, self.reason = trace, reason


def tell_refused(
    refused: list[str], real_time: RealTime | None, tell: Callable[[str], None]
) -> None:
    """Say which wishes the machine did not grant, or raise RobotError if all must be."""
    if refused and real_time is not None and real_time.strict:
        raise RobotError(f"run: --strict: {'; '.join(refused)}; nothing has moved")
    for line in refused:
        tell(line)


def drive(
    robot: Robot,
    controller: Driver,
    require: Consent,
    *,
    seconds: float | None = None,
    board: Board | None = None,
    real_time: RealTime | None = None,
    motion: Motion | None = None,
    to_its_end: bool = False,
    each: Callable[[State, np.record], None] | None = None,
    tell: Callable[[str], None],
    begun: Callable[[], None] | None = None,
    checked: bool = False,
) -> Summary:
    """Drive the robot until `seconds` have passed, the controller stops or is deactivated, or a
    signal comes; with `to_its_end` until the motion has an outcome, too. The arguments are else
    those of `Run`.

    Raises:
        RunError: the robot failed, or `each` did, and the arm was brought to rest.
        RobotError: the arm has not moved, because it moves by itself, the sensor feels more at
            rest than bias and payload explain, or nobody permitted what would come.
    """
    if tuple(robot.model.joint_names) != tuple(controller.model.joint_names):
        raise RobotError(
            f"run: the robot's joints are {', '.join(robot.model.joint_names)}, the controller's "
            f"{', '.join(controller.model.joint_names)}; build the controller from robot.model"
        )
    loop, spin = _Loop(robot, controller, require, board, motion, each), robot.spin
    with signals() as asked:
        try:
            loop.summary.refused = prepare(real_time) if real_time else []
            robot.spin = bool(real_time and real_time.spin)
            tell_refused(loop.summary.refused, real_time, tell)
            if asked:  # before the start: there is none
                loop.summary.asked, loop.summary.reason = True, interrupted(asked[0])
                return loop.close()
            loop.start(checked, tell, begun)
            while not (asked or loop.ended(seconds) or (to_its_end and loop.arrived)):
                loop.tick()
            loop.come_to_rest(asked)
        except BaseException as error:
            moved = controller.mode != "inactive"
            reason = loop.give_up(error)
            if not (moved and isinstance(error, Exception)):
                raise
            raise RunError(controller.trace(), reason) from error
        finally:
            robot.spin = spin
            if real_time:
                restore()
    return loop.close()


class _Loop:
    """One run's state."""

    def __init__(
        self,
        robot: Robot,
        controller: Driver,
        require: Consent,
        board: Board | None,
        motion: Motion | None,
        each: Callable[[State, np.record], None] | None,
    ) -> None:
        self.robot, self.controller, self.require = robot, controller, require
        self.board, self.motion, self.each = board, motion, each
        self.summary = Summary()
        self.problem = ""
        self.request: StopReason | None = None  # of another process, to end the run
        self.send = _sender(robot, controller)
        timing = controller.outputs["timing"]
        timing[:] = 0
        # Views of one number each, past NumPy, which needs more of the caches that a sleep empties.
        self.timing: list[Any] = [timing[name].data for name in timing.dtype.names or ()]
        self.status: Any = controller.outputs["status"].data
        self.statuses: Counter[int] = Counter()
        self.durations: list[tuple[float, float, float, int]] = []  # not yet in the histograms
        self.period = 1.0 / robot.rate
        self.late_after = LATE * self.period
        self.longest = min(GAP * self.period, LONGEST_DT)  # s that a tick without a state is for
        self.overdue = 0.999 * self.period  # s from a state's arrival, when the next is there, too
        self.state: State | None = None
        self.before, self.started, self.ticked, self.cycle = 0.0, 0.0, 0.0, 0
        self.in_a_row, self.second, self.this_second = 0, 0, 0  # overruns
        self.real = robot.real_sensor
        self.samples: WrenchRate | None = None

    def start(
        self,
        checked: bool,
        tell: Callable[[str], None],
        begun: Callable[[], None] | None,
    ) -> None:
        state, controller = self._good_state(), self.controller
        if self.board is not None:  # what is looked at is what will be in force
            self.board.take_params(controller.live)
        if not checked:
            preflight.check(self.robot, state, controller, tell)
        X_WP = controller.model.fk(state.q)
        if problem := preflight.outside(controller.config, X_WP[:3, 3]):
            self.require("outside", problem)
        if begun is not None:
            begun()
            state = self._good_state()
        if self.motion is None:
            controller.activate(state.q)
        else:  # which begins where the arm stands
            controller.activate(state.q, controller.model.fk(state.q))
        if self.board is not None:
            self.board.reason = None
        self.before = self.started = state.began
        self.ticked = self.robot.clock()
        self.cycle = state.cycle
        if self.real:
            self.samples = WrenchRate(state, self.robot.rate)

    def _good_state(self) -> State:
        """The next state with six joint angles: single ones without are passed over, as later."""
        deadline = self.robot.clock() + max(_PASSED_OVER, 2.0 * self.period)
        while not np.isfinite((state := self.robot.wait()).q).all():
            if self.robot.clock() > deadline:
                angles = f"the joint angles are not all numbers: {state.q.tolist()} rad"
                raise RobotError(f"run: {angles}; nothing has moved")
        return state

    def ended(self, seconds: float | None) -> bool:
        passed = self.before - self.started
        ended = self.controller.mode in ("stopped", "inactive")
        if self.board is not None and (request := self.board.request()):
            self.request, ended = StopReason.of("asked", request.text), True
        return (seconds is not None and passed >= seconds) or ended

    @property
    def arrived(self) -> bool:
        """Whether the motion is over."""
        return self.motion is not None and self.motion.outcome != ""

    def tick(self) -> None:
        robot, controller, board = self.robot, self.controller, self.board
        state = robot.wait()
        now, woken = robot.clock(), time.perf_counter()
        if now - self.ticked > controller.params["lost_timeout"][0]:
            controller.activate(state.q)  # the arm has stopped by itself long ago: no old command
            controller.stop(_late(f"the loop slept for {now - self.ticked:.2f} s"))
        self.ticked = now
        if robot.stopped_by:
            controller.stop(robot.stopped_by)
        dt = self._passed(state, now)
        if board is not None:
            board.take_params(controller.live)
        controller.observe(state.qd, state.speed_scaling)
        begun = time.perf_counter()
        out = controller.update(
            state.q, state.wrench, dt, now - state.wrench_time, now - state.joint_time
        )
        ticked = time.perf_counter() - begun
        self.send()
        reaction = now - state.wrench_time + time.perf_counter() - woken
        if dt > self.late_after:
            self._late()
        skipped = state.cycle - self.cycle - 1
        first = max(state.first_time, state.began - skipped * self.period)
        if skipped >= 0 and now - first > self.overdue:
            self._overrun()
        else:
            self.in_a_row = 0
        if skipped > 0:
            self._missed(skipped)
        self.cycle = state.cycle
        samples = self.samples
        if samples is not None:
            samples.add(state)
            if samples.full:
                controller.wrench_is_slow(bool(samples.problem()))
                self.samples = WrenchRate(state, robot.rate)
        arrived, took, reacted, _, _ = self.timing
        arrived[0], took[0], reacted[0] = state.began, ticked, reaction
        if board is not None:
            board.publish(controller.outputs)
        self.durations.append((dt, ticked, reaction, self.status[0]))
        if len(self.durations) == _BATCH:
            self._count()
        if self.motion is not None and (goal := self.motion.step(out)) is not None:
            controller.set_desired(*goal)
        if self.each is not None:
            self.each(state, out)

    def _passed(self, state: State, now: float) -> float:
        """How much time this tick is for, s: since the state before. A robot that is silent gives
        an old one; that time is over then, and is not made up for when it speaks again.
        """
        before, silent = self.before, state.began <= self.before
        self.before = max(now, before) if silent else state.began
        dt = self.before - before
        return (min(dt, self.longest) if silent else dt) or self.period

    def _count(self) -> None:
        """Put the durations into the histograms: seldom, since each time costs many caches."""
        if self.durations:
            period, tick, reaction, status = zip(*self.durations, strict=True)
            self.statuses.update(status)
            self.summary.period.add(period)
            self.summary.tick.add(tick)
            self.summary.reaction.add(reaction)
            self.summary.ticks += len(self.durations)
            self.durations.clear()

    def _late(self) -> None:
        """Whoever made the state late: the tick knows how much time has passed, and judges it."""
        self.summary.late += 1
        self.timing[3][0] = self.summary.late

    def _missed(self, skipped: int) -> None:
        """The next one was there before these were seen: it is newer, and counts."""
        self.summary.missed += skipped
        self.timing[4][0] = self.summary.missed

    def _overrun(self) -> None:
        """This process was late. Three in a row, or one tick in a hundred within a second, stop
        the arm.
        """
        summary, second = self.summary, int(self.before - self.started)
        if second != self.second:
            self.second, self.this_second = second, 0
        summary.overruns += 1
        self.in_a_row += 1
        self.this_second += 1
        if self.in_a_row >= OVERRUNS_IN_A_ROW:
            words = f"the loop missed its cycle {self.in_a_row} times in a row"
            self.controller.stop(_late(words))
        elif self.this_second > max(1.0, OVERRUNS_SHARE * self.robot.rate):
            words = f"the loop missed its cycle {self.this_second} times within a second"
            self.controller.stop(_late(words))

    def come_to_rest(self, asked: list[int]) -> None:
        """Brake. A second signal leaves it to the robot's own stop."""
        self.problem = self.robot.wrench_problem  # what the sensor says of itself explains it
        if self.controller.mode != "stopped":
            self.controller.deactivate()
        self._tell(asked)
        count, deadline = len(asked), self.before + _PATIENCE
        while self._moving() and self.before < deadline and len(asked) == count:
            self.tick()
        self._tell(asked)
        self.summary.asked = bool(asked or self.request)
        self.summary.mode = self.controller.mode
        self.robot.stop()

    def _tell(self, asked: list[int]) -> None:
        """Why it ends, here and to all readers: what stopped the arm, or who asked for it."""
        told = self.summary.reason
        reason = self.controller.reason or self.request
        if reason is not None and reason.code == "wrench_lost" and self.problem:
            reason = reason._replace(text=f"{reason.text} ({self.problem})")
        self.summary.reason = reason or (interrupted(asked[0]) if asked else None)
        if self.board is not None and self.summary.reason != told:
            self.board.reason = self.summary.reason

    def give_up(self, error: BaseException) -> StopReason:
        """Come to rest after an error: by the tick, as long as that works, with nothing around it
        that may fail; else along the last command. Returns the reason of the stop.
        """
        board, self.board, self.motion, self.each = self.board, None, None, None
        known = isinstance(error, AdmittanceError)
        words = str(error) if known else f"run: {type(error).__name__}: {error}"
        reason, moved = StopReason.of("error", words), self.controller.mode != "inactive"
        try:
            if moved:
                self.controller.stop(reason)
                deadline = self.before + _PATIENCE
                self.tick()
                while self._moving() and self.before < deadline:
                    self.tick()
        except Exception:  # the error that ended the run is the one to tell
            self._play_out()
        if moved and board is not None:
            with suppress(Exception):  # it may be what failed
                board.reason = reason
        self.robot.stop()
        return reason

    def _play_out(self) -> None:
        """From the last command to rest: all joints together, as hard as the slowest may."""
        outputs, model = self.controller.outputs, self.controller.model
        qd, q_ref = outputs["qd"][0].copy(), outputs["q_ref"][0].copy()
        ramp = math.ceil(float((np.abs(qd) / (model.qdd_max * self.period)).max(initial=0.0)))
        for step in range(1, ramp + 1):
            rates = (1.0 - step / ramp) * qd
            q_ref += rates * self.period
            outputs["qd"][0], outputs["q_ref"][0] = rates, q_ref
            try:
                self.send()
            except Exception:  # nobody takes commands any more: the robot's own watchdog stops it
                return
            try:
                self.robot.wait()
            except Exception:
                time.sleep(self.period)

    def _moving(self) -> bool:
        return not self.controller.at_rest or self.controller.mode == "leaving"

    def close(self) -> Summary:
        self._count()
        self.summary.held = shares(self.statuses)
        self.summary.seconds = self.before - self.started
        return self.summary


def _late(words: str) -> StopReason:
    return StopReason.of("late", words)


def _sender(robot: Robot, controller: Driver) -> Callable[[], None]:
    """The call that hands a command over. A chain may change its kind with every switch."""
    qd, q_ref = controller.outputs["qd"][0], controller.outputs["q_ref"][0]  # views
    ahead = controller.config.output.time_from_start

    def send() -> None:
        kind = controller.sends
        if kind == "velocity":
            robot.send_velocity(qd)
        elif kind == "position":
            robot.send_position(q_ref)
        else:
            robot.send_trajectory(q_ref, qd, ahead)

    return send
