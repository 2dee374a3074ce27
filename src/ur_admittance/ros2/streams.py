"""What a policy may stream over ROS: force, axes of the law and its gains; see `streaming`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, QuaternionStamped, WrenchStamped
from std_msgs.msg import Float64MultiArray

from ur_admittance.config.validate import pose_of, transform
from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.ros2.alone import Alone
from ur_admittance.ros2.frames import Frames, turned

_KINDS = {
    "orientation": (topics.TASK_ORIENTATION, QuaternionStamped),
    "target": (topics.TARGET_WRENCH, WrenchStamped),
    "mass": (topics.MASS, Float64MultiArray),
    "damping": (topics.DAMPING, Float64MultiArray),
    "stiffness": (topics.STIFFNESS, Float64MultiArray),
}


class Streams:
    """An inbox for each; what has arrived since the last tick is taken over together."""

    def __init__(
        self,
        io: Any,
        resolve: Callable[[str], str],
        warn: Callable[[str], None],
        frames: Frames,
        *,
        permitted: bool,
    ) -> None:
        """
        Args:
            io: a node that no executor spins.
            resolve: makes the real name of a topic.
            warn: told why a message was refused.
            frames: in which they may be given.
            permitted: whether anybody may stream at all.
        """
        self._permitted = permitted
        self._warn, self._alone, self._frames, self._task = warn, Alone(), frames, frames.task
        self._names = {key: resolve(topic) for key, (topic, _) in _KINDS.items()}
        self._inboxes = {
            key: wire.Inbox(io, kind, self._names[key]) for key, (_, kind) in _KINDS.items()
        }

    def hand_to(self, controller: Controller | None) -> None:
        """Stream what has arrived; the newest counts. Without a controller it is refused."""
        values: dict[str, np.ndarray] = {}
        if self._task and controller is not None:
            try:
                values["orientation"] = turned(self._frames.axes(self._task, controller))
            except RobotError as error:
                self._warn(f"--task-frame: {error}; its last axes are held")
        for key, inbox in self._inboxes.items():
            if (message := inbox.newest()) is None:
                continue
            try:
                self._alone.admit(key, inbox.sender)
                if controller is None:
                    raise RobotError("the node is not active")
                if not self._permitted:
                    raise RobotError("not permitted; start this node with --allow-streams")
                values[key] = self._numbers(message, controller, values)
            except AdmittanceError as error:
                self._warn(f"{self._names[key]}: refused: {error}")
        if not values or controller is None:
            return
        try:
            controller.stream(**values)
        except AdmittanceError as error:
            self._warn(f"{', '.join(self._names[key] for key in values)}: refused: {error}")

    def _numbers(
        self, message: Any, controller: Controller, values: dict[str, np.ndarray]
    ) -> np.ndarray:
        """Six numbers, or a rotation vector, in the axes that the law has with `values`."""
        if isinstance(message, Float64MultiArray):
            return np.array(message.data, float)
        frame = message.header.frame_id
        if isinstance(message, QuaternionStamped):
            if self._task:
                raise RobotError(f"the axes of the law are those of {self._task} (--task-frame)")
            if not frame:
                raise RobotError("frame_id is empty; it must name the frame that they are given in")
            R = wire.transform_of(Pose(orientation=message.quaternion))[:3, :3]
            return turned(self._frames.axes(frame, controller) @ R)
        F = np.array(wire.six_of_wrench(message.wrench))
        if frame:
            task = values.get("orientation")
            X = (
                transform(wxyz=controller.state["wxyz_task"][0])
                if task is None
                else pose_of((0.0, 0.0, 0.0, *task))
            )
            R = X[:3, :3].T @ self._frames.axes(frame, controller)
            F[LINEAR], F[ANGULAR] = R @ F[LINEAR], R @ F[ANGULAR]
        return F
