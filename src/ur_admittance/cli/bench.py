"""`bench`: what this machine makes of the loop."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ur_admittance.cli.common import AsJson, console, explained, flag, option
from ur_admittance.errors import ConfigError


@explained()
def bench(
    loop: Annotated[
        bool,
        flag(
            "--loop",
            "Measure the control loop; all there is so far, so that `bench` alone does it.",
            show_default=False,
        ),
    ] = True,
    seconds: Annotated[float, option("How long each row runs [s].")] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Measure the control loop on this machine, without a robot.

    How late it wakes, what a tick takes and how long a force takes to become a command [us]; share
    of one core [%] and memory [MB]. First on the machine as it is, then with every core busy, five
    readers attached and a recorder; each with and without real-time priority, with cores kept
    awake, and with --spin.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ur_admittance.bench.loop import measure, show

    if not 0.1 <= seconds <= 3600.0:
        raise ConfigError(f"--seconds: must be from 0.1 to 3600, got {seconds}")
    # Drawn between two slices only: a bar that moves would be a load.
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("")

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total, refresh=True)

        results = measure(seconds, tell=tell)
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    else:
        show(results, console())
