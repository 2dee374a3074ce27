"""`run --robot sim`: a simulated arm, in a time of its own or in that of the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.attend import Wanted, attend, claimed, moved, to_and_fro
from ur_admittance.cli.common import FORCE
from ur_admittance.cli.travel import AllowLoosening, AllowOutside, AllowTravel, permit
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from ur_admittance.blackboard import Blackboard
    from ur_admittance.robots.base import State
    from ur_admittance.run.summary import Summary
    from ur_admittance.telemetry.recorder import Recorded


@dataclass(frozen=True)
class SimRun:
    """See `options`."""

    push: tuple[float, float, float] | None
    pace: float | None
    allow_travel: bool
    allow_loosening: bool
    allow_outside: bool

    @property
    def own_time(self) -> bool:
        """Whether the arm lives in a time of its own, in which it is never late."""
        return self.pace is not None

    def drive(self, wanted: Wanted) -> tuple[Summary, Recorded | None]:
        from ur_admittance import robots
        from ur_admittance.controller import Controller
        from ur_admittance.motion.straight import travel_of
        from ur_admittance.realtime import Pace
        from ur_admittance.robots.base import watched
        from ur_admittance.robots.sim import following
        from ur_admittance.run import loop
        from ur_admittance.run.signals import signals

        config, pace = wanted.given_config, self.pace
        options: dict[str, Any] = {"config": config, **following(config.arm)}
        if pace is not None:
            options["realtime"] = False
        if self.push is not None:
            options["hand"] = to_and_fro(self.push)
        robot = robots.make(wanted.robot, **options)
        with claimed(robot.name), robot as arm:
            if travel := travel_of(arm.model, config, arm.wait().q):
                permit(travel, allowed=self.allow_travel)
            config = watched(wanted.start_of(travel), real=arm.real_sensor)
            controller = Controller(arm.model, config)

            def drive(board: Blackboard) -> Summary:
                board.tighten_only = not self.allow_loosening
                with signals() as asked:
                    hooks: list[Callable[..., None]] = []
                    if lead := wanted.lead(controller, travel):
                        hooks.append(lambda state, out: lead())
                    if pace:
                        hooks.append(Pace(arm.clock, pace, asked))

                    def each(state: State, out: np.record) -> None:
                        for hook in hooks:
                            hook(state, out)

                    summary = loop.run(
                        arm,
                        controller,
                        seconds=wanted.seconds,
                        board=board,
                        real_time=None if self.own_time else wanted.real_time,
                        each=each if hooks else None,
                        tell=wanted.tell,
                        begun=wanted.begun(arm.name),
                        outside=self.allow_outside,
                    )
                return moved(summary)

            return attend(arm, controller, drive, record=wanted.record, view=wanted.view)


def options(
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
    allow_travel: AllowTravel = False,
    allow_loosening: AllowLoosening = False,
    allow_outside: AllowOutside = False,
) -> SimRun:
    """What only a simulated arm can be asked for."""
    if pace is not None and not pace >= 0:
        raise ConfigError(f"--pace: must be 0 or more, got {pace}")
    if real_time and pace is not None:
        raise ConfigError("--real-time: an arm in real time has the clock's pace, leave --pace out")
    pace = None if real_time else 1.0 if pace is None else pace
    return SimRun(push, pace, allow_travel, allow_loosening, allow_outside)
