"""`teach`: keep the path along which somebody leads the arm."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.common import RobotName, explained
from ur_admittance.errors import ConfigError, RobotError

_POLL = 0.5  # s


@explained()
def teach(
    file: Annotated[Path, typer.Argument(help="File to write (JSON).", metavar="FILE")],
    robot: RobotName = "",
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="How long [s]; else until Ctrl-C.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Keep the path along which you lead an arm by hand.

    The arm is controlled by `run` in another terminal, best with preset:hand-guiding. Lead it; then
    Ctrl-C here, which the arm does not notice. `play` leads the arm along the path again.
    """
    import numpy as np

    from ur_admittance.blackboard import Blackboard
    from ur_admittance.loop import signals
    from ur_admittance.teaching import LONGEST
    from ur_admittance.teaching import Path as Taught

    if file.exists() and not force:
        raise ConfigError(f"{file}: exists already; --force replaces it")
    if not file.absolute().parent.is_dir():
        raise ConfigError(f"{file}: there is no folder {file.absolute().parent}")
    reader = Blackboard.attach(robot or None)
    until = time.monotonic() + min(seconds or LONGEST, LONGEST)
    rows, index, lost = [], reader.index, 0
    with signals() as asked:
        typer.echo(f"lead {reader.robot} along the path; Ctrl-C ends it", err=True)
        while not asked and time.monotonic() < until and reader.state in ("running", "silent"):
            time.sleep(min(_POLL, max(0.0, until - time.monotonic())))
            records, index, gone = reader.since(index)
            rows.append(records)
            lost += gone
    if lost:
        raise RobotError(f"teach: {lost} ticks were seen too late; teach it again")
    path = Taught.of(np.concatenate(rows) if rows else reader.since(index)[0])
    path.save(file)
    typer.echo(f"{file}: {path.seconds:.1f} s, {path.metres:.2f} m")
