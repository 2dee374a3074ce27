"""`stop`: end a running controller from another terminal."""

from __future__ import annotations

import json
import os
import time
from typing import Annotated

import typer

from ur_admittance.cli.common import AsJson, RobotName, explained, option
from ur_admittance.errors import RobotError


@explained()
def stop(
    robot: RobotName = "",
    wait: Annotated[float, option("How long to wait for the run to end [s].", min=0.0)] = 15.0,
    as_json: AsJson = False,
) -> None:
    """Ask a running controller to brake to rest and end, as Ctrl-C in its terminal does.

    The loop sees it between two ticks; this waits until the run has ended. It is no emergency stop:
    it needs a controller that still runs. Leaves with 1 if there is none, or it does not end.
    """
    from ur_admittance.blackboard import Blackboard

    reader = Blackboard.attach(robot or None)
    reader.stop(f"ur-admittance stop, process {os.getpid()}")
    deadline = time.monotonic() + wait
    while reader.state not in ("ended", "gone") and time.monotonic() < deadline:
        time.sleep(0.02)
    if reader.state != "ended":
        died = reader.state == "gone"
        what = "died before it had ended" if died else f"is {reader.state} and goes on"
        raise RobotError(
            f"stop: {reader.robot}, process {reader.running.pid}, {what}; look at the arm, and use "
            "its own stop"
        )
    if as_json:
        typer.echo(json.dumps({"robot": reader.robot, "state": reader.state}))
    else:
        typer.echo(f"{reader.robot} has come to rest, and its run has ended")
