"""`sim-ros2`: a simulated arm on a ROS 2 graph, in the place of the robot and its driver."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.attend import to_and_fro
from ur_admittance.cli.common import (
    FORCE,
    ArmModel,
    AsJson,
    RunSeconds,
    check_seconds,
    explained,
    flag,
    option,
    read_config,
)
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    from ur_admittance.robots.sim import SimRobot


@explained()
def sim_ros2(
    context: typer.Context,
    arm: ArmModel = "ur5e",
    scenario: Annotated[
        str,
        option(
            "A scene of `demo`, with its tool, its sensor and its hand: hand-guiding, "
            "surface, wall, peg or polish. Planned motion is not part of it.",
            "SCENE",
        ),
    ] = "",
    config: Annotated[
        str,
        option(
            "A YAML file, or preset:NAME, whose `tool` and `payload` the arm carries; not for "
            "a scenario, which has its own.",
            "FILE",
        ),
    ] = "",
    write_config: Annotated[
        Path | None,
        option(
            "Write the controller's configuration for the scenario to this file, as a ROS 2 "
            "parameter file.",
            "FILE",
        ),
    ] = None,
    push: Annotated[
        tuple[float, float, float] | None,
        option(
            "Push the tool with this force [N], x y z of the base, 1 s forth, 1 s rest, 1 s "
            "back, 1 s rest, and so on, from the first command on.",
            FORCE,
        ),
    ] = None,
    ideal: Annotated[bool, flag("--ideal", "An arm without lag, delay and sensor noise.")] = False,
    seed: Annotated[int, option("Of the sensor's noise.", min=0)] = 0,
    rate: Annotated[
        float, option("States a second [Hz]; not for a scenario.", min=20, max=500)
    ] = 500.0,
    repeat: Annotated[
        bool,
        flag(
            "--repeat",
            "Repeat the last velocity for ever, as the driver's forward_velocity_controller "
            "does; else the arm brakes after 20 ms without a command.",
        ),
    ] = False,
    seconds: RunSeconds = None,
    priority: Annotated[
        int,
        option(
            "Real-time priority, 1 to 99, above that of the controller; 0 asks for none.",
            min=0,
            max=99,
        ),
    ] = 60,
    as_json: AsJson = False,
) -> None:
    """Put a simulated arm on the ROS 2 graph, in the place of the robot and its driver.

    Publishes /joint_states, /wrist_ft_sensor, /netft/raw_sensor and /robot_description at 500 Hz
    in real time, and obeys /forward_velocity_controller/commands,
    /forward_position_controller/commands and /scaled_joint_trajectory_controller/joint_trajectory.
    Who publishes to /sim/push pushes the tool for a second: force [N] and torque [Nm], axes of the
    base.
    """
    check_seconds(seconds)
    if scenario and rate != 500.0:
        raise ConfigError("--rate: a scenario has its own, 500 Hz")
    if scenario and config:
        raise ConfigError("--config: a scenario has its own tool")
    if ideal:
        refuse_useless(context, "an --ideal arm has no noise; leave one of them out", "seed")
    if write_config is not None and not scenario:
        raise ConfigError("--write-config: needs a --scenario")

    from ur_admittance.realtime import RealTime, prepare, restore
    from ur_admittance.robots.ros2 import topics, wire
    from ur_admittance.robots.sim import SimRobot
    from ur_admittance.robots.sim.carried import carried
    from ur_admittance.ros2.sim_node import SimNode

    if scenario:
        robot = _scene(scenario, arm, write_config, ideal, seed)
    else:
        carries: dict[str, Any] = {"model": arm}
        if config:
            tool = read_config(config)
            if any(tool.tool.sensor or ()):
                raise ConfigError("tool.sensor: sim-ros2 has its sensor in tool0; leave it out")
            carries = carried(tool, arm)
        robot = SimRobot(**carries, realtime=False, ideal=ideal, seed=seed, rate=rate)
    if push is not None:
        robot.hand = to_and_fro(push)
    with wire.started(), robot:
        with wire.urgent(priority):
            sim = SimNode(wire.rclpy.create_node(topics.SIM_ARM), robot, repeat=repeat)
        asked = priority > 0
        for line in prepare(RealTime(priority, lock_memory=asked, awake=asked)):
            typer.echo(f"warning: {line}", err=True)
        try:
            if not as_json:
                typer.echo(f"{robot.name} is on the graph; Ctrl-C ends it")
            served = sim.run(seconds)
        finally:
            restore()
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(served), indent=2))
    else:
        typer.echo(
            f"{served.seconds:.1f} s, {served.cycles} cycles, {served.missed} missed; "
            f"{served.commands} commands obeyed, {served.refused} refused, {served.lost} lost; the "
            "arm is at rest"
        )


def _scene(name: str, arm: str, file: Path | None, ideal: bool, seed: int) -> SimRobot:
    """The arm in a scene of `demo`; its configuration goes to `file`."""
    from ur_admittance.scenarios import SCENARIOS

    if name not in SCENARIOS:
        hint = suggest(name, SCENARIOS)
        raise ConfigError(f"--scenario: no {name!r}; there are {', '.join(SCENARIOS)}{hint}")
    if arm != "ur5e":
        raise ConfigError(f"--arm: the scenes are a ur5e's, got {arm}")
    if file is not None:
        frames = {"tip": "probe", "ft_frame": "tool0"}
        file.write_text(SCENARIOS[name].config().replace(frames).to_yaml("ros2"), "utf-8")
    return SCENARIOS[name].robot(ideal=ideal, realtime=False, seed=seed)
