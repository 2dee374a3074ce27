"""`check`: a configuration, and how an arm with it will behave."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer

from ur_admittance import config_check
from ur_admittance.cli.common import AsJson, console, explained, read_config
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError


@explained()
def check(
    file: Annotated[str, typer.Argument(help="A YAML file, or preset:NAME.", metavar="FILE")],
    robot: Annotated[
        str, typer.Option(help="Also check joint limits [rad/s, rad/s^2] of this arm, say ur5e.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Check a configuration and show how the arm will behave.

    Shows, for each axis, mass [kg, kg m^2], damping [N s/m, Nm s/rad], stiffness [N/m, Nm/rad],
    natural frequency [Hz], time constant [s], speed [m/s under 10 N, rad/s under 1 Nm] and the
    stiffest surface it can touch [N/m]; then what would be unwise. Leaves with 0 when the
    configuration can be used, with 2 when it cannot.
    """
    try:
        config = read_config(file)
        config.equilibrium_pose()
        problems = _beyond_arm(config, robot) if robot else []
        if problems:
            raise ConfigError("\n".join(problems), tuple(problems))
    except AdmittanceError as error:
        if as_json:
            lines = list(getattr(error, "problems", None) or [str(error)])
            typer.echo(json.dumps({"file": file, "ok": False, "errors": lines}, indent=2))
        raise
    result = _behaviour(config)
    if as_json:
        typer.echo(json.dumps({"file": file, "ok": True, "errors": [], **result}, indent=2))
    else:
        _show(file, result)


def _beyond_arm(config: Config, robot: str) -> list[str]:
    """Joint limits that ask for more than the arm has."""
    from ur_admittance.model import RobotModel

    model = RobotModel.ur(robot)
    limits, problems = config.limits, []
    for key, wanted, own, unit in (
        ("joint_velocity", limits.joint_velocity, model.qd_max, "rad/s"),
        ("joint_acceleration", limits.joint_acceleration, model.qdd_max, "rad/s^2"),
    ):
        if wanted is None:
            continue
        asked = wanted if isinstance(wanted, tuple) else (wanted,) * 6
        for joint, ask, most in zip(config.joints, asked, own, strict=True):
            if ask > most * (1 + 1e-9):
                bound = f"must be <= {most:.4g} {unit}, the most a {robot} can, got {ask:g}"
                problems.append(f"limits.{key}: {joint}: {bound}")
    return problems


def _behaviour(config: Config) -> dict[str, Any]:
    """What `check` reports, as plain values in SI units."""
    delay = config.filter_time_constant()
    force, torque = config.effective_deadband()
    cutoff = 1.0 / (math.tau * delay) if delay else None
    return {
        "axes": [axis._asdict() for axis in config_check.axes_of(config)],
        "filter": {"cutoff_hz": cutoff, "delay": delay},
        "deadband": {"force": force, "torque": torque},
        "loop_delay": config.loop_delay,
        "warnings": list(config_check.advice_on(config)),
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
    screen.print(f"filter    {words}, delay {1000 * filtered['delay']:.3g} ms")
    screen.print(f"deadband  {deadband['force']:g} N, {deadband['torque']:g} Nm")
    screen.print(f"contact   with {1000 * result['loop_delay']:g} ms from force to motion")
    for warning in result["warnings"]:
        screen.print(f"warning   {warning}", style="yellow", soft_wrap=True)
