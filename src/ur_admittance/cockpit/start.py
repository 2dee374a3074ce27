"""Start the cockpit: attach to a controller that runs, or start a simulated arm; then serve."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ur_admittance.blackboard import Blackboard, Reader, list_running
from ur_admittance.cockpit.access import AccessPolicy
from ur_admittance.cockpit.server import Cockpit, library
from ur_admittance.cockpit.session import Session
from ur_admittance.errors import RobotError

_START_SECONDS = 600.0  # for a simulated arm whose kernel has to be compiled first
_LINE = 1 << 20  # bytes of the longest line that a simulated arm says


async def cockpit(
    access: AccessPolicy,
    *,
    folder: Path,
    attach: str | None = None,
    arm: str = "ur5e",
    config: str = "preset:hand-guiding",
    real_time: bool = False,
    ready: Callable[[str, str], None] | None = None,
) -> None:
    """Serve the page of one robot until a signal comes.

    Args:
        access: where, and who may change something.
        folder: of recordings, made when the first is made.
        attach: name of a robot that is controlled already; "": the only one; None: a simulated arm
            is started.
        arm: name of that arm, such as 'ur5e'.
        config: its configuration: a YAML file, or preset:NAME.
        real_time: keep the clock's time, and be late; else it lives in a time of its own.
        ready: called once with the robot's name and the page's address, when it can be opened.
    """
    library()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    station = None
    if attach is None:
        station, reader = await _station(arm, config, real_time, ended)
    else:
        reader = Blackboard.attach(attach or None)
    if reader is None:
        return
    session = Session(reader, folder, station)
    served = Cockpit(session, access)

    def opened() -> None:
        if ready is not None:
            ready(reader.robot, served.access.address)

    serving = asyncio.create_task(served.serve(opened))
    waiting = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        for task in (serving, waiting):
            task.cancel()
        await asyncio.gather(serving, waiting, return_exceptions=True)
        await session.close()


async def _station(
    arm: str, config: str, real_time: bool, ended: asyncio.Event
) -> tuple[Any, Reader | None]:
    """A simulated arm in a process of its own, once it can be seen."""
    command = [sys.executable, "-P", "-m", "ur_admittance.cockpit.station", arm, config]
    station = await asyncio.create_subprocess_exec(
        *command,
        *(["--real-time"] if real_time else []),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LINE,
        start_new_session=True,  # Ctrl-C is for this process, which then ends the other
    )
    said: list[str] = []
    told = asyncio.create_task(_echo(station.stderr, said))
    line = asyncio.create_task(station.stdout.readline())  # type: ignore[union-attr]
    quit_ = asyncio.create_task(ended.wait())
    await asyncio.wait((line, quit_), return_when=asyncio.FIRST_COMPLETED, timeout=_START_SECONDS)
    name = f"sim:{arm}"
    if quit_.done() or not line.done() or not line.result():
        if station.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                station.terminate()
        await station.wait()
        await told
        if quit_.done():
            return station, None
        raise RobotError("\n".join(said) or f"{name}: the simulated arm did not start")
    quit_.cancel()
    return station, Blackboard.attach(name)


async def _echo(stream: Any, said: list[str]) -> None:
    """What the simulated arm says on its error output: kept, and what takes time is shown."""
    while line := await stream.readline():
        text = line.decode(errors="replace").rstrip()
        said.append(text)
        del said[:-20]
        if text.startswith("ur-admittance: compil"):
            print(text, file=sys.stderr, flush=True)


def running() -> list[str]:
    """The names of the robots that are controlled now."""
    return [each.robot for each in list_running()]
