"""Where states come from and commands go: one protocol, and the robots that keep it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ur_admittance import sensors
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.robots.base import Robot, State, refuse_two_places
from ur_admittance.sensors import WrenchSource

__all__ = ["Robot", "State", "connect", "make"]

_SCHEMES = ("sim", "rtde", "ros2")


def connect(url: str, **options: Any) -> Robot:
    """The robot at `url`, connected: its next `wait()` gives a state. Arguments as in `make`."""
    robot = make(url, **options)
    robot.connect()
    return robot


def make(url: str, *, wrench: str | WrenchSource = "robot", **options: Any) -> Robot:
    """The robot at `url`, not yet connected: it has a name, and nobody has asked it anything.

    Args:
        url: "sim" (a UR5e), "sim:ur10e" and the like, "rtde://192.168.1.10" (a UR controller), or
            "ros2" (the arm on a ROS 2 graph).
        wrench: "robot" (its own sensor, raw where there is one), "compensated" (less the payload
            that a UR controller knows), a source or its address, see `sensors.make`; over ROS 2 a
            topic.
        options: what the robot of that kind takes; a `config` lets a simulated arm carry the tool
            that it describes. See `SimRobot`, `RtdeRobot` and `Ros2Robot`.
    """
    if not isinstance(url, str):
        raise RobotError(f"robot: the address must be text such as 'sim:ur5e', got {url!r:.100}")
    scheme, _, rest = url.strip().partition(":")
    scheme = scheme.lower()
    if scheme in _SCHEMES:
        options |= sensing(scheme, wrench)
    if scheme == "rtde":
        from ur_admittance.robots.rtde.address import address_of
        from ur_admittance.robots.rtde.robot import RtdeRobot

        host, ports = address_of(url)
        return RtdeRobot(host, **{"ports": ports, **options})
    if scheme == "ros2":
        import_module("ur_admittance.robots.ros2.wire")  # says it clearly if ROS is missing
        from ur_admittance.robots.ros2.robot import Ros2Robot

        return Ros2Robot(**options)
    if scheme != "sim":
        arms = ", ".join(f"sim:{name}" for name in RobotModel.arms())
        raise RobotError(
            f"robot {url!r}: unknown kind {scheme!r}; there are sim, {arms}, rtde://ADDRESS, ros2"
            f"{suggest(scheme, _SCHEMES)}"
        )
    name = rest.strip("/").lower() or "ur5e"
    if name not in RobotModel.arms():
        raise RobotError(
            f"robot {url!r}: unknown arm {name!r}; there are {', '.join(RobotModel.arms())}"
            f"{suggest(name, RobotModel.arms())}"
        )
    from ur_admittance.robots.sim import SimRobot

    config = options.pop("config", None)
    if config is not None:
        from ur_admittance.robots.sim.carried import carried

        refuse_two_places(options.get("sensor"), config)
        options = {**carried(config, name), **options}
    return SimRobot(**{"model": name, **options})


def sensing(kind: str, wrench: str | WrenchSource) -> dict[str, Any]:
    """The arguments by which a robot of a kind, 'sim', 'rtde' or 'ros2', takes that wrench.

    Raises:
        ConfigError: it cannot.
    """
    source = isinstance(wrench, WrenchSource) or "://" in wrench
    if kind == "ros2" and (source or wrench == "compensated"):
        raise ConfigError(
            f"wrench: on a ROS 2 graph the wrench is a topic, got "
            f"{wrench.name if isinstance(wrench, WrenchSource) else wrench!r:.100}; let the "
            "sensor's own driver publish it and give its topic, such as /netft/raw_sensor, or let "
            "ur-admittance wrench-ros2 compensate that one and give /netft/proc_probe"
        )
    if isinstance(wrench, WrenchSource):
        return {"sensor": wrench}
    if source:
        return {"sensor": sensors.make(wrench)}
    if wrench == "robot":
        return {}
    if kind == "ros2":
        return {"wrench": wrench}
    if kind == "rtde" and wrench == "compensated":
        return {"compensated": True}
    kinds = "robot" if kind == "sim" else "robot, compensated"
    addresses = ", ".join(f"{scheme}://HOST" for scheme in sensors.SOURCES)
    raise ConfigError(f"wrench: must be {kinds} or {addresses}, got {wrench!r:.100}")
