"""`doctor`: what is wrong, before anything moves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.common import FAILED, AsJson, console, explained, read_config
from ur_admittance.cli.kinds import kind_of
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError

if TYPE_CHECKING:
    from ur_admittance.doctor.finding import Finding

_STYLES = {"ok": "green", "warn": "yellow", "wrong": "red"}
_ADDRESS = re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b")


@explained()
def doctor(
    robot: Annotated[
        str,
        typer.Option(
            help="Also look at this robot: sim, rtde://192.168.1.10, ros2.", metavar="URL"
        ),
    ] = "",
    wrench: Annotated[
        str, typer.Option(help="Sensor beside an rtde robot: netft://HOST.", metavar="URL")
    ] = "",
    config: Annotated[
        str, typer.Option(help="Also look at this YAML file, or preset:NAME.", metavar="FILE")
    ] = "",
    seconds: Annotated[
        float, typer.Option(min=0.2, max=600, help="How long to measure wake-ups [s].")
    ] = 10.0,
    listen: Annotated[
        float, typer.Option(min=0.5, max=600, help="How long to listen to the robot [s].")
    ] = 30.0,
    sensor_range: Annotated[
        tuple[float, float, float, float, float, float] | None,
        typer.Option(help="Greatest reading of each axis, fx fy fz tx ty tz [N, Nm]."),
    ] = None,
    push: Annotated[
        bool, typer.Option("--push", help="Also ask you to push the tool along +x, +y and +z.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at machine, robot, sensor and configuration, and move nothing.

    Prints a table: each thing ok, warn or wrong, its value, what it should be, and the command or
    pendant action that mends it. Leaves with 1 if anything is wrong. Numeric addresses
    are left out; look for serial numbers and host names before you paste it into a bug report.
    """
    from ur_admittance.doctor.host import host

    if wrench and not (wrench.startswith("netft://") and kind_of(robot) == "rtde"):
        raise ConfigError("--wrench: must be netft://HOST, beside --robot rtde://HOST")
    settings, findings = _settings(config)
    findings += host(seconds)
    if robot:
        findings += _robot(robot, wrench, settings, listen, sensor_range, push)
    if as_json:
        wrong = any(f.state == "wrong" for f in findings)
        rows = [{k: _masked(v) for k, v in asdict(f).items()} for f in findings]
        typer.echo(json.dumps({"ok": not wrong, "findings": rows}, indent=2))
    else:
        _show(findings)
    if any(f.state == "wrong" for f in findings):
        raise typer.Exit(FAILED)


def _settings(name: str) -> tuple[Config, list[Finding]]:
    """The configuration, and what `check` and its payload say."""
    from ur_admittance.config import advice
    from ur_admittance.doctor.finding import OK, WARN, WRONG, Finding, judged

    if not name:
        return Config(), []
    try:
        config = read_config(name)
    except AdmittanceError as error:
        return Config(), [
            Finding("configuration", WRONG, str(error), "readable", f"ur-admittance check {name}")
        ]
    warnings = list(advice.advice_on(config))
    findings = [Finding("configuration", OK, f"{name} can be used")]
    findings += [
        Finding("configuration", WARN, text, "see there", f"ur-admittance check {name}")
        for text in warnings
    ]
    words = advice.payload_words(config, date.today())
    findings.append(
        judged(
            "payload",
            words,
            good=not advice.payload_warning(config, date.today()),
            should="calibrated within 90 days",
            mend="ur-admittance calibrate --robot URL, then 'extends: payload.yaml'",
        )
    )
    return config, findings


def _robot(
    url: str,
    wrench: str,
    config: Config,
    seconds: float,
    sensor_range: tuple[float, ...] | None,
    push: bool,
) -> Iterator[Finding]:
    import numpy as np

    from ur_admittance import robots
    from ur_admittance.doctor import stream
    from ur_admittance.doctor.finding import OK, WARN, WRONG, Finding

    kind, options = kind_of(url), dict[str, Any](config=config)
    if kind == "sim":
        options["realtime"] = False
    else:
        options["watch"] = True
    if kind == "rtde":
        options["permit"] = lambda words: True  # nothing is started
        if wrench:
            from ur_admittance.sensors.netft import NetFt

            options["sensor"] = NetFt(wrench.removeprefix("netft://"))
    began = time.monotonic()
    try:
        arm = robots.connect(url, **options)
    except AdmittanceError as error:
        for line in getattr(error, "problems", None) or [str(error)]:
            yield Finding(
                "robot", WRONG, line.partition("; ")[0], "ready", line.rpartition("; ")[2]
            )
        return
    with arm:
        took = time.monotonic() - began
        yield Finding("robot", OK, f"{arm.model.name}, {arm.rate:g} Hz, answered in {took:.2f} s")
        if kind == "ros2" and (trouble := arm.trouble()):
            yield Finding("graph", WRONG, trouble, "one sender each", "end the other node")
        try:
            heard = stream.listen(arm, seconds)
        except AdmittanceError as error:
            yield Finding("robot", WRONG, str(error), "a stream", "look at robot and network")
            return
        yield from stream.rates(heard)
        ends = None if sensor_range is None else np.array(sensor_range)
        yield from stream.wrench(heard, config, real=arm.real_sensor, ends=ends)
        if np.isfinite(heard.wrench).all():
            yield from stream.gravity(arm, config, heard)
        yield stream.place(arm, config, heard)
        for axis in range(3 if push else 0):
            typer.echo(f"push the tool along its +{'xyz'[axis]}, now, for 5 s ...", err=True)
            yield stream.felt(arm, config, axis, 5.0)
        if arm.stopped_by:
            yield Finding("robot", WARN, arm.stopped_by, "ready", "see the pendant")


def _show(findings: list[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("what", "", "found"):
        table.add_column(head, no_wrap=head != "found", overflow="fold")
    for f in findings:
        value = Text(_masked(f.value))
        if f.state != "ok":
            value.append(f"\nshould be: {_masked(f.should)}\nto mend:   {_masked(f.mend)}", "dim")
        table.add_row(f.what, Text(f.state, _STYLES[f.state]), value)
    screen = console()
    screen.print(table)
    count = {state: sum(f.state == state for f in findings) for state in _STYLES}
    screen.print(f"\n{count['ok']} ok, {count['warn']} to look at, {count['wrong']} wrong")


def _masked(value: Any) -> Any:
    """Without addresses."""
    return _ADDRESS.sub("ADDRESS", value) if isinstance(value, str) else value
