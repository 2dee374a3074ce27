"""What the node tells about itself: twists and errors a few times a second, and its diagnostics.

All of it goes out after the command, best effort, and one message a tick at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Twist

from ur_admittance.robots.ros2 import topics, wire

RATE = 50.0  # Hz
_FIELDS = {
    topics.CARTESIAN_VELOCITY: "V_WP_cmd",
    topics.POSE_ERROR: "error",
    topics.VELOCITY_COMMAND: "V_WP_law",
}
_HARDWARE = "ur-admittance"


class Monitor:
    """The monitoring publishers of a node. Called with the outputs of every tick."""

    def __init__(self, node: Any, rate: float) -> None:
        """
        Args:
            rate: ticks a second, Hz.
        """
        self._node, self._count = node, 0
        self._every = max(len(_FIELDS), round(rate / RATE))
        self._twist = Twist()
        self._outlets = [
            (node.create_publisher(Twist, topic, wire.MONITOR), field)
            for topic, field in _FIELDS.items()
        ]
        self._diagnostics = node.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, wire.COMMAND)

    def __call__(self, _: Any, out: np.record) -> None:
        turn = self._count % self._every
        self._count += 1
        if turn < len(self._outlets):
            publisher, field = self._outlets[turn]
            if publisher.get_subscription_count():
                wire.fill_twist(self._twist, out[field])
                publisher.publish(self._twist)

    def diagnose(self, level: str, message: str, values: Mapping[str, object]) -> None:
        """Publish one status; `level` is 'ok', 'warn' or 'error'."""
        levels = {
            "ok": DiagnosticStatus.OK,
            "warn": DiagnosticStatus.WARN,
            "error": DiagnosticStatus.ERROR,
        }
        status = DiagnosticStatus(
            level=levels[level],
            name=f"{self._node.get_name()}: controller",
            message=message,
            hardware_id=_HARDWARE,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(array)
