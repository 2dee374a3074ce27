"""A run from the command line: what was asked for, what is drawn meanwhile, its last words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ur_admittance.cli.assent import assent_of, permits
from ur_admittance.config import Config
from ur_admittance.errors import ConfigError
from ur_admittance.faults import BY_NAME

if TYPE_CHECKING:
    from ur_admittance.motion.taught import Played
    from ur_admittance.realtime import RealTime
    from ur_admittance.run import Run
    from ur_admittance.run.assent import Assent
    from ur_admittance.run.summary import Summary
    from ur_admittance.telemetry.recorder import Recorded

MOST = 0.5  # share of a run from which on a limit is worth a line at its end


@dataclass(frozen=True)
class RunRequest:
    """What `run`, `play` or `demo` was asked for, whichever kind of robot it is.

    Attributes:
        verb: which of them.
        robot: its address.
        config: None if none was given.
        seconds: how long to run, s; None: until a signal.
        record: file to record to; None records nothing.
        real_time: what to ask of the machine.
        view: 'line', 'panel', or '' for none.
        played: a path; None: it gives way where it stands.
        yes: whether it may be led along that without asking.
    """

    verb: str
    robot: str
    config: Config | None
    seconds: float | None
    record: Path | None
    real_time: RealTime
    view: str
    played: Played | None = None
    yes: bool = False

    def assent(self, permit: frozenset[str], asked: Sequence[int] = ()) -> Assent:
        """What has been agreed to by typing it, and who is asked for the rest."""
        return assent_of(self.verb, permit | permits(play=self.yes), asked)

    @property
    def given_config(self) -> Config:
        """The configuration, or an error that asks for one."""
        if self.config is None:
            raise ConfigError("--config: give a YAML file, or preset:NAME")
        return self.config


@dataclass(frozen=True)
class RunResult:
    """How it went.

    Attributes:
        summary: of the run.
        recorded: how the recording ended; None without one.
        outcome: of the path that was played: "reached", or why not; "" without one.
    """

    summary: Summary
    recorded: Recorded | None = None
    outcome: str = ""


def attend(
    request: RunRequest,
    run: Run,
    *,
    connected: Callable[[], None] = lambda: None,
    each: Callable[..., Any] | None = None,
) -> RunResult:
    """Have a run agreed to, drive it, and draw it meanwhile.

    Args:
        run: not yet entered.
        connected: called when the robot is.
        each: makes what is called after every command, from the robot and the signals so far.
    """
    from ur_admittance.live import shown
    from ur_admittance.run.signals import signals

    def begun() -> None:
        if request.view:
            typer.echo(f"{run.robot.name} gives way from now on; Ctrl-C ends it")

    with run:
        connected()
        run.prepare(request.played)
        view = shown(run.robot.name, request.view) if request.view else nullcontext()
        with view, signals() as asked:
            run.each = each(run.robot, asked) if each is not None else None
            moved(run.drive(request.seconds, begun=begun))
    return RunResult(run.summary, run.recorded, run.outcome)


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
