"""`run --robot ros2`: the admittance node, with blackboard, recorder and live line around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.attend import Wanted, attend, claimed, warn_of_payload
from ur_admittance.cli.travel import AllowLoosening, AllowOutside, AllowTravel, permit
from ur_admittance.config import Config
from ur_admittance.errors import RobotError
from ur_admittance.ros2.allowed import Allowed

if TYPE_CHECKING:
    from ur_admittance.run.summary import Summary
    from ur_admittance.telemetry.recorder import Recorded


_PATIENCE = 30.0  # s for the description, the first joint state and the first wrench


@dataclass(frozen=True)
class Ros2Run:
    """See `options`.

    Attributes:
        state: of the life cycle, where it goes by itself.
    """

    model: str
    wrench: str
    flip_wrench: bool
    state: str
    keep_trying: bool
    allowed: Allowed
    task_frame: str
    own_time = False

    def drive(self, wanted: Wanted) -> tuple[Summary, Recorded | None]:
        """Be a node on the graph until Ctrl-C or SIGTERM; another one, should that be deaf."""
        from ur_admittance.robots.ros2.hearing import Deaf
        from ur_admittance.run.signals import signals

        with signals() as asked:
            while True:
                try:
                    return self._drive(wanted, asked)
                except RobotError as error:
                    if not isinstance(error.__cause__ or error, Deaf):  # it has said so
                        raise

    def _drive(self, wanted: Wanted, asked: list[int]) -> tuple[Summary, Recorded | None]:
        from ur_admittance.robots.ros2 import topics, wire
        from ur_admittance.ros2.node import AdmittanceNode
        from ur_admittance.run.summary import Summary

        real_time, state = wanted.real_time, self.state
        patience = _PATIENCE if state == "active" and not self.keep_trying else math.inf
        with wire.started():
            with wire.urgent(real_time.priority):
                node = AdmittanceNode(
                    _for_hardware(wanted.config or Config()),
                    model=self.model or None,
                    wrench=self.wrench or topics.WRIST_FT,
                    sign=-1 if self.flip_wrench else 1,
                    task_frame=self.task_frame,
                    allowed=self.allowed,
                    real_sensor=True,
                )
            if wanted.view:
                typer.echo(f"{node.get_fully_qualified_name()} is on the graph; Ctrl-C ends it")
            try:
                with claimed(node.address):
                    node.arming.play = wanted.play
                    node.come_up(state, asked, patience)
                    if state == "active" and not asked and (travel := node.arming.travel()):
                        permit(travel, allowed=self.allowed.travel, asked=asked)
                        node.arming.travel_once = True
                    if asked or node.robot is None or node.controller is None:
                        return Summary(asked=True), None
                    node.robot.see_sensor()
                    warn_of_payload(node.robot, node.controller.config)
                    return attend(
                        node.robot,
                        node.controller,
                        lambda board: node.run(
                            board,
                            asked,
                            state=state,
                            keep_trying=self.keep_trying,
                            seconds=wanted.seconds,
                            real_time=real_time,
                            tell=wanted.tell,
                        ),
                        record=wanted.record,
                        view=wanted.view,
                    )
            finally:
                node.close()


def _for_hardware(config: Config) -> Config:
    """With `output.mode` position, unless a file or a preset says otherwise: a position is held
    when its sender dies, a velocity is not.
    """
    given = "mode" in config.output.model_fields_set
    return config if given else config.replace({"output.mode": "position"})


def options(
    model: Annotated[
        str,
        typer.Option(
            help="An arm, say ur5e, or a URDF file; else /robot_description.", metavar="MODEL"
        ),
    ] = "",
    wrench: Annotated[
        str,
        typer.Option(
            help="Topic of the wrench; /netft/proc_probe is taken as compensated and given at the "
            "probe, all others as raw.",
            metavar="TOPIC",
        ),
    ] = "",
    flip_wrench: Annotated[
        bool, typer.Option("--flip-wrench", help="The sensor reports the reaction; turn it.")
    ] = False,
    task_frame: Annotated[
        str,
        typer.Option(
            help="A frame of /tf whose axes the law has, still or moving.",
            metavar="FRAME",
        ),
    ] = "",
    inactive: Annotated[
        bool, typer.Option("--inactive", help="Wait to be activated, do not move before.")
    ] = False,
    unconfigured: Annotated[
        bool, typer.Option("--unconfigured", help="Wait to be configured, too.")
    ] = False,
    guard: Annotated[
        bool,
        typer.Option(
            "--guard/--no-guard",
            help="With output.mode velocity: a second process that brakes the arm should this one "
            "die; without it, the arm goes on.",
        ),
    ] = True,
    keep_trying: Annotated[
        bool,
        typer.Option(
            "--keep-trying",
            help="Whatever stands against the start, try again each second: the arm may then begin "
            "to move with nobody there.",
        ),
    ] = False,
    allow_travel: AllowTravel = False,
    remote_reset: Annotated[
        bool,
        typer.Option(
            "--remote-reset",
            help="Let anybody on the graph clear a stop, by ~/reset or by activating again.",
        ),
    ] = False,
    allow_loosening: AllowLoosening = False,
    allow_outside: AllowOutside = False,
) -> Ros2Run:
    """What only an arm on a ROS 2 graph can be asked for."""
    from ur_admittance.robots import sensing

    topic = sensing("ros2", wrench or "robot").get("wrench", "")
    state = "unconfigured" if unconfigured else "inactive" if inactive else "active"
    allowed = Allowed(allow_travel, remote_reset, allow_loosening, not guard, allow_outside)
    return Ros2Run(model, topic, flip_wrench, state, keep_trying, allowed, task_frame)
