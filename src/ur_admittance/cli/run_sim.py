"""`run --robot sim`: a simulated arm, in a time of its own or in that of the clock."""

from __future__ import annotations

from collections.abc import Callable
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
from ur_admittance.cli.attend import RunRequest, RunResult, attend, to_and_fro
from ur_admittance.cli.common import FORCE, warn
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.cli.wrench import Average, SensorPose, Wrench, sensing
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    from ur_admittance.robots.base import Robot


@dataclass(frozen=True)
class SimRun:
    """See `options`.

    Attributes:
        permit: acts, and whether they are permitted.
    """

    push: tuple[float, float, float] | None
    pace: float | None
    permit: frozenset[str]
    wrench: dict[str, Any]

    @property
    def own_time(self) -> bool:
        """Whether the arm lives in a time of its own, in which it is never late."""
        return self.pace is not None

    def drive(self, request: RunRequest) -> RunResult:
        from ur_admittance import robots
        from ur_admittance.robots.sim import following
        from ur_admittance.run import Run

        config = request.given_config
        options: dict[str, Any] = {"config": config, **following(config.arm), **self.wrench}
        if self.own_time:
            options["realtime"] = False
        if self.push is not None:
            options["hand"] = to_and_fro(self.push)
        run = Run(
            robots.make(request.robot, **options),
            config,
            record=request.record,
            replace=True,
            assent=request.assent(self.permit),
            real_time=None if self.own_time else request.real_time,
            tell=warn,
        )
        return attend(request, run, each=self._paced if self.pace else None)

    def _paced(self, arm: Robot, asked: list[int]) -> Callable[..., None]:
        from ur_admittance.realtime import Pace

        return Pace(arm.clock, self.pace or 1.0, asked)


def options(
    context: typer.Context,
    push: Annotated[
        tuple[float, float, float] | None,
        typer.Option(
            help="Push the tool with this force [N], x y z of the base, 1 s forth, 1 s rest, 1 s "
            "back, 1 s rest, and so on.",
            metavar=FORCE,
        ),
    ] = None,
    pace: Annotated[
        float | None,
        typer.Option(
            help="How many times as fast as the clock its own time passes; 0: as fast as it can. "
            "In its own time it is never late.  [default: 1]"
        ),
    ] = None,
    real_time: Annotated[
        bool,
        typer.Option(
            "--real-time",
            help="Keep the clock's time, and be late; --priority, --cpu, --awake, --spin and "
            "--strict are for that alone.",
        ),
    ] = False,
    wrench: Wrench = "robot",
    sensor_pose: SensorPose = None,
    average: Average = False,
    allow_travel: AllowTravel = False,
    allow_force: AllowForce = False,
    allow_loosening: AllowLoosening = False,
    allow_outside: AllowOutside = False,
) -> SimRun:
    """What only a simulated arm can be asked for."""
    source = sensing(context, "sim", wrench, sensor_pose, average)
    if "sensor" in source:
        why = "is for the simulated sensor; a real one has its own hand, and the clock's time"
        refuse_useless(context, why, "push", "pace")
        real_time = True
    if pace is not None and not pace >= 0:
        raise ConfigError(f"--pace: must be 0 or more, got {pace}")
    if real_time and pace is not None:
        raise ConfigError("--real-time: an arm in real time has the clock's pace, leave --pace out")
    pace = None if real_time else 1.0 if pace is None else pace
    permit = permits(
        travel=allow_travel, force=allow_force, loosen=allow_loosening, outside=allow_outside
    )
    return SimRun(push, pace, permit, source)
