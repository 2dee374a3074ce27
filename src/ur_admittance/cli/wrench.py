"""`--wrench`, `--sensor-pose` and `--average`: whose force/torque sensor a verb listens to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ur_admittance.cli.common import POSE
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.errors import ConfigError

Wrench = Annotated[
    str,
    typer.Option(
        help="robot: its own sensor, raw where there is one; compensated: less its payload (rtde); "
        "netft://HOST: an ATI Net F/T, or an OnRobot HEX; on a ROS 2 graph a topic.",
        metavar="SOURCE",
    ),
]
SensorPose = Annotated[
    tuple[float, float, float, float, float, float] | None,
    typer.Option(
        help="Where that sensor sits: x y z [m], rotation vector [rad] in the flange; else where "
        "tool.sensor of the configuration says, or at the flange.",
        metavar=POSE,
    ),
]
Average = Annotated[
    bool,
    typer.Option("--average", help="Of its samples between two ticks, the mean; else the newest."),
]
USELESS = ("sensor_pose", "average")  # without a sensor beside the robot


def sensing(
    context: typer.Context,
    kind: str,
    wrench: str,
    sensor_pose: tuple[float, ...] | None,
    average: bool,
) -> dict[str, Any]:
    """The arguments by which a robot of a kind takes what these options ask for.

    A sensor beside the robot is made, and not yet connected: it is `sensor`.

    Raises:
        ConfigError: a robot of that kind cannot, or an option is for another sensor.
    """
    from ur_admittance import robots, sensors

    source = "://" in wrench and kind != "ros2"
    if not source:
        why = "is for --wrench netft://HOST; the robot knows its own sensor, leave it out"
        refuse_useless(context, why, *USELESS)
    given: dict[str, Any] = {"average": True} if average else {}
    if sensor_pose is not None:
        given["pose"] = sensor_pose
    try:
        return robots.sensing(kind, sensors.make(wrench, **given) if source else wrench)
    except ConfigError as error:  # it speaks of the argument of that name
        raise ConfigError(f"--{error}") from None
