"""`cockpit`: push it, see it, tune it in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.common import SIM_URLS, explained, flag, option
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.errors import ConfigError


@explained()
def cockpit(
    context: typer.Context,
    robot: Annotated[
        str, option(f"The simulated arm to start where nothing runs: {SIM_URLS}.", "URL")
    ] = "sim",
    attach: Annotated[
        str | None,
        option(
            "Show this robot, which `run` controls already, say rtde://192.168.1.10; start "
            "nothing.",
            "NAME",
        ),
    ] = None,
    config: Annotated[
        str, option("Of the simulated arm: a YAML file, or preset:NAME.", "FILE")
    ] = "preset:hand-guiding",
    port: Annotated[
        int, option("TCP port of the page; 0: any that is free.", min=0, max=65535)
    ] = 8080,
    host: Annotated[
        str,
        option(
            "Address to listen on; one that others can reach makes looking need the token, too.",
            "ADDRESS",
        ),
    ] = "127.0.0.1",
    recordings: Annotated[
        Path, option("Folder of recordings and reports; made when needed.", "FOLDER")
    ] = Path("ur-admittance-recordings"),
    open_: Annotated[bool, flag("--open", "Open the page in this machine's browser.")] = False,
    real_time: Annotated[
        bool, flag("--real-time", "The simulated arm keeps the clock's time, and is late.")
    ] = False,
) -> None:
    """Push an arm, see what it feels, and tune it, in the browser.

    Attaches to the controller that runs; where none does, starts a simulated UR5e that you drag
    with the mouse. Prints the page's address: who has it may change things, everybody else on this
    machine may only look. The page is a process of its own, which the control loop does not notice.
    Ctrl-C closes the page, and ends a simulated arm that was started here; an arm that `run`
    controls goes on.
    """
    import asyncio
    import logging

    from ur_admittance.cockpit.access import AccessPolicy
    from ur_admittance.cockpit.start import cockpit as serve
    from ur_admittance.cockpit.start import running

    scheme, _, arm = robot.partition(":")
    if scheme != "sim":
        raise ConfigError(
            f"--robot: the cockpit starts simulated arms only, got {robot!r:.100}; start a real "
            "one with 'ur-admittance run' in another terminal, then 'ur-admittance cockpit'"
        )
    if attach is not None:
        why = "is for a simulated arm that the cockpit starts; with --attach it starts none"
        refuse_useless(context, why, "robot", "config", "real_time")
    found = running()
    if attach is None and found:
        if len(found) > 1:
            raise ConfigError(f"--attach: several robots run, name one of {', '.join(found)}")
        attach = found[0]
        why = f"is for a simulated arm that is started; {attach} runs already, end it or leave this"
        refuse_useless(context, why, "config", "real_time")
        if attach != f"sim:{arm or 'ur5e'}":
            refuse_useless(context, why, "robot")
    access = AccessPolicy(host, port)
    logging.basicConfig(format="%(asctime)s  %(message)s", datefmt="%H:%M:%S")

    def ready(name: str, address: str) -> None:
        typer.echo(f"{name}: open {address}")
        typer.echo("who has this address may move and change things; Ctrl-C ends it")
        if open_:
            import webbrowser

            webbrowser.open(address)

    if attach is None:
        typer.echo(f"starting a simulated {arm or 'ur5e'} ...")
    asyncio.run(
        serve(
            access,
            folder=recordings,
            attach=attach,
            arm=arm or "ur5e",
            config=config,
            real_time=real_time,
            ready=ready,
        )
    )
