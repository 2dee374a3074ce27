"""Where states come from and commands go: one protocol, and the robots that keep it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.robots.base import Robot, State
from ur_admittance.transforms import did_you_mean

__all__ = ["Robot", "State", "connect"]

_SCHEMES = ("sim", "rtde", "ros2")
_NOT_YET = {"rtde": "a real arm over RTDE"}


def connect(url: str, **options: Any) -> Robot:
    """The robot at `url`, connected: its next `wait()` gives a state.

    Args:
        url: "sim" (a UR5e), "sim:ur10e" and the like, or "ros2" (the arm on a ROS 2 graph).
        options: what the robot of that kind takes, see `SimRobot` and `Ros2Robot`.
    """
    if not isinstance(url, str):
        raise RobotError(f"robot: the address must be text such as 'sim:ur5e', got {url!r:.100}")
    scheme, _, rest = url.strip().partition(":")
    scheme = scheme.lower()
    if scheme in _NOT_YET:
        raise RobotError(
            f"robot {url!r}: this version has no backend for {_NOT_YET[scheme]} yet; "
            "there are 'sim', 'sim:' and the name of an arm, and 'ros2'"
        )
    if scheme == "ros2":
        import_module("ur_admittance.ros2.wire")  # says it clearly if ROS is missing
        from ur_admittance.robots.ros2 import Ros2Robot

        robot = Ros2Robot(**options)
        robot.connect()
        return robot
    if scheme != "sim":
        arms = ", ".join(f"sim:{name}" for name in RobotModel.arms())
        raise RobotError(
            f"robot {url!r}: unknown kind {scheme!r}; there are sim, {arms}, ros2."
            f"{did_you_mean(scheme, _SCHEMES)}"
        )
    name = rest.strip("/").lower() or "ur5e"
    if name not in RobotModel.arms():
        raise RobotError(
            f"robot {url!r}: unknown arm {name!r}; there are {', '.join(RobotModel.arms())}."
            f"{did_you_mean(name, RobotModel.arms())}"
        )
    from ur_admittance.robots.sim import SimRobot

    robot = SimRobot(name, **options)
    robot.connect()
    return robot
