"""`run --robot ros2`: the admittance node, with blackboard, recorder and live line around it."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated

import typer

from ur_admittance.cli.assent import (
    AllowForce,
    AllowLoosening,
    AllowOutside,
    AllowTravel,
    permits,
)
from ur_admittance.cli.attend import RunRequest, RunResult
from ur_admittance.cli.common import warn
from ur_admittance.config import Config
from ur_admittance.errors import RobotError

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
    permit: frozenset[str]
    task_frame: str
    own_time = False

    def drive(self, request: RunRequest) -> RunResult:
        """Be a node on the graph until Ctrl-C or SIGTERM; another one, should that be deaf."""
        from ur_admittance.robots.ros2.hearing import Deaf
        from ur_admittance.run.signals import signals

        with signals() as asked:
            while True:
                try:
                    return self._drive(request, asked)
                except RobotError as error:
                    if not isinstance(error.__cause__ or error, Deaf):  # it has said so
                        raise

    def _drive(self, request: RunRequest, asked: list[int]) -> RunResult:
        from ur_admittance.live import shown
        from ur_admittance.robots.ros2 import topics, wire
        from ur_admittance.ros2.node import AdmittanceNode
        from ur_admittance.run import Run
        from ur_admittance.run.claim import claimed
        from ur_admittance.run.summary import Summary

        real_time, state = request.real_time, self.state
        patience = _PATIENCE if state == "active" and not self.keep_trying else math.inf
        with wire.started():
            with wire.urgent(real_time.priority):
                node = AdmittanceNode(
                    _for_hardware(request.config or Config()),
                    model=self.model or None,
                    wrench=self.wrench or topics.WRIST_FT,
                    sign=-1 if self.flip_wrench else 1,
                    task_frame=self.task_frame,
                    permit=self.permit,
                    real_sensor=True,
                )
            if request.view:
                typer.echo(f"{node.get_fully_qualified_name()} is on the graph; Ctrl-C ends it")
            try:
                with claimed(node.address):
                    node.come_up(state, asked, patience)
                    if node.robot is None or node.controller is None or asked:
                        return RunResult(Summary(asked=True))
                    if state == "active":
                        node.arming.agree(request.assent(self.permit, asked), request.played)
                    node.robot.see_sensor()
                    run = Run(
                        node.robot,
                        controller=node.controller,
                        record=request.record,
                        replace=True,
                        tell=warn,
                    )
                    name = node.robot.name
                    with run:
                        run.begin()
                        view = shown(name, request.view) if request.view else nullcontext()
                        with view:
                            node.run(
                                run,
                                asked,
                                state=state,
                                keep_trying=self.keep_trying,
                                seconds=request.seconds,
                                real_time=real_time,
                            )
                    ended = node.arming.outcome or "it was ended before"
                    return RunResult(run.summary, run.recorded, ended if request.played else "")
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
    allow_force: AllowForce = False,
    allow_streams: Annotated[
        bool,
        typer.Option(
            "--allow-streams",
            help="Let anybody on the graph stream force, axes and gains while the arm gives way.",
        ),
    ] = False,
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
    permit = permits(
        travel=allow_travel,
        force=allow_force,
        stream=allow_streams,
        clear=remote_reset,
        loosen=allow_loosening,
        zero=allow_loosening,
        unguarded=not guard,
        outside=allow_outside,
    )
    return Ros2Run(model, topic, flip_wrench, state, keep_trying, permit, task_frame)
