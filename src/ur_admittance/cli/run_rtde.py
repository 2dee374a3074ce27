"""`run --robot rtde://HOST`: a UR controller without ROS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.assent import (
    AllowForce,
    AllowLoosening,
    AllowOutside,
    AllowTravel,
    permits,
)
from ur_admittance.cli.attend import RunRequest, RunResult, attend
from ur_admittance.cli.common import POSE, warn
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.cli.wrench import Average, SensorPose, Wrench, sensing
from ur_admittance.config import Config

if TYPE_CHECKING:
    from ur_admittance.robots.rtde.robot import RtdeRobot

Pose = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class RtdeRun:
    """See `options`."""

    model: str
    serial: str
    calibration: str
    tcp: Pose | None
    wrench: dict[str, Any]
    registers: int
    urcap: int | None
    zero: bool
    permit: frozenset[str]
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
            urcap=self.urcap,
            watch=watch,
            tell=lambda line: typer.echo(line, err=True),
            **self.wrench,
        )

    def drive(self, request: RunRequest) -> RunResult:
        from ur_admittance.run import Run

        config = request.given_config
        robot = self.robot(request.robot, config)
        run = Run(
            robot,
            config,
            record=request.record,
            replace=True,
            assent=request.assent(self.permit),
            real_time=request.real_time,
            tell=warn,
        )

        def connected() -> None:
            if request.view:
                typer.echo(f"{robot.name}: {robot.found.words}", err=True)
            if self.zero:
                robot.zero()

        return attend(request, run, connected=connected)


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
    wrench: Wrench = "robot",
    sensor_pose: SensorPose = None,
    average: Average = False,
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
    replace_program: Annotated[
        bool,
        typer.Option(
            "--replace-program", help="Throw out the program that plays on the robot, if one does."
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
    allow_force: AllowForce = False,
    allow_loosening: AllowLoosening = False,
    allow_outside: AllowOutside = False,
) -> RtdeRun:
    """What only a UR controller can be asked for."""
    source = sensing(context, "rtde", wrench, sensor_pose, average)
    if not urcap:
        why = "does nothing where the program is sent in remote control; add --urcap"
        refuse_useless(context, why, "urcap_port")
    permit = permits(
        travel=allow_travel,
        force=allow_force,
        recover=reset,
        replace=replace_program,
        loosen=allow_loosening,
        outside=allow_outside,
    )
    return RtdeRun(
        model,
        serial,
        calibration,
        tcp,
        source,
        registers,
        urcap_port if urcap else None,
        zero,
        permit,
    )
