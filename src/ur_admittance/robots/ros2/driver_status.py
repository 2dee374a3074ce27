"""What the driver says of the robot: its mode, its safety mode, and whether its program runs.

`ur_robot_driver` publishes them, latched, where its `io_and_status_controller` runs. The two modes
have message types of the driver's own, which not every ROS has; then they are not listened to.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from std_msgs.msg import Bool

from ur_admittance.faults import StopReason
from ur_admittance.robots.modes import ROBOT_MODES, ROBOT_RUNNING, SAFE_MODES, SAFETY_MODES
from ur_admittance.robots.ros2 import topics, wire


def robot_problem(mode: int) -> StopReason | None:
    """Why an arm in this robot mode must not be commanded; or None."""
    if mode == ROBOT_RUNNING:
        return None
    words = f"the robot is not running (robot mode {mode}, {ROBOT_MODES.get(mode, 'unknown')})"
    return StopReason.of("robot", words, "bring it up on the pendant")


def safety_problem(mode: int) -> StopReason | None:
    """Likewise for a safety mode."""
    if mode in SAFE_MODES:
        return None
    name = SAFETY_MODES.get(mode, "unknown")
    words = f"the robot's safety has stopped it (safety mode {mode}, {name})"
    return StopReason.of("robot", words, "clear it there first")


def program_problem(running: bool) -> StopReason | None:
    """Likewise for the program that listens to the driver."""
    if running:
        return None
    return StopReason.of("robot", "the robot's program does not run", "press play on the pendant")


class DriverStatus:
    """The newest of each, where somebody publishes it."""

    def __init__(self, io: Any, resolve: Callable[[str], str]) -> None:
        """
        Args:
            io: a node that no executor spins.
            resolve: makes the real name of a topic.
        """
        kinds: list[tuple[str, Any, Callable[[Any], StopReason | None]]] = [
            (topics.PROGRAM_RUNNING, Bool, lambda message: program_problem(message.data))
        ]
        try:
            messages = importlib.import_module("ur_dashboard_msgs.msg")
        except ImportError:
            messages = None
        if messages is not None:
            kinds += [
                (topics.ROBOT_MODE, messages.RobotMode, lambda m: robot_problem(m.mode)),
                (topics.SAFETY_MODE, messages.SafetyMode, lambda m: safety_problem(m.mode)),
            ]
        self._inboxes = [
            (wire.Inbox(io, kind, resolve(topic), wire.LATCHED), judge)
            for topic, kind, judge in kinds
        ]
        self._found: list[StopReason | None] = [None] * len(kinds)

    def problem(self) -> StopReason | None:
        """What stands against commanding the arm; None if nothing is known to."""
        for place, (inbox, judge) in enumerate(self._inboxes):
            message = inbox.newest()
            if message is not None:
                self._found[place] = judge(message)
        return next((reason for reason in self._found if reason), None)
