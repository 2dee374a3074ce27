"""`play`: lead a simulated arm along a path that was taught."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.attend import attend, check_recording, claimed, moved, tell_end, tell_stop
from ur_admittance.cli.common import FAILED, AsJson, explained, read_config
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from ur_admittance.blackboard import Blackboard
    from ur_admittance.robots.base import State
    from ur_admittance.run_summary import Summary

_LATE = 0.024  # s by which a simulated arm follows late, where the configuration does not say


@explained()
def play(
    file: Annotated[Path, typer.Argument(help="A path that `teach` wrote.", metavar="FILE")],
    robot: Annotated[
        str, typer.Option(help="A simulated arm: sim, sim:ur3e to sim:ur30.", metavar="URL")
    ] = "sim",
    config: Annotated[
        str, typer.Option(help="How it gives way: a YAML file, or preset:NAME.", metavar="FILE")
    ] = "preset:pose-law",
    speed: Annotated[
        float, typer.Option(help="How many times as fast as it was taught, 0.05 to 4.")
    ] = 1.0,
    back: Annotated[bool, typer.Option("--there-and-back", help="And the same way back.")] = False,
    pace: Annotated[
        float, typer.Option(min=0.0, help="Of the simulated time; 0: as fast as it can.")
    ] = 1.0,
    record: Annotated[
        Path | None, typer.Option(help="Record every tick to this MCAP file.", metavar="FILE")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lead an arm along a path that was taught, while it gives way to force.

    It goes to the path's start first, at most 50 mm/s and 0.1 rad/s, and ends at rest where the
    path ends. Simulated arms only, today.
    """
    from ur_admittance import loop, robots
    from ur_admittance.approach import without_equilibrium
    from ur_admittance.controller import Controller
    from ur_admittance.realtime import Pace
    from ur_admittance.robots.sim import following
    from ur_admittance.teaching import Path as Taught
    from ur_admittance.teaching import Playing

    if robot.partition(":")[0] != "sim":
        raise ConfigError(f"--robot: play knows simulated arms only, got {robot!r:.100}")
    path = Taught.load(file)
    path = path.there_and_back() if back else path
    settings = without_equilibrium(read_config(config))
    if record is not None:
        check_recording(record, force=False)
    options = {"config": settings, "realtime": False, **following(settings.arm)}
    simulated = robots.make(robot, **options)
    with claimed(simulated.name), simulated as arm:
        controller = Controller(arm.model, settings)
        late = settings.arm.lag + settings.arm.delay or _LATE
        playing = Playing(controller, path, speed, late)

        def drive(board: Blackboard) -> Summary:
            with loop.signals() as asked:
                wait = Pace(arm.clock, pace, asked) if pace else None

                def each(state: State, out: np.record) -> None:
                    playing()
                    if playing.over:
                        controller.deactivate()
                    if wait is not None:
                        wait()

                return moved(loop.run(arm, controller, board=board, each=each))

        summary, recorded = attend(
            arm, controller, drive, record=record, view="" if as_json else "line"
        )
    if as_json:
        typer.echo(json.dumps(summary.as_dict() | {"played": playing.over}, indent=2))
    else:
        tell_end(summary, recorded)
    if summary.faulted:
        tell_stop(summary, recorded, simulated=True)
        raise typer.Exit(FAILED)
