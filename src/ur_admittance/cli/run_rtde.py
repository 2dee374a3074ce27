"""`run --robot rtde://HOST`: a UR controller without ROS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.attend import Wanted, attend, claimed, moved, warn_of_payload
from ur_admittance.cli.common import POSE
from ur_admittance.cli.travel import AllowLoosening, AllowOutside, AllowTravel, may_move, permit
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.config import Config
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from ur_admittance.blackboard import Blackboard
    from ur_admittance.robots.base import State
    from ur_admittance.robots.rtde.robot import RtdeRobot
    from ur_admittance.run.summary import Summary
    from ur_admittance.telemetry.recorder import Recorded

Pose = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class RtdeRun:
    """See `options`."""

    model: str
    serial: str
    calibration: str
    tcp: Pose | None
    wrench: str
    sensor_pose: Pose | None
    average: bool
    registers: int
    urcap: int | None
    reset: bool
    zero: bool
    allow_travel: bool
    allow_loosening: bool
    allow_outside: bool
    own_time = False

    def robot(self, url: str, config: Config, *, watch: bool = False) -> RtdeRobot:
        """The robot, not yet connected."""
        from ur_admittance.robots.rtde.address import address_of
        from ur_admittance.robots.rtde.inspection import Expected
        from ur_admittance.robots.rtde.robot import RtdeRobot

        host, ports = address_of(url)
        return RtdeRobot(
            host,
            ports=ports,
            config=config,
            expected=Expected(
                self.model, self.serial, self.calibration, self.tcp or config.tool.point
            ),
            registers=self.registers,
            compensated=self.wrench == "compensated",
            sensor=self._sensor(),
            urcap=self.urcap,
            watch=watch,
            permit=(lambda words: True) if self.reset else may_move,
            tell=lambda line: typer.echo(line, err=True),
        )

    def drive(self, wanted: Wanted) -> tuple[Summary, Recorded | None]:
        from ur_admittance.controller import Controller
        from ur_admittance.motion.straight import travel_of
        from ur_admittance.robots.base import watched
        from ur_admittance.run import loop

        given = wanted.given_config
        robot = self.robot(wanted.robot, given)
        with claimed(robot.name), robot as arm:
            if wanted.view:
                typer.echo(f"{arm.name}: {arm.found.words}", err=True)
            warn_of_payload(arm, given)
            if self.zero:
                arm.zero()
            travel = travel_of(arm.model, given, arm.look().q)
            config = watched(wanted.start_of(travel), real=arm.real_sensor)
            controller = Controller(arm.model, config.replace({"control_rate": arm.rate}))
            lead = wanted.lead(controller, travel)
            if travel:
                permit(travel, allowed=self.allow_travel)

            def each(state: State, out: np.record) -> None:
                if lead is not None:
                    lead()

            def drive(board: Blackboard) -> Summary:
                board.tighten_only = not self.allow_loosening
                summary = loop.run(
                    arm,
                    controller,
                    seconds=wanted.seconds,
                    board=board,
                    real_time=wanted.real_time,
                    each=each if lead else None,
                    tell=wanted.tell,
                    begun=wanted.begun(arm.name),
                    outside=self.allow_outside,
                )
                return moved(summary)

            return attend(arm, controller, drive, record=wanted.record, view=wanted.view)

    def _sensor(self) -> Any:
        if not self.wrench.startswith("netft://"):
            return None
        from ur_admittance.config.validate import pose_of
        from ur_admittance.sensors.netft import NetFt

        X_ES = None if self.sensor_pose is None else pose_of(self.sensor_pose)
        return NetFt(self.wrench.removeprefix("netft://"), X_ES=X_ES, average=self.average)


def options(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Option(
            help="The arm it must be, say ur5e; also where it cannot be read.", metavar="MODEL"
        ),
    ] = "",
    serial: Annotated[
        str, typer.Option(help="The serial number it must have.", metavar="NUMBER")
    ] = "",
    calibration: Annotated[
        str,
        typer.Option(
            help="The kinematic calibration it must have, as a refusal prints it.", metavar="SUM"
        ),
    ] = "",
    tcp: Annotated[
        Pose | None,
        typer.Option(
            help="The TCP that must be set: x y z [m], rotation vector [rad].", metavar=POSE
        ),
    ] = None,
    wrench: Annotated[
        str,
        typer.Option(
            help="robot: its own sensor, raw where there is one; compensated: less its payload; "
            "netft://HOST: an ATI Net F/T, or an OnRobot HEX.",
            metavar="SOURCE",
        ),
    ] = "robot",
    sensor_pose: Annotated[
        Pose | None,
        typer.Option(
            help="Where that sensor sits: x y z [m], rotation vector [rad] in the flange; else "
            "at the flange.",
            metavar=POSE,
        ),
    ] = None,
    average: Annotated[
        bool,
        typer.Option(
            "--average", help="Of its samples between two ticks, the mean; else the newest."
        ),
    ] = False,
    registers: Annotated[
        int,
        typer.Option(help="First of six general purpose registers of each kind, 0 to 42."),
    ] = 24,
    urcap: Annotated[
        bool,
        typer.Option(
            "--urcap",
            help="Wait for the External Control program on the pendant, instead of sending ours "
            "in remote control.",
        ),
    ] = False,
    urcap_port: Annotated[
        int, typer.Option(help="TCP port on which External Control asks.")
    ] = 50002,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset",
            help="You have looked at the arm: start although the last program on it had to end by "
            "itself. Else this asks on the terminal.",
        ),
    ] = False,
    zero: Annotated[
        bool,
        typer.Option(
            "--zero",
            help="Let the robot zero its sensor first, at rest and untouched; with --wrench "
            "compensated.",
        ),
    ] = False,
    allow_travel: AllowTravel = False,
    allow_loosening: AllowLoosening = False,
    allow_outside: AllowOutside = False,
) -> RtdeRun:
    """What only a UR controller can be asked for."""
    if wrench not in ("robot", "compensated") and not wrench.startswith("netft://"):
        raise ConfigError(
            f"--wrench: must be robot, compensated or netft://HOST, got {wrench!r:.100}"
        )
    if not wrench.startswith("netft://"):
        why = "is for --wrench netft://HOST; the robot knows its own sensor, leave it out"
        refuse_useless(context, why, "sensor_pose", "average")
    if not urcap:
        why = "does nothing where the program is sent in remote control; add --urcap"
        refuse_useless(context, why, "urcap_port")
    return RtdeRun(
        model,
        serial,
        calibration,
        tcp,
        wrench,
        sensor_pose,
        average,
        registers,
        urcap_port if urcap else None,
        reset,
        zero,
        allow_travel,
        allow_loosening,
        allow_outside,
    )
