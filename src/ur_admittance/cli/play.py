"""`play`: lead an arm along a path that was taught."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.attend import Wanted, tell_end, tell_stop
from ur_admittance.cli.common import FAILED, SIM_URLS, AsJson, check_output, explained, read_config
from ur_admittance.cli.kinds import asked_of, kind_of
from ur_admittance.cli.punctual import Awake, Cpu, Priority, Spin, Strict, see_time, teller
from ur_admittance.cli.useless import refuse_useless

if TYPE_CHECKING:
    from ur_admittance.controller import Controller
    from ur_admittance.motion.taught import Playing


@explained()
def play(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A path that `teach` wrote.", metavar="FILE")],
    robot: Annotated[
        str,
        typer.Option(
            help=f"{SIM_URLS}, rtde://HOST, or ros2; with the options that `run` has for it.",
            metavar="URL",
        ),
    ] = "sim",
    config: Annotated[
        str, typer.Option(help="How it gives way: a YAML file, or preset:NAME.", metavar="FILE")
    ] = "preset:pose-law",
    speed: Annotated[
        float, typer.Option(help="How many times as fast as it was taught, 0.05 to 4.")
    ] = 1.0,
    back: Annotated[bool, typer.Option("--there-and-back", help="And the same way back.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Record every tick to this MCAP file.", metavar="FILE")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the recording if it exists.")
    ] = False,
    priority: Priority = 50,
    cpu: Cpu = None,
    awake: Awake = True,
    spin: Spin = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Lead an arm along a path that was taught, while it gives way to force.

    It goes to the path's start first, at most 50 mm/s and 0.1 rad/s, and ends at rest where the
    path ends. A real arm that is more than 50 mm or 0.2 rad from there asks first, or needs
    --allow-travel. Held back, it waits, for 5 s. Leaves with 1 if it did not reach the end.
    """
    from ur_admittance.motion.base import Leading
    from ur_admittance.motion.taught import SIMULATED_LATE, Playing, check
    from ur_admittance.motion.taught import Path as Taught
    from ur_admittance.realtime import RealTime

    kind = kind_of(robot)
    path = Taught.load(file)
    path = path.there_and_back() if back else path
    settings = read_config(config)
    check(path, speed, settings)
    if record is None:
        refuse_useless(context, "replaces a recording; there is none, add --record FILE", "force")
    else:
        check_output(record, force=force)
    late = settings.arm.lag + settings.arm.delay or (SIMULATED_LATE if kind == "sim" else 0.0)
    x, y, z, *wxyz = path.poses[0].tolist()
    settings = settings.replace({"equilibrium": {"position": [x, y, z], "orientation": wxyz}})
    made: list[Playing] = []

    def lead(controller: Controller) -> Callable[[], None]:
        playing = Playing(path, controller.model, controller.config, speed, late=late)
        leading = Leading(controller, playing)
        made.append(playing)

        def each() -> None:
            leading()
            if playing.outcome:
                controller.deactivate()

        return each

    allowed = ["--allow-travel"] if kind == "sim" else []
    asked = asked_of(robot, [*context.args, *allowed])
    see_time(context, own_time=asked.own_time)
    view = "" if as_json else "line"
    wishes = RealTime(priority, cpu, awake=awake, spin=spin)
    wanted = Wanted(robot, settings, None, record, wishes, view, teller(strict), lead)
    summary, recorded = asked.drive(wanted)
    outcome = (made[-1].outcome if made else "") or "it was ended before"
    if as_json:
        typer.echo(json.dumps(summary.as_dict() | {"outcome": outcome}, indent=2))
    else:
        typer.echo(f"{file}: {outcome}")
        tell_end(summary, recorded)
    if summary.faulted:
        tell_stop(summary, recorded, simulated=kind == "sim")
    if summary.faulted or outcome != "reached":
        raise typer.Exit(FAILED)
