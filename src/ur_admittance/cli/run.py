"""`run`: the control loop on a robot, with its blackboard, recorder and live line around it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ur_admittance.cli.common import FAILED, AsJson, RobotUrl, explained, read_config
from ur_admittance.config import Config
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.faults import BY_NAME

if TYPE_CHECKING:
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.controller import Controller
    from ur_admittance.loop import Summary
    from ur_admittance.robots.base import Robot
    from ur_admittance.telemetry.recorder import Recorded


@explained()
def run(
    robot: RobotUrl,
    config: Annotated[
        str, typer.Option(help="A YAML file, or preset:NAME; ros2 may do without.", metavar="FILE")
    ] = "",
    record: Annotated[
        Path | None, typer.Option(help="Record every tick to this MCAP file.", metavar="FILE")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="How long to run [s]; else until Ctrl-C.")
    ] = None,
    priority: Annotated[
        int, typer.Option(min=0, max=99, help="Real-time priority, 1 to 99; 0 asks for none.")
    ] = 50,
    cpu: Annotated[int | None, typer.Option(min=0, help="Core to stay on; else any.")] = None,
    awake: Annotated[
        bool, typer.Option(help="Keep the machine's cores from falling asleep: less late, warmer.")
    ] = True,
    spin: Annotated[
        bool,
        typer.Option("--spin", help="Wait actively for the last 300 us of a cycle: less late."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Do not move unless real time is granted.")
    ] = False,
    push: Annotated[
        tuple[float, float, float] | None,
        typer.Option(
            help="Simulated arm: push the tool with this force [N], x y z of the base, 1 s forth, "
            "1 s rest, 1 s back, 1 s rest, and so on."
        ),
    ] = None,
    pace: Annotated[
        float | None,
        typer.Option(
            help="Simulated arm: how many times as fast as the clock its own time passes; 0: as "
            "fast as it can. In its own time it is never late.  [default: 1]"
        ),
    ] = None,
    real_time: Annotated[
        bool,
        typer.Option("--real-time", help="Simulated arm: keep the clock's time, and be late."),
    ] = False,
    model: Annotated[
        str, typer.Option(help="ROS 2: an arm, say ur5e, or a URDF; else /robot_description.")
    ] = "",
    wrench: Annotated[
        str,
        typer.Option(
            help="ROS 2: topic of the wrench; /netft/proc_probe is taken as compensated and given "
            "at the probe, all others as raw.",
            metavar="TOPIC",
        ),
    ] = "",
    flip_wrench: Annotated[
        bool,
        typer.Option("--flip-wrench", help="ROS 2: the sensor reports the reaction; turn it."),
    ] = False,
    inactive: Annotated[
        bool, typer.Option("--inactive", help="ROS 2: wait to be activated, do not move before.")
    ] = False,
    unconfigured: Annotated[
        bool, typer.Option("--unconfigured", help="ROS 2: wait to be configured, too.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the recording if it exists.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Control a robot: it gives way to force from now on.

    Shows a live line: mode, force [N], torque [Nm], speed [mm/s], longest tick [us], late cycles
    and active limits. Ctrl-C, SIGTERM and a closed terminal brake to rest and end the run. Leaves
    with 1 if the arm was stopped by anything else.
    """
    from ur_admittance import loop, robots
    from ur_admittance.controller import Controller
    from ur_admittance.realtime import Pace, RealTime

    ros2 = robot.strip().lower() == "ros2"
    if not config and not ros2:
        raise ConfigError("--config: give a YAML file, or preset:NAME")
    settings = read_config(config) if config else Config()
    settings.equilibrium_pose()
    for name, number in (("--seconds", seconds), ("--pace", pace)):
        if number is not None and not number >= 0:
            raise ConfigError(f"{name}: must be 0 or more, got {number}")
    if record is not None:
        check_recording(record, force=force)
    simulated = robot.partition(":")[0] == "sim"
    if not simulated and not (push is None and pace is None and not real_time):
        raise ConfigError(
            f"--push, --pace and --real-time are for simulated arms, got --robot {robot}"
        )
    if not ros2 and (model or wrench or flip_wrench or inactive or unconfigured):
        raise ConfigError(
            "--model, --wrench, --flip-wrench, --inactive and --unconfigured are for --robot ros2, "
            f"got --robot {robot}"
        )
    if real_time and pace is not None:
        raise ConfigError("--real-time: an arm in real time has the clock's pace, leave --pace out")
    if simulated and not real_time and pace is None:
        pace = 1.0
    options: dict[str, Any] = {} if pace is None else {"realtime": False}
    if push is not None:
        options["hand"] = to_and_fro(push)
    wishes = RealTime(priority, cpu, awake=awake, spin=spin) if pace is None else None
    view, tell = "" if as_json else "line", _refuse if strict else _tell
    if ros2:
        from ur_admittance.cli.run_ros2 import run_node

        state = "unconfigured" if unconfigured else "inactive" if inactive else "active"
        summary, recorded = run_node(
            settings,
            model=model,
            wrench=wrench,
            flip=flip_wrench,
            state=state,
            seconds=seconds,
            record=record,
            view=view,
            real_time=wishes,
            tell=tell,
        )
    else:
        with robots.connect(robot, **options) as arm:
            controller = Controller(arm.model, settings)

            def drive(board: Blackboard) -> Summary:
                if not as_json:
                    typer.echo(f"{arm.name} gives way from now on; Ctrl-C ends it")
                return loop.run(
                    arm,
                    controller,
                    seconds=seconds,
                    board=board,
                    real_time=wishes,
                    each=Pace(arm.clock, pace) if pace else None,
                    tell=tell,
                )

            summary, recorded = attend(arm, controller, drive, record=record, view=view)
    if as_json:
        file = recorded and dataclasses.asdict(recorded) | {"path": str(recorded.path)}
        typer.echo(json.dumps(summary.as_dict() | {"recording": file}, indent=2))
    else:
        tell_end(summary, recorded)
    if summary.faulted:
        tell_stop(summary, recorded, simulated=simulated)
        raise typer.Exit(FAILED)


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
                where = "" if record is None else f"; the run until then is in {record}"
                raise RobotError(f"{error}{where}") from error
            recorded = recorder.close(summary.as_dict()) if recorder else None
    return summary, recorded


def to_and_fro(force: tuple[float, float, float]) -> Callable[..., np.ndarray]:
    """A hand that pushes P with `force` [N, W axes] for a second, rests, pushes back, rests."""
    wrench = np.array([*force, 0.0, 0.0, 0.0])
    signs = (0.0, 1.0, 0.0, -1.0)
    return lambda t, X_WP, V_WP: signs[int(t) % 4] * wrench


def check_recording(path: Path, *, force: bool) -> None:
    """See that the recording can be written, before anything moves."""
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; --force replaces it")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{path}: {path.parent} is no folder that can be written to")


def tell_end(summary: Summary, recorded: Recorded | None) -> None:
    """The run in three lines."""
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
    if recorded is not None:
        lost = f", {recorded.lost} LOST" if recorded.lost else ""
        typer.echo(f"{recorded.path}: {recorded.written} ticks recorded{lost}")
        if recorded.problem:
            typer.echo(f"{recorded.path}: {recorded.problem}", err=True)


def tell_stop(summary: Summary, recorded: Recorded | None, *, simulated: bool) -> None:
    """Why the arm stopped without being asked, and what to do."""
    faults = [(BY_NAME[words.partition(":")[0]], words) for words in summary.words]
    for fault, words in faults:
        advice = fault.recovery.replace("reset()", "start again")
        if fault.name == "stop_requested":
            words = summary.too_late
            advice = "give the loop a real-time priority, or the machine less to do"
            advice += simulated * "; a simulated arm keeps a time of its own without --real-time"
        if fault.reaction == "stop":
            typer.echo(f"the arm was stopped: {words}\nwhat to do: {advice}", err=True)
    if recorded is None:
        typer.echo("what led to it: record the next run with --record FILE", err=True)
    else:
        typer.echo(f"what led to it: ur-admittance report {recorded.path}", err=True)


def _tell(line: str) -> None:
    typer.echo(f"warning: {line}", err=True)


def _refuse(line: str) -> None:
    raise RobotError(f"--strict: {line}; nothing has moved")
