"""Whether this process is deaf on a graph where others are heard.

Fast DDS sometimes leaves a participant so, for most of a minute, when other processes die while
they find each other, as after a crash. It does not notice; a second participant does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
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
_LOOK = 0.02  # s between two looks at what it has heard
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
        self._node = node
        self._kinds = kinds(description=description, joints=joints, wrench=wrench)
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
                self._second = _Second(self._node, self._kinds)
                self._due = now + _LISTENING
        elif (topic := self._second.heard(heard)) and now > self._second.first + _BEHIND:
            self.close()
            raise _deaf(self._node, now - self._begun, topic)
        elif not topic and now > self._due:
            self.close()
            self._wait = min(2.0 * self._wait, _SELDOM)
            self._due = now + self._wait

    def close(self) -> None:
        """End the second participant, if there is one."""
        if self._second is not None:
            self._second.close()
            self._second = None


def kinds(*, description: str = "", joints: str = "", wrench: str = "") -> dict[str, Any]:
    """What is heard on these topics, and how; those without a name are left out."""
    found = {
        description: (String, wire.LATCHED),
        joints: (JointState, wire.SENSOR),
        wrench: (WrenchStamped, wire.SENSOR),
    }
    return {topic: kind for topic, kind in found.items() if topic}


def ask_another(node: Any, topics: Mapping[str, Any], seconds: float) -> None:
    """For who has waited `seconds` on all of these topics (see `kinds`) and heard nothing: let a
    second participant listen, for a moment.

    Raises:
        Deaf: that one hears something.
    """
    second, end = _Second(node, topics), time.monotonic() + _LISTENING
    try:
        while not (topic := second.heard(topics)) and time.monotonic() < end:
            time.sleep(_LOOK)
    finally:
        second.close()
    if topic:
        raise _deaf(node, seconds, topic)


def _deaf(node: Any, seconds: float, topic: str) -> Deaf:
    words = (
        f"nothing was heard for {seconds:.0f} s, though another participant of this process hears "
        f"{topic}; this one is made anew"
    )
    node.get_logger().warning(words)
    return Deaf(words)


class _Second:
    """Another participant, which listens to the same topics.

    Attributes:
        first: when it heard something for the first time, s on the monotonic clock.
    """

    def __init__(self, node: Any, topics: Mapping[str, Any]) -> None:
        domain = node.context.get_domain_id()
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

    def heard(self, topics: Mapping[str, Any]) -> str:
        """The one of these topics on which it has heard something first; "" if on none."""
        for topic in topics:
            if not self._topic and self._inboxes[topic].newest() is not None:
                self.first, self._topic = time.monotonic(), topic
        return self._topic

    def close(self) -> None:
        self._owned.close()
