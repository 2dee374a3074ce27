"""`calibrate`: what hangs on the sensor, and what the sensor reads without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.arms import run_to_lead
from ur_admittance.cli.assent import Yes, assent_of, permits
from ur_admittance.cli.by_hand import guided
from ur_admittance.cli.common import WRENCH, AsJson, RobotUrl, explained, read_config
from ur_admittance.cli.kinds import kind_of
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.cli.wrench import USELESS, Average, SensorPose, Wrench, sensing
from ur_admittance.config import Config
from ur_admittance.errors import CalibrationError, ConfigError

if TYPE_CHECKING:
    from ur_admittance.calibration.measured import Measured
    from ur_admittance.calibration.payload import Estimate
    from ur_admittance.model import RobotModel
    from ur_admittance.motion.joints import JointPath


@explained()
def calibrate(
    context: typer.Context,
    robot: RobotUrl = "",
    config: Annotated[
        str,
        typer.Option(
            help="A YAML file, or preset:NAME: limits on the way, workspace, tool; a simulated "
            "arm carries its tool and payload.",
            metavar="FILE",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="File to write (YAML).", metavar="FILE")] = Path(
        "payload.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    poses: Annotated[int, typer.Option(min=6, max=60, help="How many poses to take.")] = 12,
    tilt: Annotated[
        float, typer.Option(min=15, max=120, help="How far to tilt the tool at most [degrees].")
    ] = 75.0,
    by_hand: Annotated[
        bool,
        typer.Option(
            "--by-hand",
            help="You move the arm (freedrive), Enter takes a pose, q ends it.",
        ),
    ] = False,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Take the poses from a recording (MCAP) or a CSV instead of a robot.",
            metavar="FILE",
        ),
    ] = None,
    arm: Annotated[
        str, typer.Option(help="Whose joint angles a CSV has, say ur5e.", metavar="MODEL")
    ] = "",
    mounting: Annotated[
        bool, typer.Option("--mounting", help="Find how the sensor is turned, up to 15 degrees.")
    ] = False,
    gravity: Annotated[
        bool, typer.Option("--gravity", help="Find the direction of gravity at the base.")
    ] = False,
    mass: Annotated[
        float | None, typer.Option(help="What the tool weighs on a scale [kg]; another is refused.")
    ] = None,
    sensor: Annotated[
        str,
        typer.Option(
            help="Name of the sensor, for the file; else as --wrench has it.", metavar="NAME"
        ),
    ] = "",
    sensor_range: Annotated[
        tuple[float, float, float, float, float, float] | None,
        typer.Option(help="Greatest reading of each axis of the sensor [N, Nm].", metavar=WRENCH),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Folder for a page with plots of what is left.", metavar="FOLDER"),
    ] = None,
    yes: Yes = False,
    wrench: Wrench = "robot",
    sensor_pose: SensorPose = None,
    average: Average = False,
    as_json: AsJson = False,
) -> None:
    """Find mass [kg], centre of mass [m] and bias [N, Nm] of what hangs on the sensor.

    The arm turns its wrist through poses around where it stands, inside its limits and the
    workspace; they are shown and asked for once. It must touch nothing. Each pose takes half a
    second at rest. Ctrl-C, samples that cease and a force that changes by more than 120 N brake it.

    What is found goes to a YAML file with its errors and a verdict; name that file in a
    configuration with 'payload:'. What cannot be relied on is refused, with the reason: then
    nothing is written, and it leaves with 1.
    """
    from ur_admittance.calibration import equilibrium, payload, payload_file

    if bool(robot) == (source is not None):
        raise ConfigError("calibrate: give --robot URL, or --from FILE")
    if source is not None:
        why = "does nothing with --from, whose poses are taken already; leave it out"
        refuse_useless(context, why, "poses", "tilt", "by_hand", "yes", "wrench", *USELESS)
    if by_hand:
        why = "does nothing with --by-hand, where you move the arm; leave it out"
        refuse_useless(context, why, "tilt", "yes")
    if source is None or source.suffix.lower() == ".mcap":
        why = "is for --from FILE.csv; robots and recordings say which arm they are, leave it out"
        refuse_useless(context, why, "arm")
    more = sensing(context, kind_of(robot), wrench, sensor_pose, average)
    settings = read_config(config) if config else Config()
    equilibrium.check_file(out, force=force)
    from ur_admittance.calibration.payload_fit import optimizer

    optimizer()  # says it now if SciPy is missing
    if source is not None:
        name, model, measured, real = _recorded(source, arm, settings)
    else:
        name, model, measured, real = _measured(
            robot, settings, more, poses, tilt, by_hand=by_hand, yes=yes, quiet=as_json
        )
    found = payload.estimate(
        measured,
        gravity=settings.payload.gravity,
        mounting=mounting,
        tilt=gravity,
        known_mass=mass,
        sensor_range=sensor_range,
        real=real,
    )
    text = payload_file.text_of(
        found, robot=name, sensor=sensor or wrench, day=date.today(), model=model
    )
    payload_file.write(out, text)
    page = None
    if report is not None:
        from ur_admittance.report.calibration import write_page

        page = write_page(report, found, measured, name)
    if as_json:
        typer.echo(json.dumps(_plain(found) | {"file": str(out)}, indent=2))
    else:
        _show(found, out, page)


def _measured(
    url: str,
    config: Config,
    more: dict[str, Any],
    poses: int,
    tilt: float,
    *,
    by_hand: bool,
    yes: bool,
    quiet: bool,
) -> tuple[str, RobotModel, list[Measured], bool]:
    """Go through poses, or let a person do it."""
    import math

    from ur_admittance.calibration.collect import through
    from ur_admittance.calibration.poses import choose
    from ur_admittance.run.signals import signals

    tell = _progress(poses, config) if not quiet else lambda measured: None
    permit, leading = permits(lead=yes), dict(more, watch=by_hand)
    with (
        signals() as asked,
        run_to_lead(url, config, assent_of("calibrate", permit, asked), **leading) as run,
    ):
        arm = run.robot
        if arm.wrench_compensated:
            raise CalibrationError(
                f"calibrate: {arm.name} has taken the payload out of the wrench itself, nothing is "
                "left to weigh; take the raw one (PolyScope 5.9 or newer), or let the robot "
                "measure its payload (Installation, Payload)"
            )
        if by_hand:
            return arm.name, arm.model, guided(arm, asked, tell), arm.real_sensor
        here = arm.look().q.copy()
        ways = choose(arm.model, run.config, here, count=poses - 1, tilt=math.radians(tilt))
        _show_way(arm.name, arm.model, here, ways)
        measured = through(run, ways, tell)
        if not quiet:
            typer.echo("", err=True)
        return arm.name, arm.model, measured, arm.real_sensor


def _recorded(path: Path, arm: str, config: Config) -> tuple[str, RobotModel, list[Measured], bool]:
    """The poses in a recording of ours, or in a table."""
    import numpy as np

    from ur_admittance.calibration import csv_file
    from ur_admittance.calibration.collect import sensor_axes, stretches
    from ur_admittance.controller.packing import carrying
    from ur_admittance.model import RobotModel

    if path.suffix.lower() == ".mcap":
        from ur_admittance.telemetry import recording

        run = recording.read(path)
        records = run.records
        R = np.array([sensor_axes(run.model, q) for q in records["q"]])
        measured = stretches(records["time"].astype(float), R, records["wrench"])
        return run.robot, run.model, measured, not run.robot.startswith("sim")
    model = carrying(RobotModel.ur(arm), config) if arm else None
    measured = stretches(*csv_file.read(path, model))
    return path.stem, model or RobotModel.ur("ur5e"), measured, True


def _progress(poses: int, config: Config) -> Callable[[list[Measured]], None]:
    """A line that says how far it is, and which direction lacks."""

    def tell(measured: list[Measured]) -> None:
        import numpy as np

        from ur_admittance.calibration.payload import lacking

        spread, axis = lacking(np.array([one.R_WS for one in measured]), config.payload.gravity)
        seen = (
            f"gravity seen from enough sides ({spread:.2f})"
            if spread >= 0.3
            else f"not yet enough along the sensor's {axis} ({spread:.2f} of 0.30)"
        )
        typer.echo(f"pose {len(measured)} of {poses}: {seen}", err=True)

    return tell


def _show_way(name: str, model: RobotModel, q: Any, ways: Sequence[JointPath]) -> None:
    import numpy as np

    points = np.array([model.fk(angles)[:3, 3] for way in ways for angles in (way.start, way.goal)])
    low, high = points.min(axis=0), points.max(axis=0)
    typer.echo(
        f"{name} will turn its wrist from pose 1, where it stands, through {len(ways)} more [rad]:",
        err=True,
    )
    for n, way in enumerate(ways, 2):
        angles = " ".join(f"{angle:6.2f}" for angle in way.goal)
        typer.echo(f"  {n:2}  {angles}   {way.seconds:.1f} s", err=True)
    box = ", ".join(f"{a:.2f} to {b:.2f}" for a, b in zip(low, high, strict=True))
    seconds = sum(way.seconds + 0.8 for way in ways)
    typer.echo(f"  the tool point stays at {box} m (x, y, z); about {seconds:.0f} s", err=True)


def _show(found: Estimate, out: Path, page: Path | None) -> None:
    e = found.errors
    worst = max(e[f"center_of_mass {a}"] for a in "xyz")
    center = ", ".join(f"{1e3 * x:.1f}" for x in found.center_of_mass)
    typer.echo(f"mass       {found.mass:.4f} kg +- {e['mass']:.4f}")
    typer.echo(f"centre     {center} mm +- {1e3 * worst:.2f}")
    bias = ", ".join(f"{x:.2f}" for x in found.force_bias)
    typer.echo(f"bias       {bias} N; {', '.join(f'{x:.3f}' for x in found.torque_bias)} Nm")
    if found.mounting.any():
        import numpy as np

        degrees = ", ".join(f"{x:.2f}" for x in np.degrees(found.mounting))
        typer.echo(f"mounting   turned by {degrees} degrees about x, y, z")
    typer.echo(
        f"left       {found.residual_force:.3f} N, {found.residual_torque:.4f} Nm rms in "
        f"{len(found.poses)} poses; at most {found.left_force:.2f} N, {found.left_torque:.3f} Nm "
        "in any"
    )
    if found.left_out:
        numbers = ", ".join(str(n + 1) for n in found.left_out)
        typer.echo(f"left out   poses {numbers}: not still")
    typer.echo(
        f"verdict    {found.verdict}; it needs a deadband of {found.deadband_force:.2f} N and "
        f"{found.deadband_torque:.3f} Nm"
    )
    typer.echo(f"{out}: written; use it with 'payload: {out}'")
    if page is not None:
        typer.echo(f"{page}: what is left, in pictures")


def _plain(found: Estimate) -> dict[str, Any]:
    """For JSON, SI units."""
    import dataclasses

    import numpy as np

    values = dataclasses.asdict(found)
    values.pop("R_WS")
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}
