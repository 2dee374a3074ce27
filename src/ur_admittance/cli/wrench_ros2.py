"""`wrench-ros2`: the wrench pipeline on a ROS 2 graph, as a process of its own."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.common import (
    AsJson,
    RunSeconds,
    check_seconds,
    explained,
    option,
    read_config,
)

if TYPE_CHECKING:
    from ur_admittance.config import Config
    from ur_admittance.model import RobotModel


@explained()
def wrench_ros2(
    config: Annotated[str, option("A YAML file, or preset:NAME.", "FILE")],
    model: Annotated[
        str,
        option("An arm, say ur5e, or a URDF file; else /robot_description is waited for.", "MODEL"),
    ] = "",
    seconds: RunSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Compensate a raw force/torque sensor on the ROS 2 graph; nothing is moved.

    Takes /netft/raw_sensor, subtracts bias and tool weight, filters, applies the deadband, and
    publishes /netft/proc_sensor (force [N] and torque [Nm] at the sensor) and /netft/proc_probe (at
    the probe). Needs /joint_states, for the direction of gravity. The service /wrench_node/tare
    makes what the sensor feels now its bias.
    """
    settings = read_config(config)
    check_seconds(seconds)

    from ur_admittance.robots.ros2 import wire
    from ur_admittance.robots.ros2.hearing import Deaf
    from ur_admittance.ros2.wrench_node import NAME, WrenchNode
    from ur_admittance.run.signals import signals

    named = wire.model_named(model, settings) if model else None
    wrench: WrenchNode | None = None
    with signals() as asked:
        while not asked:
            with wire.started():
                node = wire.rclpy.create_node(NAME)
                try:
                    arm = named or _described(node, settings, asked)
                    if arm is None:
                        return
                    wrench = WrenchNode(node, arm, settings)
                    if not as_json:
                        typer.echo("compensating /netft/raw_sensor; Ctrl-C ends it")
                    wrench.run(seconds, asked)
                    break
                except Deaf:  # it has said so
                    continue
                finally:
                    node.destroy_node()
    if wrench is None:
        return
    if as_json:
        typer.echo(json.dumps({"published": wrench.published, "dropped": wrench.dropped}, indent=2))
    else:
        typer.echo(f"{wrench.published} samples published, {wrench.dropped} dropped")


def _described(node: Any, config: Config, asked: list[int]) -> RobotModel | None:
    """The arm, as soon as somebody publishes its description; None if the user had enough."""
    from ur_admittance.robots.ros2 import topics, wire
    from ur_admittance.robots.ros2.hearing import Hearing

    description = wire.Description(node)
    names = (topics.ROBOT_DESCRIPTION, topics.JOINT_STATES, topics.NETFT_RAW)
    hearing = Hearing(node, *map(node.resolve_topic_name, names))
    patience = time.monotonic() + 2.0
    try:
        while not (asked or description.look()):
            hearing.check({node.resolve_topic_name(topics.ROBOT_DESCRIPTION): False})
            if time.monotonic() > patience:
                typer.echo(f"waiting for {topics.ROBOT_DESCRIPTION} ...", err=True)
                patience = math.inf
            time.sleep(0.02)
    finally:
        hearing.close()
    return wire.model_from(description.text, config) if description.text else None
