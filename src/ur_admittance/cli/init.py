"""`init`: bring the arm home and write its equilibrium pose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.arms import run_to_lead
from ur_admittance.cli.assent import Yes, assent_of, permits
from ur_admittance.cli.common import JOINTS, AsJson, RobotUrl, explained, read_config
from ur_admittance.cli.kinds import kind_of
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.cli.wrench import Average, SensorPose, Wrench, sensing
from ur_admittance.config import Config


@explained()
def init(
    context: typer.Context,
    robot: RobotUrl,
    config: Annotated[
        str,
        typer.Option(
            help="A YAML file, or preset:NAME: the limits to keep on the way; a simulated arm "
            "carries its tool and payload.",
            metavar="FILE",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="File to write (YAML).", metavar="FILE")] = Path(
        "equilibrium.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    stay: Annotated[
        bool, typer.Option("--stay", help="Do not move: write the pose in which the arm stands.")
    ] = False,
    home: Annotated[
        tuple[float, float, float, float, float, float] | None,
        typer.Option(
            help="Joint angles to go to, base to tool [rad]; else the arm's own home.",
            metavar=JOINTS,
        ),
    ] = None,
    yes: Yes = False,
    wrench: Wrench = "robot",
    sensor_pose: SensorPose = None,
    average: Average = False,
    as_json: AsJson = False,
) -> None:
    """Bring the arm home and write its pose as equilibrium.

    A real arm asks first. The joints move straight to the home configuration within half of every
    speed and acceleration limit. Obstacles are not known: look at the way first. Ctrl-C brakes, and
    so do a force above safety.max_force, samples that cease, and on a ROS 2 graph another node that
    commands the arm. There it commands positions, which are held should this process die. A
    configuration names the file with 'equilibrium: equilibrium.yaml'; its springs return to it.
    """
    from ur_admittance.calibration import equilibrium
    from ur_admittance.motion.joints import straight
    from ur_admittance.run.signals import signals

    if stay:
        why = "does nothing with --stay; leave one of them out"
        refuse_useless(context, why, "home", "yes")
    source = sensing(context, kind_of(robot), wrench, sensor_pose, average)
    limits = read_config(config) if config else Config()
    equilibrium.check_file(out, force=force)
    with signals() as asked:
        assent = assent_of("init", permits(lead=yes), asked)
        with run_to_lead(robot, limits, assent, watch=stay, real_time=True, **source) as run:
            arm = run.robot
            if not stay:
                goal = arm.model.home if home is None else home
                way = straight(arm.model, run.config, arm.look().q, goal)
                if arm.simulated:  # else it is told by whoever asks
                    typer.echo(f"{arm.name} moves for {way.seconds:.1f} s ...", err=True)
                run.lead(way, verb="init")
            q = arm.wait().q.copy()
    X_WP = arm.model.fk(q)
    joints = ", ".join(f"{angle:.4f}" for angle in q)
    equilibrium.save(out, X_WP, f"Written by ur-admittance init, {arm.name}, joints {joints} rad.")
    if as_json:
        position = X_WP[:3, 3].tolist()
        typer.echo(json.dumps({"file": str(out), "position": position, "joints": q.tolist()}))
    else:
        where = ", ".join(f"{1e3 * x:.1f}" for x in X_WP[:3, 3])
        typer.echo(f"{out}: the tool is at {where} mm")
