"""The arm of a verb that looks at it or leads it by itself, without a controller: `init`,
`calibrate`, `identify`, `tare`, `doctor`. What differs by the kind of robot stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ur_admittance.cli.kinds import kind_of

if TYPE_CHECKING:
    from ur_admittance.config import Config
    from ur_admittance.robots.base import Robot
    from ur_admittance.run import Run
    from ur_admittance.run.assent import Assent


def arm_at(
    url: str, config: Config, *, watch: bool = False, real_time: bool = False, **more: Any
) -> Robot:
    """The robot at `url`, not yet connected.

    Args:
        config: what is compared with the robot's, or what a simulated arm carries.
        watch: only to look at it: nothing is started on it, and commands are refused.
        real_time: a simulated arm keeps the clock's time, as a person and a real sensor do; else
            it has a time of its own, and is never late.
        more: what only a robot of that kind takes, such as `cli.wrench.sensing` gives.
    """
    from ur_admittance import robots

    kind = kind_of(url)
    options = dict[str, Any](config=config)
    if kind == "sim":
        options["realtime"] = real_time or "sensor" in more
    else:
        options["watch"] = watch
    return robots.make(url, **options, **more)


def to_lead(url: str, config: Config) -> Config:
    """The configuration to lead that arm with: over ROS 2 by positions, held should this process
    die.
    """
    return config.replace({"output.mode": "position"}) if kind_of(url) == "ros2" else config


def run_to_lead(url: str, config: Config, assent: Assent, **options: Any) -> Run:
    """A run that leads that arm without a controller: punctually where it does not wait for us,
    since our program on a UR controller ends 20 ms after our last word. `options` are `arm_at`'s.
    """
    from ur_admittance.realtime import RealTime
    from ur_admittance.run import Run

    config = to_lead(url, config)
    arm = arm_at(url, config, **options)
    wishes = RealTime() if kind_of(url) == "rtde" else None
    return Run(arm, config, assent=assent, real_time=wishes)
