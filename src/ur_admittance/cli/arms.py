"""The arm of a verb that looks at it or leads it by itself, without a controller: `init`,
`calibrate`, `identify`, `tare`, `doctor`. What differs by the kind of robot stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ur_admittance.cli.kinds import kind_of
from ur_admittance.cli.travel import may_move

if TYPE_CHECKING:
    from ur_admittance.config import Config
    from ur_admittance.robots.base import Robot


def arm_at(
    url: str, config: Config, *, watch: bool = False, real_time: bool = False, **more: Any
) -> Robot:
    """The robot at `url`, not yet connected.

    Args:
        config: what is compared with the robot's, or what a simulated arm carries.
        watch: only to look at it: nothing is started on it, and commands are refused.
        real_time: a simulated arm keeps the clock's time, as a person does; else it has a time of
            its own, and is never late.
        more: what only a robot of that kind takes.
    """
    from ur_admittance import robots

    kind = kind_of(url)
    options = dict[str, Any](config=config)
    if kind == "sim":
        options["realtime"] = real_time
    else:
        options["watch"] = watch
    if kind == "rtde":  # without a program, its last one need not worry anybody
        options["permit"] = (lambda words: True) if watch else may_move
    return robots.make(url, **options, **more)


def to_lead(url: str, config: Config) -> Config:
    """The configuration to lead that arm with: over ROS 2 by positions, held should this process
    die.
    """
    return config.replace({"output.mode": "position"}) if kind_of(url) == "ros2" else config


@contextmanager
def leading(url: str, arm: Robot) -> Iterator[dict[str, Any]]:
    """Lead an arm while this lasts, punctually where it does not wait for us: our program on a UR
    controller ends 20 ms after our last word. Gives `mode` and `trouble`, see `bring`.
    """
    from ur_admittance.realtime import RealTime, prepare, restore

    kind = kind_of(url)
    arm.keep_frame()
    if kind == "rtde":
        prepare(RealTime())
    try:
        yield {"mode": "position" if kind == "ros2" else "velocity", "trouble": arm.trouble}
    finally:
        restore()
