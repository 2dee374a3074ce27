"""`doctor`: what is wrong, before anything moves."""

from __future__ import annotations

import json
import platform
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.arms import arm_at
from ur_admittance.cli.common import (
    FAILED,
    SIM_URLS,
    WRENCH,
    AsJson,
    console,
    explained,
    flag,
    option,
    read_config,
)
from ur_admittance.cli.kinds import kind_of
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.cli.wrench import USELESS, Average, SensorPose, Wrench, sensing
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError

if TYPE_CHECKING:
    from ur_admittance.doctor.finding import Finding
    from ur_admittance.doctor.stream import Heard
    from ur_admittance.robots.base import Robot

_STYLES = {"ok": "green", "warn": "yellow", "wrong": "red"}
_QUESTIONS = 100  # to the robot, for the round trip
_THREE = 3  # poses


@dataclass(frozen=True)
class Asked:
    """What is wanted of a look at a robot; see the options."""

    wrench: dict[str, Any]
    seconds: float
    sensor_range: tuple[float, ...] | None
    push: bool
    three_poses: bool
    write_tool: Path | None
    must: dict[str, str]  # model, serial number and kinematic calibration; "": any


@explained()
def doctor(
    context: typer.Context,
    robot: Annotated[
        str, option(f"Also look at this robot: {SIM_URLS}, rtde://192.168.1.10, ros2.", "URL")
    ] = "",
    wrench: Wrench = "robot",
    sensor_pose: SensorPose = None,
    average: Average = False,
    config: Annotated[str, option("Also look at this YAML file, or preset:NAME.", "FILE")] = "",
    seconds: Annotated[float, option("How long to measure wake-ups [s].", min=0.2, max=600)] = 10.0,
    listen: Annotated[
        float, option("How long to listen to the robot [s].", min=0.5, max=600)
    ] = 30.0,
    sensor_range: Annotated[
        tuple[float, float, float, float, float, float] | None,
        option("Greatest reading of each axis of the sensor [N, Nm].", WRENCH),
    ] = None,
    push: Annotated[
        bool, flag("--push", "Also ask you to push the tool along +x, +y and +z.")
    ] = False,
    three_poses: Annotated[
        bool,
        flag(
            "--three-poses",
            "Also ask you to tilt the tool by hand (freedrive) to three sides: does the "
            "payload explain each?",
        ),
    ] = False,
    model: Annotated[str, option("The arm it must be, say ur5e (rtde).", "MODEL")] = "",
    serial: Annotated[str, option("The serial number it must have (rtde).", "NUMBER")] = "",
    calibration: Annotated[
        str, option("The kinematic calibration it must have, as a refusal prints it (rtde).", "SUM")
    ] = "",
    write_tool: Annotated[
        Path | None,
        option("Write TCP and payload of the pendant to this file, as a tool (rtde).", "FILE"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at machine, robot, sensor and configuration, and move nothing.

    Prints a table: each thing ok, warn or wrong, its value, what it should be, and the command or
    pendant action that mends it. Leaves with 1 if anything is wrong. Addresses, the names of this
    machine and of the robot's, your home folder and a UR's serial number are left out, so that it
    can be pasted into a bug report.
    """
    from ur_admittance.doctor.host import host

    if write_tool is not None and kind_of(robot) != "rtde":
        raise ConfigError("--write-tool: is for --robot rtde://HOST, whose pendant has them")
    must = {"model": model, "serial": serial, "calibration": calibration}
    for name in [name for name, value in must.items() if value and kind_of(robot) != "rtde"]:
        raise ConfigError(f"--{name}: is for --robot rtde://HOST, who says its own")
    if not robot:
        why = "is for a look at a robot; add --robot URL"
        useless = ("listen", "sensor_range", "push", "three_poses", "wrench", *USELESS)
        refuse_useless(context, why, *useless)
    source = sensing(context, kind_of(robot), wrench, sensor_pose, average)
    asked = Asked(source, listen, sensor_range, push, three_poses, write_tool, must)
    settings, findings = _settings(config)
    if not as_json:
        also = f", then at {kind_of(robot)} for {listen:g} s" if robot else ""
        typer.echo(f"looking at this machine for {seconds:g} s{also} ...", err=True)
    findings += host(seconds)
    if robot:
        findings += _robot(robot, settings, asked)
    findings = [_without_secrets(finding, robot, wrench) for finding in findings]
    if as_json:
        wrong = any(f.state == "wrong" for f in findings)
        rows = [asdict(f) for f in findings]
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
            mend="ur-admittance calibrate --robot URL, then 'payload: payload.yaml'",
        )
    )
    return config, findings


def _robot(url: str, config: Config, asked: Asked) -> Iterator[Finding]:
    from ur_admittance.doctor import network, stream
    from ur_admittance.doctor.finding import OK, WARN, WRONG, Finding

    kind, person = kind_of(url), asked.push or asked.three_poses
    more = _of_rtde(config, asked.must) if kind == "rtde" else {}
    if kind == "ros2":
        yield from _graph(config, asked.wrench)
    began = time.monotonic()
    try:
        arm = arm_at(url, config, watch=True, real_time=person, **more, **asked.wrench)
        arm.connect()
    except AdmittanceError as error:
        for line in getattr(error, "problems", None) or [str(error)]:
            yield Finding(
                "robot", WRONG, line.partition("; ")[0], "ready", line.rpartition("; ")[2]
            )
        return
    with arm:
        took = time.monotonic() - began
        yield Finding("robot", OK, f"{arm.model.name}, {arm.rate:g} Hz, answered in {took:.2f} s")
        if kind == "rtde":
            yield from _controller(arm, url, config, asked.write_tool)
        try:
            heard = stream.listen(arm, asked.seconds)
        except AdmittanceError as error:
            yield Finding("robot", WRONG, str(error), "a stream", "look at robot and network")
            yield from stream.sensor(arm)
            return
        yield from stream.sensor(arm)
        if rivals := arm.rivals():
            yield Finding("graph", WRONG, rivals.text, "one sender each", rivals.advice)
        yield from stream.rates(heard)
        if kind == "rtde":
            yield network.jitter(heard)
        yield from _sensor(arm, config, heard, asked)
        if arm.stopped_by:
            yield Finding("robot", WARN, arm.stopped_by.text, "ready", arm.stopped_by.advice)


def _sensor(arm: Robot, config: Config, heard: Heard, asked: Asked) -> Iterator[Finding]:
    """The readings, gravity, and what a person is asked to do."""
    import numpy as np

    from ur_admittance.doctor import stream

    ends = asked.sensor_range or config.safety.sensor_range
    limits = None if ends is None else np.array(ends)
    yield from stream.wrench(heard, config, real=arm.real_sensor, ends=limits)
    if np.isfinite(heard.wrench).all():
        yield from stream.gravity(arm, config, heard)
    yield stream.place(arm, config, heard)
    for axis in range(3 if asked.push else 0):
        typer.echo(f"push the tool along its +{'xyz'[axis]}, now, for 5 s ...", err=True)
        yield stream.felt(arm, config, axis, 5.0)
    if asked.three_poses:
        from ur_admittance.cli.by_hand import guided
        from ur_admittance.run.signals import signals

        with signals() as ended:
            measured = guided(
                arm,
                ended,
                lambda poses: typer.echo(f"pose {len(poses)} of {_THREE} taken", err=True),
                _THREE,
            )
        if measured:
            yield from stream.poses(arm, config, measured)


def _of_rtde(config: Config, must: dict[str, str]) -> dict[str, Any]:
    """Options of a UR controller that is only looked at."""
    from ur_admittance.robots.rtde.inspection import Expected

    return {"expected": Expected(**must, tcp=config.tool.point)}


def _controller(arm: Any, url: str, config: Config, file: Path | None) -> Iterator[Finding]:
    """What a UR controller says of itself, against the configuration; and the way to it."""
    from ur_admittance.doctor import network
    from ur_admittance.doctor.finding import OK, Finding
    from ur_admittance.robots.rtde import pendant
    from ur_admittance.robots.rtde.address import address_of
    from ur_admittance.robots.rtde.round_trip import round_trips

    yield Finding("pendant", OK, pendant.words(arm.found))
    yield from network.differences(arm.differences())
    host, ports = address_of(url)
    yield network.round_trip(round_trips(host, ports["rtde"], _QUESTIONS))
    if file is not None:
        pendant.write(file, arm.found)
        yield Finding("tool", OK, f"{file}: written; use it with 'tool: {file}'")


def _graph(config: Config, wrench: dict[str, Any]) -> Iterator[Finding]:
    """Who is on the graph, whether they can be heard or not."""
    from ur_admittance.doctor import network
    from ur_admittance.doctor.finding import WRONG, Finding

    try:
        from ur_admittance.robots.ros2 import graph, topics
    except AdmittanceError as error:
        yield Finding("graph", WRONG, str(error), "ROS 2", "source its setup.bash")
        return
    given = "mode" in config.output.model_fields_set
    places = graph.places(
        wrench.get("wrench", topics.WRIST_FT), config.output.mode if given else "position"
    )
    yield from network.graph(places, graph.domain())


def _without_secrets(finding: Finding, *urls: str) -> Finding:
    """Without what a stranger need not read."""
    from ur_admittance.doctor.masking import masked

    hosts = [re.split("[:/?]", url.partition("://")[2])[0] for url in urls]
    secrets = [(host, "ROBOT") for host in hosts] + [(platform.node(), "HOST")]
    told = (masked(text, secrets) for text in (finding.value, finding.should, finding.mend))
    value, should, mend = told
    return replace(finding, value=value, should=should, mend=mend)


def _show(findings: list[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("what", "", "found"):
        table.add_column(head, no_wrap=head != "found", overflow="fold")
    for f in findings:
        value = Text(f.value)
        if f.state != "ok":
            value.append(f"\nshould be: {f.should}\nto mend:   {f.mend}", "dim")
        table.add_row(f.what, Text(f.state, _STYLES[f.state]), value)
    screen = console()
    screen.print(table)
    count = {state: sum(f.state == state for f in findings) for state in _STYLES}
    screen.print(f"\n{count['ok']} ok, {count['warn']} to look at, {count['wrong']} wrong")
