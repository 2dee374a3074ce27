"""Whether this process is deaf on a graph where others are heard.

Fast DDS sometimes leaves a participant so, for most of a minute, when other processes die while
they find each other, as after a crash. It does not notice; a second participant does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros2 import wire

_FIRST = 5.0  # s of silence, after which a second participant listens; doubled each time
_SELDOM = 60.0  # s, the longest of these
_LISTENING = 3.0  # s for which it does
_BEHIND = 1.0  # s after it by which the first must have heard something, too


class Deaf(RobotError):
    """What is sent does not reach this participant. Another one of the same process hears it."""


class Hearing:
    """Looks after one participant until it has heard something for the first time."""

    def __init__(self, node: Any, description: str, joints: str, wrench: str) -> None:
        """
        Args:
            node: of the participant.
            description: the topic, as it is called on this graph.
            joints: likewise.
            wrench: likewise.
        """
        self._domain, self._log = node.context.get_domain_id(), node.get_logger()
        self._topics = {
            description: (String, wire.LATCHED),
            joints: (JointState, wire.SENSOR),
            wrench: (WrenchStamped, wire.SENSOR),
        }
        self._begun = time.monotonic()
        self._wait, self._due = _FIRST, self._begun + _FIRST
        self._second: _Second | None = None

    def check(self, heard: Mapping[str, bool]) -> None:
        """To be called again and again. Never waits.

        Args:
            heard: of each topic that the participant listens to by now, whether it has heard
                anything there.

        Raises:
            Deaf: it has heard nothing at all, though there is something. It must be made anew.
        """
        now = time.monotonic()
        if any(heard.values()):
            self.close()
            self._due = float("inf")
        elif self._second is None:
            if now > self._due:
                self._second = _Second(self._domain, self._topics)
                self._due = now + _LISTENING
        elif (topic := self._second.heard(heard)) and now > self._second.first + _BEHIND:
            self.close()
            words = (
                f"nothing was heard for {now - self._begun:.0f} s, though another participant of "
                f"this process hears {topic}; this one is made anew"
            )
            self._log.warning(words)
            raise Deaf(words)
        elif not topic and now > self._due:
            self.close()
            self._wait = min(2.0 * self._wait, _SELDOM)
            self._due = now + self._wait

    def close(self) -> None:
        """End the second participant, if there is one."""
        if self._second is not None:
            self._second.close()
            self._second = None


class _Second:
    """Another participant, which listens to the same topics.

    Attributes:
        first: when it heard something for the first time, s on the monotonic clock.
    """

    def __init__(self, domain: int, topics: Mapping[str, tuple[Any, Any]]) -> None:
        self.first, self._topic = 0.0, ""
        self._owned = ExitStack()
        context = wire.rclpy.Context()
        wire.rclpy.init(
            context=context,
            domain_id=domain,
            signal_handler_options=wire.SignalHandlerOptions.NO,
        )
        self._owned.callback(wire.rclpy.shutdown, context=context)
        node = wire.rclpy.create_node(
            f"_ear_{time.monotonic_ns()}",
            context=context,
            use_global_arguments=False,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._owned.callback(node.destroy_node)
        self._inboxes = {
            topic: wire.Inbox(node, kind, topic, quality, raw=True)
            for topic, (kind, quality) in topics.items()
        }

    def heard(self, topics: Iterable[str]) -> str:
        """The one of these topics on which it has heard something first; "" if on none."""
        for topic in topics:
            if not self._topic and self._inboxes[topic].newest() is not None:
                self.first, self._topic = time.monotonic(), topic
        return self._topic

    def close(self) -> None:
        self._owned.close()
