"""`check`: a configuration, and how an arm with it will behave."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Annotated, Any

import typer

from ur_admittance.cli.common import (
    JOINTS,
    AsJson,
    argument,
    console,
    explained,
    option,
    read_config,
)
from ur_admittance.config import Config, advice
from ur_admittance.config.field import AXES, FRAMES, TRANSLATIONS
from ur_admittance.config.validate import as_numbers
from ur_admittance.errors import AdmittanceError, ConfigError, RobotError


@explained()
def check(
    file: Annotated[str, argument("A YAML file, or preset:NAME.", "FILE")],
    arm: Annotated[
        str,
        option(
            "Also check it for this arm, say ur5e: joint limits [rad/s, rad/s^2], start, "
            "workspace and equilibrium against its reach [m].",
            "MODEL",
        ),
    ] = "",
    q: Annotated[
        tuple[float, float, float, float, float, float] | None,
        option("Joint angles of the start, base to tool [rad]; else the arm's home.", JOINTS),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a configuration and show how the arm will behave.

    Shows, for each axis, mass [kg, kg m^2], damping [N s/m, Nm s/rad], stiffness [N/m, Nm/rad],
    natural frequency [Hz], time constant [s], speed [m/s under 10 N, rad/s under 1 Nm] and the
    stiffest surface it can touch [N/m]; then what would be unwise. With --arm also what that arm
    cannot do: a start outside the box or an equilibrium out of reach is an error. Leaves with 0
    when the configuration can be used, with 2 when it cannot.
    """
    try:
        config = read_config(file)
        config.equilibrium_pose()
        _check_mesh(config)
        if q is not None and not arm:
            raise ConfigError("--q: are joint angles of which arm? Give --arm, too")
        found = _arm(config, arm, q) if arm else None
    except AdmittanceError as error:
        if as_json:
            lines = list(getattr(error, "problems", None) or [str(error)])
            typer.echo(json.dumps({"file": file, "ok": False, "errors": lines}, indent=2))
        raise
    result = _behaviour(config)
    if found is not None:
        result["warnings"] += found.pop("warnings")
        result["arm"] = found
    if as_json:
        typer.echo(json.dumps({"file": file, "ok": True, "errors": [], **result}, indent=2))
    else:
        _show(file, result)


def _check_mesh(config: Config) -> None:
    """See that the tool's mesh can be read, where there is MuJoCo to read it."""
    from importlib.util import find_spec

    if config.tool.mesh is not None and find_spec("mujoco") is not None:
        from ur_admittance.robots.sim.mjcf import load_mujoco
        from ur_admittance.robots.sim.tool_mesh import read_mesh

        try:
            read_mesh(load_mujoco(), config.tool.mesh, config.tool.mesh_scale)
        except RobotError as error:
            raise ConfigError(str(error)) from None


def _arm(
    config: Config, name: str, q: tuple[float, float, float, float, float, float] | None
) -> dict[str, Any]:
    """What an arm makes of the configuration, or a ConfigError with all that it cannot."""
    from ur_admittance.config import reach
    from ur_admittance.model import RobotModel

    model = RobotModel.ur(name)
    start = model.home if q is None else as_numbers(q, "--q", (6,), unit="rad")
    if problems := tuple(reach.problems_on(config, model, start)):
        raise ConfigError("\n".join(problems), problems)
    return {
        "name": model.name,
        "start": model.fk(start)[:3, 3].tolist(),
        "at_home": q is None,
        "reach": reach.reach_of(model),
        "walls": reach.has_walls(config, model),
        "warnings": list(reach.advice_on_arm(config, model, start)),
    }


def _behaviour(config: Config) -> dict[str, Any]:
    """What `check` reports, as plain values in SI units."""
    delay = config.filter_time_constant()
    force, torque = config.effective_deadband()
    cutoff = 1.0 / (math.tau * delay) if delay else None
    return {
        "frame": config.admittance.frame,
        "axes": [axis._asdict() for axis in advice.axes_of(config)],
        "filter": {"cutoff_hz": cutoff, "delay": delay},
        "deadband": {"force": force, "torque": torque},
        "loop_delay": config.loop_delay,
        "follows": {"lag": config.arm.lag, "delay": config.arm.delay},
        "contact": {
            "adapt": config.contact.adapt,
            "max_stiffness": config.contact.max_stiffness,
            "left_of_lag": config.left_of_lag(),
        },
        "force": {
            axis: target
            for axis, on, target in zip(
                AXES, config.force.enabled_axes, config.force.target, strict=True
            )
            if on
        },
        "payload": advice.payload_words(config, date.today()),
        "warnings": list(advice.advice_on(config)),
    }


def _show(file: str, result: dict[str, Any]) -> None:
    """Print the report for people."""
    from rich.table import Table

    def cell(value: float | None) -> str:
        return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"

    table = Table(box=None, pad_edge=False, header_style="bold")
    heads = ("axis", "mass\nkg\nkg m²", "damping\nN s/m\nNm s/rad", "stiffness\nN/m\nNm/rad")
    heads += ("freq.\nHz", "ratio", "time\ns", "10 N, 1 Nm\nm/s\nrad/s", "surface\nN/m\nNm/rad")
    for head in heads:
        table.add_column(head, justify="left" if head == "axis" else "right", no_wrap=True)
    for axis in result["axes"]:
        name, enabled, *numbers = axis.values()
        cells = [cell(number) for number in numbers] if enabled else ["off"]
        table.add_row(name, *cells)
    screen = console()
    screen.print(f"{file} can be used\n")
    screen.print(table)
    screen.print("\nfreq., ratio: of the spring; time: constant of the slowest motion;")
    screen.print("10 N, 1 Nm: steady speed under that push; surface: stiffest it can touch\n")
    filtered, deadband = result["filter"], result["deadband"]
    words = "none" if filtered["cutoff_hz"] is None else f"cut-off {filtered['cutoff_hz']:.3g} Hz"
    screen.print(f"axes      of {FRAMES[result['frame']]} (admittance.frame: {result['frame']})")
    screen.print(f"filter    {words}, delay {1000 * filtered['delay']:.3g} ms")
    screen.print(f"deadband  {deadband['force']:g} N, {deadband['torque']:g} Nm")
    for axis, target in result["force"].items():
        unit = "N" if axis in TRANSLATIONS else "Nm"
        screen.print(f"force     {axis} presses with {target:g} {unit} (force.target)")
    follows, contact = result["follows"], result["contact"]
    if follows["lag"] or follows["delay"]:
        words = f"{1000 * follows['lag']:.3g} ms of lag, {1000 * follows['delay']:.3g} ms of delay"
        screen.print(f"arm       follows with {words} (arm.lag, arm.delay)")
    screen.print(f"payload   {result['payload']}", soft_wrap=True)
    screen.print(f"contact   with {1000 * result['loop_delay']:g} ms from force to motion")
    if contact["adapt"]:
        left = f"{1000 * contact['left_of_lag']:.3g} ms of delay and lag are left"
        screen.print(f"          damped by what is touched up to {contact['max_stiffness']:g} N/m")
        screen.print(f"          {left} (contact.adapt)")
    if arm := result.get("arm"):
        where = ", ".join(f"{x:.3f}" for x in arm["start"])
        at = f"home of a {arm['name']}" if arm["at_home"] else "the angles given"
        screen.print(f"start     tool at {where} m, at {at}; it reaches {arm['reach']:.3g} m")
        if not arm["walls"]:
            screen.print("walls     none within reach: limits.workspace_min, workspace_max")
    for warning in result["warnings"]:
        screen.print(f"warning   {warning}", style="yellow", soft_wrap=True)
