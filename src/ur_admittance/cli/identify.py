"""`identify`: how this arm follows velocity commands."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.arms import arm_at, leading
from ur_admittance.cli.attend import claimed
from ur_admittance.cli.common import SIM_URLS, AsJson, explained, read_config
from ur_admittance.cli.kinds import kind_of
from ur_admittance.cli.travel import agreed
from ur_admittance.config import Config
from ur_admittance.errors import ConfigError, RobotError


@explained()
def identify(
    robot: Annotated[
        str,
        typer.Option(
            help=f"Address of the robot: {SIM_URLS}, rtde://192.168.1.10; not over ROS 2 yet.",
            metavar="URL",
        ),
    ],
    config: Annotated[
        str,
        typer.Option(
            help="A YAML file, or preset:NAME: payload, and in safety.max_force the greatest force "
            "to bear [N]; a simulated arm carries its tool.",
            metavar="FILE",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="File to write (YAML).", metavar="FILE")] = Path(
        "arm.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Move without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the arm's lag [s], delay [s] and first structural mode [Hz].

    All joints move to and fro together for 6 s, by at most 0.04 rad: the tool by a few centimetres.
    It must touch nothing. What is found goes to a YAML file, with the noise at rest [N, m]. Name it
    in a configuration with 'extends:', for `contact.adapt`, `check` and `map`; `tune` takes it too.
    """
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.calibration import equilibrium
    from ur_admittance.calibration import identify as calibration
    from ur_admittance.controller import LiveParameters
    from ur_admittance.run.signals import signals

    limits = read_config(config) if config else Config()
    equilibrium.check_file(out, force=force)
    if kind_of(robot) == "ros2":
        raise ConfigError("--robot: not over ROS 2 yet; give the robot's own address, or sim")
    if not yes and not agreed(f"{robot} will move a few centimetres. Is it free to?"):
        raise RobotError("identify: not permitted to move, nothing has moved; --yes lets it")
    made = arm_at(robot, limits)
    with claimed(made.name), made as arm:
        live = LiveParameters(limits, arm.model)
        board = Blackboard.create(arm.name, arm.rate, live)  # nobody else moves this arm
        with board, signals() as asked, leading(robot, arm):
            found = calibration.identify(arm, asked, max_force=limits.safety.max_force)
        out.write_text(calibration.to_yaml(found, arm.name))
    if as_json:
        typer.echo(json.dumps({"file": str(out), **asdict(found)}, indent=2))
        return
    typer.echo(f"lag {found.lag * 1e3:.1f} ms +- {found.lag_error * 1e3:.1f}")
    typer.echo(f"delay {found.delay * 1e3:.1f} ms +- {found.delay_error * 1e3:.1f}")
    mode = f"{found.mode_frequency:.0f} Hz, {found.mode_confidence:.0%} sure"
    typer.echo(f"first structural mode: {mode if found.mode_frequency else 'none seen'}")
    typer.echo(f"noise at rest: {found.force_noise:.2f} N, {found.motion_noise * 1e6:.1f} um")
    typer.echo(f"{out}: written; use it with 'extends: {out}'")
