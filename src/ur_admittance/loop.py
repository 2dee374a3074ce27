"""The control loop: wait for a state, tick, send the command; and what it measures about itself.

The robot is the clock. A tick that comes late is not made up for: the next state is the newest, and
what was missed is counted. Ctrl-C, SIGTERM and a closed terminal brake to rest, then end the run.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.calibration import untouched
from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.realtime import RealTime, prepare, restore
from ur_admittance.robots.base import Robot, State

LATE = 1.5  # periods between two states, beyond which the second counts as late
OVERRUNS_IN_A_ROW = 3
OVERRUNS_SHARE = 0.01  # of the ticks of a second
_BATCH = 500  # ticks between two additions to the histograms
_PATIENCE = 10.0  # s, for coming to rest at the end


class Board(Protocol):
    """Where every tick is published, and where parameters change: see `blackboard`."""

    def publish(self, outputs: np.ndarray) -> None: ...
    def take_params(self, params: np.ndarray) -> bool: ...


class Histogram:
    """Durations in logarithmic bins from 1 us to 10 s."""

    BINS = 7 * 40

    def __init__(self) -> None:
        self.counts = np.zeros(self.BINS + 1, dtype=np.int64)
        self.most = 0.0

    def add(self, durations: ArrayLike) -> None:
        """Count durations, s."""
        seconds = np.atleast_1d(np.asarray(durations, dtype=np.float64))
        bins = (40.0 * np.log10(np.maximum(1e6 * seconds, 1.0))).astype(np.int64)
        self.counts += np.bincount(np.minimum(bins, self.BINS), minlength=self.BINS + 1)
        self.most = max(self.most, float(seconds.max(initial=0.0)))

    def quantile(self, share: float) -> float:
        """The duration that so much of all do not exceed, s, to 6 %."""
        total = self.counts.sum()
        if total == 0:
            return 0.0
        k = int(np.searchsorted(np.cumsum(self.counts), share * total))
        return min(self.most, 1e-6 * 10 ** ((k + 1) / 40.0))

    def as_dict(self) -> dict[str, float]:
        """Its quantiles and its greatest, s."""
        shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
        return {name: self.quantile(share) for name, share in shares.items()} | {"max": self.most}


@dataclass
class Summary:
    """What a run was like."""

    ticks: int = 0
    late: int = 0  # states that came more than half a period late
    overruns: int = 0  # times the loop was too slow: a state waited for it until the next was due
    missed: int = 0  # states that were never seen
    seconds: float = 0.0
    mode: str = "inactive"
    words: list[str] = field(default_factory=list)
    asked: bool = False  # whether a signal ended it
    too_late: str = ""  # why the loop itself stopped the arm, if it did
    refused: list[str] = field(default_factory=list)  # real-time wishes not granted
    period: Histogram = field(default_factory=Histogram)  # between two states
    tick: Histogram = field(default_factory=Histogram)  # `Controller.update`
    reaction: Histogram = field(default_factory=Histogram)  # wrench arrived -> command handed over

    @property
    def faulted(self) -> bool:
        """Whether the run ended in a stop that nobody asked for."""
        return self.mode == "stopped"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values: times in s, quantiles of what took time."""
        plain = (
            "ticks",
            "late",
            "overruns",
            "missed",
            "seconds",
            "mode",
            "words",
            "refused",
            "faulted",
        )
        plain += ("asked", "too_late")
        times = {name: getattr(self, name).as_dict() for name in ("period", "tick", "reaction")}
        return {name: getattr(self, name) for name in plain} | times


def run(
    robot: Robot,
    controller: Controller,
    *,
    seconds: float | None = None,
    board: Board | None = None,
    real_time: RealTime | None = None,
    each: Callable[[State, np.record], None] | None = None,
    tell: Callable[[str], None] | None = None,
    looked: bool = False,
) -> Summary:
    """Drive the robot until `seconds` have passed, the controller stops or is deactivated, or a
    signal comes.

    Args:
        robot: connected, and at rest.
        controller: for the same arm.
        seconds: on the robot's clock; None runs until Ctrl-C, SIGTERM or a closed terminal.
        board: published to after every command.
        real_time: what to ask of the machine; None asks for nothing.
        each: called after every command, on the loop's time: keep it short.
        tell: called before the arm moves, with one line for each real-time wish not granted.
        looked: the caller has just seen that nothing touches the tool; else it is looked at here.

    Raises:
        RobotError: the robot failed, or `each` did, and the arm has been told to stop; or the
            sensor feels more at rest than bias and payload explain, and the arm has not moved.
    """
    if tuple(robot.model.joint_names) != tuple(controller.model.joint_names):
        raise RobotError(
            f"run: the robot's joints are {', '.join(robot.model.joint_names)}, the controller's "
            f"{', '.join(controller.model.joint_names)}; build the controller from robot.model"
        )
    loop = _Loop(robot, controller, board, each)
    with signals() as asked:
        try:
            loop.summary.refused = prepare(real_time) if real_time else []
            robot.spin = bool(real_time and real_time.spin)
            if tell is not None:
                for line in loop.summary.refused:
                    tell(line)
            loop.start(looked)
            while not (asked or loop.ended(seconds)):
                loop.tick()
            loop.come_to_rest(asked)
        except BaseException as error:
            robot.stop()
            if isinstance(error, AdmittanceError) or not isinstance(error, Exception):
                raise
            raise RobotError(
                f"run: {type(error).__name__}: {error}; the arm was stopped"
            ) from error
        finally:
            if real_time:
                restore()
    return loop.close()


class _Loop:
    """One run's state."""

    def __init__(self, robot, controller, board, each) -> None:
        self.robot, self.controller, self.board, self.each = robot, controller, board, each
        self.summary = Summary()
        self.send = _sender(robot, controller)
        timing = controller.outputs["timing"]
        timing[:] = 0
        # Views of one number each, past NumPy, which needs more of the caches that a sleep empties.
        self.timing: list[Any] = [timing[name].data for name in timing.dtype.names]
        self.durations: list[tuple[float, float, float]] = []  # not yet in the histograms
        self.period = 1.0 / robot.rate
        self.late_after = LATE * self.period
        self.overdue = 0.999 * self.period  # s from a state's arrival, when the next is there, too
        self.state: State | None = None
        self.before, self.started, self.looked, self.cycle = 0.0, 0.0, 0.0, 0
        self.in_a_row, self.second, self.this_second = 0, 0, 0  # overruns

    def start(self, looked: bool) -> None:
        state, controller = self.robot.wait(), self.controller
        problem = not looked and untouched.problem(
            controller.model, controller.params, controller.config, state.q, state.wrench
        )
        if problem:
            raise RobotError(f"run: {problem}")
        controller.activate(state.q)
        self.before = self.started = state.joint_time
        self.looked = self.robot.clock()
        self.cycle = state.cycle

    def ended(self, seconds: float | None) -> bool:
        passed = self.before - self.started
        ended = self.controller.mode in ("stopped", "inactive")
        return (seconds is not None and passed >= seconds) or ended

    def tick(self) -> None:
        robot, controller, board = self.robot, self.controller, self.board
        state = robot.wait()
        now, woken = robot.clock(), time.perf_counter()
        if now - self.looked > controller.config.safety.lost_timeout:
            controller.activate(state.q)  # the arm has stopped by itself long ago: no old command
            self._stop(f"the loop slept for {now - self.looked:.2f} s")
        self.looked = now
        dt = state.joint_time - self.before or self.period  # an old state: the robot is silent
        self.before = state.joint_time
        if board is not None:
            board.take_params(controller.params)
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
        first = max(state.first_time, state.joint_time - skipped * self.period)
        if skipped >= 0 and now - first > self.overdue:
            self._overrun()
        else:
            self.in_a_row = 0
        if skipped > 0:
            self._missed(skipped)
        self.cycle = state.cycle
        arrived, took, reacted, _, _ = self.timing
        arrived[0], took[0], reacted[0] = state.joint_time, ticked, reaction
        if board is not None:
            board.publish(controller.outputs)
        self.durations.append((dt, ticked, reaction))
        if len(self.durations) == _BATCH:
            self._count()
        if self.each is not None:
            self.each(state, out)

    def _count(self) -> None:
        """Put the durations into the histograms: seldom, since each time costs many caches."""
        if self.durations:
            period, tick, reaction = zip(*self.durations, strict=True)
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
            self._stop(f"the loop missed its cycle {self.in_a_row} times in a row")
        elif self.this_second > max(1.0, OVERRUNS_SHARE * self.robot.rate):
            self._stop(f"the loop missed its cycle {self.this_second} times within a second")

    def _stop(self, why: str) -> None:
        self.summary.too_late = self.summary.too_late or why
        self.controller.stop(why)

    def come_to_rest(self, asked: list[int]) -> None:
        """Brake. A second signal leaves it to the robot's own stop."""
        if self.controller.mode != "stopped":
            self.controller.deactivate()
        count, deadline = len(asked), self.before + _PATIENCE
        while self._moving() and self.before < deadline and len(asked) == count:
            self.tick()
        self.summary.asked = bool(asked)
        self.summary.mode = self.controller.mode
        self.summary.words = self.controller.status_words()
        self.robot.stop()

    def _moving(self) -> bool:
        return not self.controller.at_rest or self.controller.mode == "leaving"

    def close(self) -> Summary:
        self._count()
        self.summary.seconds = self.before - self.started
        return self.summary


def _sender(robot: Robot, controller: Controller) -> Callable[[], None]:
    """The one call that hands a command over, by `output.mode`."""
    output = controller.config.output
    qd, q_ref = controller.outputs["qd"][0], controller.outputs["q_ref"][0]  # views
    if output.mode == "velocity":
        return lambda: robot.send_velocity(qd)
    if output.mode == "position":
        return lambda: robot.send_position(q_ref)
    return lambda: robot.send_trajectory(q_ref, qd, output.time_from_start)


@contextmanager
def signals() -> Iterator[list[int]]:
    """Collect SIGINT, SIGTERM and SIGHUP instead of dying of them."""
    asked: list[int] = []
    kept = {}

    def note(number: int, _: Any) -> None:
        # A closed terminal says it twice, through kernel and shell, and means it once.
        if number != signal.SIGHUP or not asked:
            asked.append(number)

    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                kept[number] = signal.signal(number, note)
    except ValueError:  # not the main thread: somebody else handles signals
        kept = {}
    try:
        yield asked
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
