"""What the node tells about itself: twists, errors and status at `monitor_rate`, and diagnostics.

All of it goes out after the command, best effort, spread over the ticks, and only what somebody
listens to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Twist

from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.ros2.status import Status

_FIELDS = {
    topics.CARTESIAN_VELOCITY: "V_WP_cmd",
    topics.POSE_ERROR: "error",
    topics.VELOCITY_COMMAND: "V_WP_law",
}
_HARDWARE = "ur-admittance"
_WHOLE = 1.0 - 1e-9


class Monitor:
    """The monitoring publishers of a node. Called with the outputs of every tick."""

    def __init__(self, node: Any, config: Config) -> None:
        self._node, self._twist, self._status = node, Twist(), Status(_HARDWARE)
        self._outlets: list[tuple[Any, Callable[[Controller], Any]]] = [
            (node.create_publisher(Twist, topic, wire.MONITOR), partial(self._twist_of, field))
            for topic, field in _FIELDS.items()
        ]
        status = node.create_publisher(DiagnosticArray, topics.STATUS, wire.MONITOR)
        self._outlets.append((status, self._status_of))
        # Each is sent when a whole one is due: on average exactly at its rate, whatever that is.
        self._step = min(1.0, config.monitor_rate / config.control_rate)
        self._due = [place / len(self._outlets) for place in range(len(self._outlets))]
        self._diagnostics = node.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, wire.COMMAND)

    def __call__(self, controller: Controller) -> None:
        due, step = self._due, self._step
        for place, (publisher, message_of) in enumerate(self._outlets):
            due[place] += step
            if due[place] >= _WHOLE:
                due[place] -= 1.0
                if publisher.get_subscription_count():
                    publisher.publish(message_of(controller))

    def _twist_of(self, field: str, controller: Controller) -> Any:
        wire.fill_twist(self._twist, controller.outputs[field][0])
        return self._twist

    def _status_of(self, controller: Controller) -> Any:
        return self._status.fill(controller, self._node.get_clock().now().to_msg())

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
