"""What a policy may stream over ROS: force, axes of the law and its gains; see `streaming`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, QuaternionStamped, WrenchStamped
from std_msgs.msg import Float64MultiArray

from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.ros2.alone import Alone
from ur_admittance.validate import quaternion_of

_KINDS = {
    "target": (topics.TARGET_WRENCH, WrenchStamped),
    "orientation": (topics.TASK_ORIENTATION, QuaternionStamped),
    "mass": (topics.MASS, Float64MultiArray),
    "damping": (topics.DAMPING, Float64MultiArray),
    "stiffness": (topics.STIFFNESS, Float64MultiArray),
}


class Streams:
    """An inbox for each; what has arrived since the last tick is taken over together."""

    def __init__(self, io: Any, resolve: Callable[[str], str], warn: Callable[[str], None]) -> None:
        """
        Args:
            io: a node that no executor spins.
            resolve: makes the real name of a topic.
            warn: told why a message was refused.
        """
        self._warn, self._alone = warn, Alone()
        self._names = {key: resolve(topic) for key, (topic, _) in _KINDS.items()}
        self._inboxes = {
            key: wire.Inbox(io, kind, self._names[key]) for key, (_, kind) in _KINDS.items()
        }

    def hand_to(self, controller: Controller | None) -> None:
        """Stream what has arrived; the newest counts. Without a controller it is refused."""
        values = {}
        for key, inbox in self._inboxes.items():
            if (message := inbox.newest()) is None:
                continue
            try:
                self._alone.admit(key, inbox.sender)
                if controller is None:
                    raise RobotError("the node is not active")
                values[key] = _numbers(message, controller)
            except AdmittanceError as error:
                self._warn(f"{self._names[key]}: refused: {error}")
        if not values or controller is None:
            return
        try:
            controller.stream(**values)
        except AdmittanceError as error:
            self._warn(f"{', '.join(self._names[key] for key in values)}: refused: {error}")


def _numbers(message: Any, controller: Controller) -> np.ndarray:
    """Six numbers, or a rotation vector."""
    if isinstance(message, Float64MultiArray):
        return np.array(message.data, float)
    config = controller.config
    frame = config.base_link if config.admittance.frame == "base" else config.tip
    if message.header.frame_id != frame:
        raise RobotError(
            f"frame_id is {message.header.frame_id!r}, it must be {frame!r}, as admittance.frame "
            f"is {config.admittance.frame}"
        )
    if isinstance(message, WrenchStamped):
        return np.array(wire.six_of_wrench(message.wrench))
    w, *xyz = quaternion_of(wire.transform_of(Pose(orientation=message.quaternion)))
    size = math.hypot(*xyz)
    return np.array(xyz) * (2.0 * math.atan2(size, w) / size if size > 0.0 else 0.0)
