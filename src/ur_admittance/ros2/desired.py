"""The desired pose and twist that a planner may send, checked, and handed to the controller."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped

from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.ros2.alone import Alone

_LASTING = 0.1  # s, that a twist goes with the poses that follow it


class Desired:
    """Two inboxes: a pose sets the goal; a twist moves it, or goes with the poses that come."""

    def __init__(
        self, io: Any, resolve: Callable[[str], str], base: str, warn: Callable[[str], None]
    ) -> None:
        """
        Args:
            io: a node that no executor spins.
            resolve: makes the real name of a topic.
            base: name of W, the only frame in which they may be given.
            warn: told why a message was refused.
        """
        self._base, self._warn = base, warn
        self._names = {kind: resolve(kind) for kind in (topics.DESIRED_POSE, topics.DESIRED_TWIST)}
        self._poses = wire.Inbox(io, PoseStamped, self._names[topics.DESIRED_POSE])
        self._twists = wire.Inbox(io, TwistStamped, self._names[topics.DESIRED_TWIST])
        self._V, self._until = np.zeros(6), 0.0
        self._alone = Alone()

    def hand_to(self, controller: Controller | None) -> bool:
        """Take what has arrived; the newest counts. Without a controller it is refused.

        Returns whether anything was taken over.
        """
        pose, twist = self._poses.newest(), self._twists.newest()
        taken = False
        try:
            if twist is not None:
                self._move(twist, controller)
                taken = True
        except AdmittanceError as error:
            self._warn(f"{self._names[topics.DESIRED_TWIST]}: refused: {error}")
        try:
            if pose is not None:
                self._place(pose, controller)
                taken = True
        except AdmittanceError as error:
            self._warn(f"{self._names[topics.DESIRED_POSE]}: refused: {error}")
        return taken

    def _move(self, message: Any, controller: Controller | None) -> None:
        controller = self._admitted(message, controller, topics.DESIRED_TWIST, self._twists.sender)
        V = np.array(wire.six_of_twist(message.twist))
        controller.set_desired(controller.outputs["X_WD"][0], V)
        self._V, self._until = V, time.monotonic() + _LASTING

    def _place(self, message: Any, controller: Controller | None) -> None:
        controller = self._admitted(message, controller, topics.DESIRED_POSE, self._poses.sender)
        X_WD = wire.transform_of(message.pose)
        controller.set_desired(X_WD, self._V if time.monotonic() < self._until else None)

    def _admitted(
        self, message: Any, controller: Controller | None, topic: str, sender: bytes
    ) -> Controller:
        frame = message.header.frame_id
        if frame != self._base:
            raise RobotError(f"frame_id is {frame!r}, it must be {self._base!r}")
        self._alone.admit(topic, sender)
        if controller is None:
            raise RobotError("the node is not active")
        return controller
