"""`teach`: keep the path along which somebody leads the arm."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.common import (
    AsJson,
    RobotName,
    argument,
    check_output,
    explained,
    flag,
    option,
)

_POLL = 0.5  # s


@explained()
def teach(
    file: Annotated[Path, argument("File to write (JSON).", "FILE")],
    robot: RobotName = "",
    seconds: Annotated[float | None, option("How long [s]; else until Ctrl-C.", min=0.1)] = None,
    force: Annotated[bool, flag("--force", "Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep the path along which you lead an arm by hand.

    The arm is controlled by `run` in another terminal, best with preset:hand-guiding. Lead it; then
    Ctrl-C here, which the arm does not notice. Says how long the path took [s] and how long it is
    [m]; `play` leads the arm along it again.
    """
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.motion.lesson import LONGEST, Lesson
    from ur_admittance.run.signals import signals

    check_output(file, force=force)
    reader = Blackboard.attach(robot or None)
    until = time.monotonic() + min(seconds or LONGEST, LONGEST)
    with signals() as asked:
        typer.echo(f"lead {reader.robot} along the path; Ctrl-C ends it", err=True)
        lesson = Lesson(reader)
        while not (asked or lesson.over) and time.monotonic() < until:
            time.sleep(min(_POLL, max(0.0, until - time.monotonic())))
            lesson.look()
    path = lesson.path()
    path.save(file)
    if as_json:
        report = {"file": str(file), "seconds": path.seconds, "metres": path.metres}
        typer.echo(json.dumps(report))
    else:
        typer.echo(f"{file}: {path.seconds:.1f} s, {path.metres:.2f} m")
