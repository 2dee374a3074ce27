"""`identify`: how this arm follows velocity commands."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ur_admittance.cli.common import AsJson, RobotUrl, explained, read_config
from ur_admittance.config import Config


@explained()
def identify(
    robot: RobotUrl,
    config: Annotated[
        str, typer.Option(help="A YAML file, or preset:NAME: the greatest force to bear.")
    ] = "",
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("arm.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Move without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the arm's lag [s], delay [s] and first structural mode [Hz].

    All joints move to and fro together for 6 s, by at most 0.04 rad: the tool by a few centimetres.
    It must touch nothing. What is found goes to a YAML file, with the noise at rest [N, m]; name it
    in a configuration with 'extends:'. `contact.adapt` uses it, and so do `check` and `map`.
    """
    from ur_admittance import robots
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.calibration import identify as calibration
    from ur_admittance.cli.attend import claimed
    from ur_admittance.cli.kinds import kind_of
    from ur_admittance.errors import RobotError
    from ur_admittance.loop import signals
    from ur_admittance.packing import pack

    limits = read_config(config) if config else Config()
    if out.exists() and not force:
        raise RobotError(f"{out}: exists already; --force replaces it, --out names another")
    if robot.strip().lower() == "ros2":
        raise RobotError("identify: not over ROS 2 yet; give the robot's own address, or sim")
    if not yes and not typer.confirm(f"{robot} will move a few centimetres. Is it free to?"):
        raise RobotError("identify: not permitted to move, nothing has moved; --yes lets it")
    # A simulated arm has a time of its own, and is never late.
    options: dict[str, Any] = {"realtime": False} if kind_of(robot) == "sim" else {}
    made = robots.make(robot, **options)
    with claimed(made.name), made as arm:
        params = pack(limits, arm.model)
        with Blackboard.create(arm.name, arm.rate, limits, params), signals() as asked:
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
