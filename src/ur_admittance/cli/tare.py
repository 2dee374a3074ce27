"""`tare`: what an untouched sensor has drifted by becomes its bias."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.arms import arm_at
from ur_admittance.cli.common import AsJson, RobotUrl, explained, flag, option, read_config
from ur_admittance.cli.kinds import kind_of
from ur_admittance.cli.wrench import Average, SensorPose, Wrench, sensing
from ur_admittance.errors import RobotError


@explained()
def tare(
    context: typer.Context,
    robot: RobotUrl,
    config: Annotated[str, option("A YAML file, or preset:NAME: payload and bias so far.", "FILE")],
    out: Annotated[
        Path, option("File to write: the same configuration with the new bias.", "FILE")
    ] = Path("tared.yaml"),
    force: Annotated[bool, flag("--force", "Replace the file if it exists.")] = False,
    wrench: Wrench = "robot",
    sensor_pose: SensorPose = None,
    average: Average = False,
    as_json: AsJson = False,
) -> None:
    """Take what the sensor feels now, beyond the payload, as its bias [N, Nm].

    Nothing moves. For half a second the arm must stand and nothing may touch the tool: it is
    refused, with the numbers, while a joint moves, while the readings are not steady, and when more
    is unexplained than a sensor drifts by. The weight stays in `payload`.
    """
    from ur_admittance.calibration import equilibrium
    from ur_admittance.calibration.tare import watched

    source = sensing(context, kind_of(robot), wrench, sensor_pose, average)
    settings = read_config(config)
    equilibrium.check_file(out, force=force)
    with arm_at(robot, settings, watch=True, **source) as arm:
        if arm.wrench_compensated:
            raise RobotError(
                f"tare: {arm.name} takes bias and payload out of the wrench itself; let it zero "
                "its sensor: ur-admittance run --zero"
            )
        changes = watched(arm, settings)
        name = arm.name
    base = config if config.startswith("preset:") else os.path.relpath(config, out.parent)
    force_bias, torque_bias = (changes[f"payload.{k}_bias"] for k in ("force", "torque"))
    out.write_text(
        f"# {name}, tared.\n"
        f"extends: {base}\n"
        "payload:\n"
        f"  force_bias: {[round(x, 4) for x in force_bias]}  # N\n"
        f"  torque_bias: {[round(x, 5) for x in torque_bias]}  # Nm\n",
        encoding="utf-8",
    )
    if as_json:
        typer.echo(json.dumps({"file": str(out), **changes}, indent=2))
        return
    for key, unit, old in (
        ("force", "N", settings.payload.force_bias),
        ("torque", "Nm", settings.payload.torque_bias),
    ):
        new = changes[f"payload.{key}_bias"]
        moved = max(abs(a - b) for a, b in zip(new, old, strict=True))
        words = ", ".join(f"{x:.3f}" for x in new)
        typer.echo(f"{key:7} bias {words} {unit}; it had drifted by up to {moved:.3f} {unit}")
    typer.echo(f"{out}: written; run with --config {out}")
