"""The one owner of a run: who may move the arm, what it does, and why it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path as File
from typing import Any, Self

import numpy as np

from ur_admittance.blackboard import Blackboard
from ur_admittance.config import Config
from ur_admittance.config.advice import payload_warning
from ur_admittance.config.field import AXES
from ur_admittance.controller import Controller, LiveParameters
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.motion.base import Motion
from ur_admittance.motion.joints import JointPath
from ur_admittance.motion.straight import Straight, travel_of
from ur_admittance.motion.taught import Path, Played, Playing
from ur_admittance.realtime import RealTime, prepare, restore
from ur_admittance.robots import make
from ur_admittance.robots.base import Robot, State, watched
from ur_admittance.run import loop
from ur_admittance.run.assent import Assent
from ur_admittance.run.claim import claimed
from ur_admittance.run.driver import Board, Driver
from ur_admittance.run.lead import Problem, lead, shake
from ur_admittance.run.loop import RunError
from ur_admittance.run.signals import signals
from ur_admittance.run.summary import Summary
from ur_admittance.telemetry.recorder import Recorder
from ur_admittance.telemetry.trace import write_trace

Each = Callable[[State, np.record], None]


class Run:
    """One run of one arm, from connecting to closing. Nothing else commands the arm meanwhile.

        with ua.Run("rtde://192.168.1.10", config, record="first.mcap") as run:
            run.drive(30.0)        # gives way for half a minute
            run.play(path)         # is led along a taught path, and gives way around it

    Attributes:
        robot: the arm.
        controller: what ticks; None until there is one.
        board: where other processes see the run; None for one that nobody shall see.
        assent: what those who started it have agreed to.
        motion: what leads the desired pose; None: nothing does.
        summary: of all that it drove so far; how it ended is that of the last.
        recorded: how the recording ended, if there was one, once the run is closed.
    """

    def __init__(
        self,
        robot: Robot | str,
        config: Config | None = None,
        *,
        controller: Driver | None = None,
        record: str | File | None = None,
        replace: bool = False,
        permit: Iterable[str] = (),
        assent: Assent | None = None,
        board: Board | None = None,
        real_time: RealTime | None = None,
        each: Each | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """
        Args:
            robot: its address, such as "sim:ur5e" or "rtde://192.168.1.10"; or one that was made.
                If that is connected already, it stays so in the end.
            config: how it gives way; default: the controller's.
            controller: one that is ready, such as a chain; default: one of `config`.
            record: file (MCAP) to record every tick to.
            replace: that file, if it exists.
            permit: acts that you permit, such as "travel" and "force", see `assent.ACTS`.
            assent: instead of `permit`: also who is asked, and through which surface.
            board: one that is there already; default: its own.
            real_time: what to ask of the machine; None asks for nothing.
            each: called after every command, on the loop's time: keep it short.
            tell: takes a line for a person: what was not granted, where the arm goes, if it drifts.
        """
        self.tell = tell or (lambda line: None)
        self.assent = assent or Assent(permit=permit, tell=self.tell)
        config = controller.config if config is None and controller is not None else config
        self._given = Config() if config is None else config
        self.robot = make(robot, config=self._given) if isinstance(robot, str) else robot
        self.controller, self.board = controller, board
        self.real_time, self.each = real_time, each
        self.summary, self.recorded = Summary(), None
        self._record, self._replace = None if record is None else File(record), replace
        self._recorder: Recorder | None = None
        self._open = ExitStack()
        self._live: LiveParameters | None = None
        self.motion: Motion | None = None
        self._prepared = self._to_its_end = False

    @property
    def config(self) -> Config:
        """The configuration in force."""
        live = self._live if self.controller is None else self.controller.live
        return self._given if live is None else live.config

    # --- from connecting to closing ---

    def __enter__(self) -> Self:
        """Claim and connect the robot; nothing moves."""
        with ExitStack() as opened:
            robot = self.robot
            robot.assent = self._require
            if not robot.connected:
                opened.enter_context(claimed(robot.name))
                opened.enter_context(robot)
            if self.controller is None:
                config = watched(self._given, real=robot.real_sensor)
                config = config.replace({"control_rate": robot.rate})
                self._live = LiveParameters(config, robot.model)
            else:
                self._live = self.controller.live
            if self.board is None:
                board = Blackboard.create(robot.name, robot.rate, self._live)
                self.board = opened.enter_context(board)
                board.tighten_only = not self.assent.permits("loosen", "blackboard")
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Finish the recording, and let go of the robot. May be called twice."""
        with self._open:
            if self._recorder is not None:
                self.recorded, self._recorder = self._recorder.close(self.summary.as_dict()), None

    # --- what it does ---

    def begin(self) -> Driver:
        """Make what drives the arm, and begin to record, unless that is done."""
        controller = self._driver()
        if self._record is not None and self._recorder is None:
            if self._replace:
                self._record.unlink(missing_ok=True)
            self._recorder = Recorder(self.robot.name, self._record, self.robot.model)
            self._open.enter_context(self._recorder)
        return controller

    def prepare(self, played: Played | None = None) -> None:
        """Have all agreed to that a start needs, make what drives the arm, and begin to record.
        Nothing moves. `drive` calls it, if nobody else has.

        Args:
            played: a path along which the arm is led; default: it gives way where it stands, or
                goes to its equilibrium, if that is far.

        Raises:
            NotPermitted: somebody did not agree.
        """
        controller, robot = self._driver(), self.robot
        self.motion, self._to_its_end = None, played is not None
        if isinstance(controller, Controller):
            config, q = controller.config, robot.look().q
            if words := pressing(config):
                self._require("force", words)
            if played is not None:
                path, speed, late = played.path, played.speed, played.late
                self.motion = Playing(path, robot.model, config, speed, late=late)
                self._require("play", played.words(robot.name, robot.model.fk(q)))
            elif (travel := travel_of(robot.model, config, q)) is not None:
                self._require("travel", travel.words)
                self.motion = Straight(travel.X_WD)
        self.begin()
        self._prepared = True

    def drive(
        self,
        seconds: float | None = None,
        *,
        checked: bool = False,
        begun: Callable[[], None] | None = None,
    ) -> Summary:
        """Let the arm give way to force.

        Args:
            seconds: on the robot's clock; None goes on until Ctrl-C, SIGTERM, a closed terminal,
                a stop, or the end of the path that is played.
            checked: the arm has just been seen to stand still, untouched; else it is looked at.
            begun: called once, when nothing stands against the start any more.

        Returns:
            What this was like; `summary` has all so far.
        """
        if not self._prepared:
            self.prepare()
        self._prepared = False
        try:
            driven = loop.drive(
                self.robot,
                self.begin(),
                self._require,
                seconds=seconds,
                board=self.board,
                real_time=self.real_time,
                motion=self.motion,
                to_its_end=self._to_its_end,
                each=self.each,
                tell=self.tell,
                begun=begun,
                checked=checked,
            )
        except RobotError as error:
            if where := self._kept(error):
                error.args = (f"{error}; {where}", *error.args[1:])
            raise
        self.summary.follow(driven)
        return driven

    def play(self, path: Path, speed: float = 1.0) -> str:
        """Lead the arm along a path that was taught, while it gives way; returns how that ended:
        "reached", or why not.

        Args:
            path: as it was taught.
            speed: how many times as fast.
        """
        self.prepare(Played(path, speed))
        self.drive()
        return self.outcome

    def follow(self, motion: Motion | None) -> None:
        """Be led by a motion at the next `drive`, until it has an outcome: instead of `prepare`,
        where all has been agreed to. None: give way where the arm stands, or at its equilibrium.
        """
        self.motion, self._to_its_end, self._prepared = motion, True, True

    @property
    def outcome(self) -> str:
        """How the last path ended: "reached", or why not; "" if there was none."""
        if self.motion is None or not self._to_its_end:
            return ""
        return self.motion.outcome or "it was ended before"

    def lead(self, way: JointPath, config: Config | None = None, verb: str = "lead") -> None:
        """Lead the joints along a way, stiffly: it does not give way, but a force stops it.

        Args:
            way: from `motion.joints.straight`.
            config: limits and the greatest force; default: the run's.
            verb: who asks, for messages.

        Raises:
            RobotError: it was stopped; it now stands somewhere on the way.
        """
        self._require("lead", f"{self.robot.name} will move for {way.seconds:.1f} s")
        with self._punctual() as asked:
            lead(self.robot, config or self.config, way, asked, verb=verb)

    def shake(self, rates: np.ndarray, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """Turn all joints together at `rates`, rad/s (n,), one a cycle, and see how they follow.

        Args:
            problem: why it must end, in words, from all joint angles (k, 6) and readings (k, 6)
                so far and the age of the last, s; "" goes on.

        Returns:
            Joint angles, rad (n, 6), and readings, N and Nm (n, 6).
        """
        self._require("lead", f"{self.robot.name} will move a few centimetres")
        with self._punctual() as asked:
            return shake(self.robot, rates, problem, asked)

    @property
    def reason(self) -> StopReason | None:
        """What stopped the arm, or who ended the run; None where nobody did."""
        return self.summary.reason

    def stop(self, why: str | StopReason) -> None:
        """Brake to rest; the run ends there."""
        if self.controller is not None:
            self.controller.stop(why)

    # --- inside ---

    def _driver(self) -> Driver:
        """What drives the arm, made now if it is not there."""
        robot = self.robot
        if self.controller is None:
            words = payload_warning(self.config, date.today())
            if words and robot.real_sensor and not robot.wrench_compensated:
                self.tell(words)
            self.controller = Controller(robot.model, self.config, live=self._live)
        return self.controller

    def _require(self, act: str, words: str) -> None:
        self.assent.require(act, words, simulated=self.robot.simulated)

    @contextmanager
    def _punctual(self) -> Iterator[Sequence[int]]:
        """The machine as it is asked for, while an arm is led; gives the signals so far, those of a
        caller who collects them, too.
        """
        self.robot.keep_frame()
        with signals() as asked:
            try:
                if self.real_time is not None:
                    prepare(self.real_time)
                yield asked
            finally:
                if self.real_time is not None:
                    restore()

    def _kept(self, error: RobotError) -> str:
        """Where the run until an error is, in words: in the recording, or in a file of its own."""
        if self._record is not None and self._recorder is not None:
            return f"the run until then is in {self._record}"
        if not isinstance(error, RunError) or not len(error.trace) or self.board is None:
            return ""
        try:
            reader = Blackboard.attach(self.robot.name)
            path = write_trace(reader, error.trace, self.robot.model, str(error))
        except (OSError, RobotError) as problem:
            return f"the last two seconds could not be kept: {problem}"
        return f"what led to it, the last two seconds: ur-admittance report {path}"


def run(
    robot: Robot,
    controller: Driver,
    *,
    seconds: float | None = None,
    board: Board | None = None,
    real_time: RealTime | None = None,
    each: Each | None = None,
    tell: Callable[[str], None] | None = None,
    permit: Iterable[str] = (),
    checked: bool = False,
) -> Summary:
    """Drive a robot with a controller or a chain, until `seconds` have passed, it stops or is
    deactivated, or a signal comes: a `Run` of which other processes see nothing.

    Args:
        robot: connected, and at rest.
        controller: for the same arm; see `Driver`.
        seconds: on the robot's clock; None runs until Ctrl-C, SIGTERM or a closed terminal.
        board: published to after every command.
        real_time: what to ask of the machine; None asks for nothing.
        each: called after every command, on the loop's time: keep it short.
        tell: called before the arm moves, with a line for each real-time wish not granted, one if
            it goes somewhere, and one if it will drift.
        permit: acts that you permit, see `assent.ACTS`.
        checked: you have just seen that nothing touches the tool; else it is looked at here.

    Raises:
        RunError: the robot failed, or `each` did, and the arm was brought to rest.
        RobotError: the arm has not moved, because it moves by itself, the sensor feels more at
            rest than bias and payload explain, or something was not permitted.
    """
    owner = Run(
        robot,
        controller=controller,
        board=board,
        real_time=real_time,
        each=each,
        tell=tell,
        permit=permit,
    )
    return owner.drive(seconds, checked=checked)


def pressing(config: Config) -> str:
    """That the tool sets off by itself to press, in words; "" if it does not."""
    force = config.force
    pressing = [
        f"{axis} at {speed:g} {'m/s' if n < 3 else 'rad/s'} until it touches, then with {target:g} "
        f"{'N' if n < 3 else 'Nm'}"
        for n, (axis, on, target, speed) in enumerate(
            zip(AXES, force.enabled_axes, force.target, force.approach_speed, strict=True)
        )
        if on and target != 0.0
    ]
    return f"the tool sets off by itself along {', '.join(pressing)}" if pressing else ""
