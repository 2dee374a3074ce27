"""Whether the arm on the graph is still the one that the node was first configured for."""

from __future__ import annotations

import time

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller.packing import pack
from ur_admittance.errors import ModelError
from ur_admittance.model import RobotModel
from ur_admittance.robots.ros2 import wire
from ur_admittance.robots.ros2.robot import Ros2Robot

_LATER = 1.0  # s for the description of a driver that is new
_ELSEWHERE = 0.02  # m: more than a calibration moves the tool, less than another arm does
_ANEW = "start this node anew for it"


class Identity:
    """Compares descriptions, calibration and all, at every activation and reset."""

    def __init__(self, description: wire.Description) -> None:
        self._description = description
        self._first, self._sender = "", b""

    def problem(self, robot: Ros2Robot, config: Config) -> str:
        """Why it is another arm, in words; "" if it is not, or nothing says so."""
        config = config.replace({"ft_frame": config.tip})  # the sensor is looked at elsewhere
        text = self._newest(robot)
        if not text or text == self._first:
            return ""
        try:
            found = wire.model_from(text, config)
        except ModelError as error:
            if not self._first:  # a model was given, and has frames that the description lacks
                return ""
            return f"the robot description has changed, and is of no use: {error}; {_ANEW}"
        if not self._first:
            if problem := _elsewhere(found, robot.model):
                return problem
            self._first = text
            return ""
        if pack(config, found) != pack(config, wire.model_from(self._first, config)):
            return (
                "the arm is not the one this node was first configured for: its description has "
                f"other kinematics or limits (now {found.name}); {_ANEW}"
            )
        return ""

    def _newest(self, robot: Ros2Robot) -> str:
        """The newest description; where joint states have a new sender, one is waited for."""
        count, sender = self._description.count, robot.joints.sender
        text = self._description.look()
        if self._sender and sender != self._sender:
            deadline = time.monotonic() + _LATER
            while self._description.count == count and time.monotonic() < deadline:
                robot.look(0.02)
                text = self._description.look()
        self._sender = sender
        return text


def _elsewhere(described: RobotModel, given: RobotModel) -> str:
    """Where a description and a model that was given are plainly not the same arm."""
    ways = [model.fk(given.home)[:3, 3] for model in (described, given)]
    apart = float(np.linalg.norm(ways[0] - ways[1]))
    if apart <= _ELSEWHERE:
        return ""
    return (
        f"the robot description ({described.name}) is not the arm that was given ({given.name}): "
        f"at home its tool is {1e3 * apart:.0f} mm elsewhere; make them agree"
    )
