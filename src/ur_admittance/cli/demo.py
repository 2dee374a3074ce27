"""`demo`: scripted scenes with a simulated arm, watched, recorded, judged and reported."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.assent import assent_of
from ur_admittance.cli.attend import RunRequest, moved, tell_end, tell_stop
from ur_admittance.cli.common import FAILED, AsJson, console, explained, flag, option
from ur_admittance.cli.kinds import asked_of, kind_of
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.config import Config
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from ur_admittance.scenarios import Finding, Scenario

ON_ARM = 20.0  # s, of a real one
FAST = 10.0  # times as fast as the clock: what the recorder follows on a slow machine


@explained()
def demo(
    context: typer.Context,
    robot: Annotated[
        str,
        option(
            "sim, or rtde://HOST: a real arm, which asks first, then gives way to your hand "
            "for 20 s.",
            "URL",
        ),
    ] = "sim",
    scenario: Annotated[
        str, option("hand-guiding, surface, wall, peg, polish, or all in turn.", "SCENE")
    ] = "hand-guiding",
    out: Annotated[
        Path, option("Folder for recordings and reports; older ones are replaced.", "FOLDER")
    ] = Path("ur-admittance-demo"),
    pace: Annotated[float, option("How many times as fast as the clock.", min=0.1, max=FAST)] = 1.0,
    fast: Annotated[bool, flag("--fast", f"Do not watch: the same as --pace {FAST:g}.")] = False,
    ideal: Annotated[bool, flag("--ideal", "An arm without lag, delay and sensor noise.")] = False,
    seed: Annotated[int, option("Of the sensor's noise.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Show what a compliant arm does: a scripted scene of about 20 s with a simulated UR5e.

    Draws the tool's way, force [N] and speed [mm/s] while it runs, records every tick, says whether
    the arm did what it should, and writes a report with plots. The simulated arm lives in its own
    time, so that every machine shows the same. Leaves with 1 if something was not as it should be.
    """
    from ur_admittance.scenarios import SCENARIOS

    if kind_of(robot) == "rtde":
        if scenario != "hand-guiding":
            raise ConfigError(f"--scenario {scenario}: on a real arm there is hand-guiding alone")
        why = "is for a simulated arm; a real one has a time and noise of its own, leave it out"
        refuse_useless(context, why, "pace", "fast", "ideal", "seed")
        out.mkdir(parents=True, exist_ok=True)
        _demo_on(robot, out, as_json=as_json)
        return
    if robot != "sim":
        raise ConfigError(f"--robot: must be sim or rtde://HOST, got {robot!r:.100}")
    if fast:
        refuse_useless(context, f"--fast is --pace {FAST:g}; leave one of them out", "pace")
    if ideal:
        refuse_useless(context, "an --ideal arm has no noise; leave one of them out", "seed")
    if scenario not in (*SCENARIOS, "all"):
        hint = suggest(scenario, (*SCENARIOS, "all"))
        names = ", ".join(SCENARIOS)
        raise ConfigError(f"--scenario: no {scenario!r}; there are {names} and all{hint}")
    out.mkdir(parents=True, exist_ok=True)
    screen = console()
    screen.quiet = as_json
    results = []
    for each in SCENARIOS.values() if scenario == "all" else (SCENARIOS[scenario],):
        speed = FAST if fast else pace
        results.append(_show(each, out, speed, ideal=ideal, seed=seed, screen=screen))
    good = sum(result["passed"] for result in results)
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    elif len(results) > 1:
        screen.print(f"{good} of {len(results)} scenes went as they should")
    if good < len(results):
        raise typer.Exit(FAILED)


def _demo_on(robot: str, out: Path, *, as_json: bool) -> None:
    """A real arm gives way to a hand, slowly, after somebody was asked; recorded and reported."""
    from ur_admittance.realtime import RealTime
    from ur_admittance.report.write import write_report
    from ur_admittance.telemetry.recording import read

    assent_of("demo").require(
        "demo",
        f"The arm at {robot} will give way to your hand for {ON_ARM:g} s, at most 0.1 m/s. Clear "
        "what it could meet, keep a hand at the emergency stop, and let nothing touch the tool "
        "until it says so.",
    )
    config = Config.preset("hand-guiding").replace({"max_linear_velocity": 0.1})
    file, view = out / "hand-guiding.mcap", "" if as_json else "panel"
    request = RunRequest("demo", robot, config, ON_ARM, file, RealTime(), view)
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


def _show(
    scenario: Scenario, out: Path, pace: float, *, ideal: bool, seed: int, screen: Console
) -> dict[str, Any]:
    """One scene from its first tick to its report."""
    from ur_admittance.controller import Controller
    from ur_admittance.live import shown
    from ur_admittance.realtime import Pace
    from ur_admittance.report.write import write_report
    from ur_admittance.run import Run
    from ur_admittance.run.signals import signals
    from ur_admittance.scenarios import play
    from ur_admittance.telemetry.recording import read

    screen.print(scenario.title, style="bold")
    screen.print(scenario.text)
    file = out / f"{scenario.name}.mcap"
    with scenario.robot(ideal=ideal, realtime=False, seed=seed) as arm:
        controller = Controller(arm.model, scenario.config())
        with Run(arm, controller=controller, record=file, replace=True, permit=("travel",)) as run:
            run.prepare()
            view = nullcontext() if screen.quiet else shown(arm.name, "panel", scenario.title)
            with view, signals() as asked:
                pace_it = Pace(arm.clock, pace, asked)
                summary = moved(play(scenario, arm, controller, run=run, each=pace_it))
        recorded = run.recorded
    if summary.asked:
        screen.print(f"ended early; what there was is in {file}")
        raise typer.Exit(FAILED)
    if summary.faulted:
        tell_stop(summary, recorded, simulated=True)
    with screen.status("writing the report"):
        recording = read(file)
        findings = scenario.judge(recording.records, ideal=ideal)
        rows = [(finding.what, finding.passed, finding.words) for finding in findings]
        page = write_report(recording, out / scenario.name, scenario.title, rows)
    _list(findings, screen)
    screen.print(f"report     {page}\nrecording  {file}\n", soft_wrap=True)
    return {
        "scenario": scenario.name,
        "passed": all(finding.passed for finding in findings),
        "findings": [dict(zip(("what", "passed", "words"), row, strict=True)) for row in rows],
        "recording": str(file),
        "report": str(page),
    }


def _list(findings: list[Finding], screen: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    for finding in findings:
        sign = Text("✓", "green") if finding.passed else Text("✗", "red")
        table.add_row(sign, finding.what, finding.words)
    screen.print(table)
