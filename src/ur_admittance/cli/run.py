"""`run`: the control loop on a robot. What only one kind of robot has is in `kinds`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.attend import RunRequest, tell_end, tell_stop
from ur_admittance.cli.common import FAILED, AsJson, RobotUrl, check_output, explained, read_config
from ur_admittance.cli.kinds import asked_of
from ur_admittance.cli.punctual import Awake, Cpu, Priority, Spin, Strict, see_time
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.errors import ConfigError


@explained()
def run(
    context: typer.Context,
    robot: RobotUrl,
    config: Annotated[
        str, typer.Option(help="A YAML file, or preset:NAME; ros2 may do without.", metavar="FILE")
    ] = "",
    record: Annotated[
        Path | None, typer.Option(help="Record every tick to this MCAP file.", metavar="FILE")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the recording if it exists.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option(help="How long to run [s]; else until Ctrl-C.")
    ] = None,
    priority: Priority = 50,
    cpu: Cpu = None,
    awake: Awake = True,
    spin: Spin = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Control a robot: it gives way to force from now on.

    Shows a live line: mode, force [N], torque [Nm], speed [mm/s], longest tick [us], late cycles
    and active limits. Ctrl-C, SIGTERM and a closed terminal brake to rest and end the run. Leaves
    with 1 if the arm was stopped by anything else, or if the recording has not all of it.
    """
    from ur_admittance.realtime import RealTime

    settings = read_config(config) if config else None
    if settings is not None:
        settings.equilibrium_pose()
    if seconds is not None and not seconds >= 0:
        raise ConfigError(f"--seconds: must be 0 or more, got {seconds}")
    if record is None:
        refuse_useless(context, "replaces a recording; there is none, add --record FILE", "force")
    else:
        check_output(record, force=force)
    kind = asked_of(robot, context.args)
    see_time(context, own_time=kind.own_time)
    wishes = RealTime(priority, cpu, awake=awake, spin=spin, strict=strict)
    view = "" if as_json else "line"
    done = kind.drive(RunRequest("run", robot, settings, seconds, record, wishes, view))
    summary, recorded = done.summary, done.recorded
    if as_json:
        file = recorded and dataclasses.asdict(recorded) | {"path": str(recorded.path)}
        typer.echo(json.dumps(summary.as_dict() | {"recording": file}, indent=2))
    else:
        tell_end(summary, recorded)
    if summary.faulted:
        tell_stop(summary, recorded, simulated=robot.partition(":")[0] == "sim")
        raise typer.Exit(FAILED)
    if recorded is not None and (recorded.lost or recorded.problem):
        raise typer.Exit(FAILED)
