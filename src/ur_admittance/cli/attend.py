"""A run with what stands around the loop: blackboard, recorder, live view; and its last words."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer

from ur_admittance.config import Config
from ur_admittance.config.advice import payload_warning
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.faults import BY_NAME

if TYPE_CHECKING:
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.controller import Controller
    from ur_admittance.motion.approach import Travel
    from ur_admittance.realtime import RealTime
    from ur_admittance.robots.base import Robot
    from ur_admittance.run.summary import Summary
    from ur_admittance.telemetry.recorder import Recorded

MOST = 0.5  # share of a run from which on a limit is worth a line at its end


@dataclass(frozen=True)
class Wanted:
    """What `run` was asked for, whichever kind of robot it is.

    Attributes:
        robot: its address.
        config: None if none was given.
        seconds: how long to run, s; None: until a signal.
        record: file to record to; None records nothing.
        real_time: what to ask of the machine.
        view: 'line', 'panel', or '' for none.
        tell: takes one line for each real-time wish not granted.
        play: makes what leads the arm along a path, called after every tick, for a controller;
            the equilibrium of the configuration is then the path's start.
    """

    robot: str
    config: Config | None
    seconds: float | None
    record: Path | None
    real_time: RealTime
    view: str
    tell: Callable[[str], None]
    play: Callable[[Controller], Callable[[], None]] | None = None

    @property
    def given_config(self) -> Config:
        """The configuration, or an error that asks for one."""
        if self.config is None:
            raise ConfigError("--config: give a YAML file, or preset:NAME")
        return self.config

    def start_of(self, travel: Travel | None) -> Config:
        """The configuration of a controller that starts where the arm stands, if it is then led
        elsewhere.
        """
        from ur_admittance.motion.approach import without_equilibrium

        config = self.given_config
        return without_equilibrium(config) if travel or self.play else config

    def lead(self, controller: Controller, travel: Travel | None) -> Callable[[], None] | None:
        """What leads the desired pose, called after every tick: along the path that is played, or
        to an equilibrium that is far; or None.
        """
        from ur_admittance.motion.approach import Approach

        if self.play is not None:
            return self.play(controller)
        return Approach(controller, travel) if travel else None

    def begun(self, name: str) -> Callable[[], None]:
        """Says that the arm gives way, once it does."""

        def say() -> None:
            if self.view:
                typer.echo(f"{name} gives way from now on; Ctrl-C ends it")

        return say


def attend(
    arm: Robot,
    controller: Controller,
    drive: Callable[[Blackboard], Summary],
    *,
    record: Path | None = None,
    view: str = "line",
    title: str = "",
) -> tuple[Summary, Recorded | None]:
    """Drive an arm with all that stands around the loop: blackboard, recorder, live view.

    Recorder and view are processes of their own, and are ready before the arm moves.

    Args:
        drive: runs the loop.
        record: file to record to; None records nothing.
        view: 'line', 'panel', or '' for none.
        title: of the panel.
    """
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.live import shown

    with Blackboard.create(arm.name, arm.rate, controller.config, controller.params) as board:
        recorder = None
        if record is not None:
            from ur_admittance.telemetry.recorder import Recorder

            record.unlink(missing_ok=True)
            recorder = Recorder(arm.name, record, arm.model)
        with recorder or nullcontext():
            try:
                with shown(arm.name, view, title) if view else nullcontext():
                    summary = drive(board)
            except RobotError as error:
                where = f"; the run until then is in {record}" if record else _kept(error, arm)
                if not where:
                    raise
                raise RobotError(f"{error}{where}") from error
            recorded = recorder.close(summary.as_dict()) if recorder else None
    return summary, recorded


def _kept(error: RobotError, arm: Robot) -> str:
    """Keep the last two seconds before an error, and say where."""
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.run.loop import RunError
    from ur_admittance.telemetry.trace import write_trace

    if not isinstance(error, RunError) or not len(error.trace):
        return ""
    try:
        path = write_trace(Blackboard.attach(arm.name), error.trace, arm.model, str(error))
    except (OSError, RobotError) as problem:
        return f"; the last two seconds could not be kept: {problem}"
    return f"; what led to it, the last two seconds: ur-admittance report {path}"


@contextmanager
def claimed(name: str) -> Iterator[None]:
    """Be the only one who controls a robot, from before it is connected: a second process is
    refused without a word to the robot.

    Raises:
        RobotError: another process controls it, or is about to.
    """
    from ur_admittance.blackboard import list_running, memory

    path = memory.path_of(name)
    for running in list_running():
        if running.robot == name:
            raise RobotError(f"{name} already has a controller: {running}; end that one first")
    with memory.opened(path.with_suffix(".claim"), os.O_RDWR | os.O_CREAT) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel frees it, however we end
        except BlockingIOError:
            raise RobotError(
                f"{name}: another process of yours is about to control it; end that one first"
            ) from None
        yield


def warn_of_payload(arm: Robot, config: Config) -> None:
    """Say it where a real sensor's payload is not calibrated, or long ago."""
    words = payload_warning(config, date.today())
    if words and arm.real_sensor and not arm.wrench_compensated:
        typer.echo(f"warning: {words}", err=True)


def moved(summary: Summary) -> Summary:
    """The same, unless Ctrl-C came before the start: then KeyboardInterrupt."""
    if summary.asked and not summary.ticks:
        raise KeyboardInterrupt("the arm has not moved")
    return summary


def to_and_fro(force: tuple[float, float, float]) -> Callable[..., np.ndarray]:
    """A hand that pushes P with `force` [N, W axes] for a second, rests, pushes back, rests."""
    wrench = np.array([*force, 0.0, 0.0, 0.0])
    signs = (0.0, 1.0, 0.0, -1.0)
    # a whole second is one, however the clock's times are rounded
    return lambda t, X_WP, V_WP: signs[int(t + 1e-6) % 4] * wrench


def tell_end(summary: Summary, recorded: Recorded | None) -> None:
    """The run in a few lines: timing, what held the arm back for most of it, the recording."""
    tick, reaction = summary.tick, summary.reaction
    typer.echo(
        f"{summary.seconds:.1f} s, {summary.ticks} ticks, {summary.late} late, "
        f"{summary.missed} missed; the arm is at rest"
    )
    typer.echo(
        f"a tick takes {1e6 * tick.quantile(0.5):.0f} us (99.9 %: {1e6 * tick.quantile(0.999):.0f} "
        f"us), from force to command {1e6 * reaction.quantile(0.5):.0f} us (worst: "
        f"{1e6 * reaction.most:.0f} us)"
    )
    if summary.reason is not None and not summary.faulted:
        typer.echo(f"it was ended: {summary.reason.text}")
    if held := [name for name, share in summary.held.items() if share >= MOST]:
        share = summary.held[held[0]]
        typer.echo(f"held back {100 * share:.0f} % of the time by {', '.join(held)}:")
        for name in held:
            advice = BY_NAME[name].recovery
            ending = "" if advice == "none needed" else f"; {advice}"
            typer.echo(f"  {name}: {BY_NAME[name].words}{ending}")
    if recorded is not None:
        lost = f", {recorded.lost} LOST" if recorded.lost else ""
        typer.echo(f"{recorded.path}: {recorded.written} ticks recorded{lost}")
        if recorded.problem:
            typer.echo(f"{recorded.path}: {recorded.problem}", err=True)
        elif recorded.lost:
            typer.echo(f"{recorded.path}: written too slowly; use a faster disk", err=True)


def tell_stop(summary: Summary, recorded: Recorded | None, *, simulated: bool) -> None:
    """Why the arm stopped without being asked, and what to do."""
    if (reason := summary.reason) is not None:
        typer.echo(f"the arm was stopped: {reason.text}\nwhat to do: {reason.advice}", err=True)
        if reason.code == "late" and simulated:
            typer.echo("a simulated arm keeps a time of its own without --real-time", err=True)
    if recorded is None:
        typer.echo("what led to it: record the next run with --record FILE", err=True)
    else:
        typer.echo(f"what led to it: ur-admittance report {recorded.path}", err=True)
