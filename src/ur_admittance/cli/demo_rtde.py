"""`demo --robot rtde://HOST`: a real arm gives way to a hand, after somebody was asked."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from ur_admittance.cli.assent import assent_of
from ur_admittance.cli.attend import RunRequest, tell_end, tell_stop
from ur_admittance.cli.common import FAILED
from ur_admittance.cli.kinds import asked_of
from ur_admittance.config import Config

SECONDS = 20.0


def demo_on(robot: str, out: Path, *, as_json: bool) -> None:
    """Hand-guiding, slow, recorded and reported.

    Raises:
        RobotError: nobody agreed, or the robot is not ready.
    """
    from ur_admittance.realtime import RealTime
    from ur_admittance.report.write import write_report
    from ur_admittance.telemetry.recording import read

    assent_of("demo").require(
        "demo",
        f"The arm at {robot} will give way to your hand for {SECONDS:g} s, at most 0.1 m/s. Clear "
        "what it could meet, keep a hand at the emergency stop, and let nothing touch the tool "
        "until it says so.",
    )
    config = Config.preset("hand-guiding").replace({"max_linear_velocity": 0.1})
    file, view = out / "hand-guiding.mcap", "" if as_json else "panel"
    request = RunRequest("demo", robot, config, SECONDS, file, RealTime(), view)
    done = asked_of(robot, []).drive(request)
    summary, recorded = done.summary, done.recorded
    page = write_report(read(file), out / "hand-guiding", "A hand leads the arm", [])
    if as_json:
        typer.echo(json.dumps({**summary.as_dict(), "recording": str(file), "report": str(page)}))
    else:
        tell_end(summary, recorded)
        typer.echo(f"report     {page}")
    if summary.faulted:
        tell_stop(summary, recorded, simulated=False)
        raise typer.Exit(FAILED)
