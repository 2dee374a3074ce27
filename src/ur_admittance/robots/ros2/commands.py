"""The command topics of an arm: what is published on them, who listens, and who else publishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ur_admittance.faults import StopReason
from ur_admittance.robots.ros2 import topics, wire

_ARRIVES = 2.0  # s, for the last command, if a listener is slow or has died
_LEASE = 20.0  # s for which DDS believes that a killed process lives


class Commands:
    """Our publishers of commands, one for each `output.mode` that was ever sent in.

    Attributes:
        helpers: full names of nodes that may publish commands beside this one: its own guard.
    """

    def __init__(
        self, node: Any, joint_names: Sequence[str], resolve: Callable[[str], str]
    ) -> None:
        """
        Args:
            node: an rclpy node.
            joint_names: of the arm, in the order of what is sent.
            resolve: makes the real name of a topic, where names are remapped.
        """
        self.helpers: set[str] = set()
        self._node, self._resolve = node, resolve
        self._publishers: dict[str, Any] = {}
        self._numbers, self._point = Float64MultiArray(), JointTrajectoryPoint()
        # Without a stamp it counts from its arrival; controllers refuse one that lies in the past.
        self._trajectory = JointTrajectory(joint_names=list(joint_names), points=[self._point])

    def topic(self, mode: str) -> str:
        """The command topic of a mode, as it is called on this graph."""
        return self._resolve(topics.COMMANDS[mode])

    def publisher(self, mode: str) -> Any:
        """Ours on that topic, made when it is first asked for."""
        publisher = self._publishers.get(mode)
        if publisher is None:
            kind = JointTrajectory if mode == "trajectory" else Float64MultiArray
            publisher = self._node.create_publisher(kind, self.topic(mode), wire.COMMAND)
            self._publishers[mode] = publisher
        return publisher

    def publishes(self, mode: str) -> bool:
        """Whether we have a publisher on that topic."""
        return mode in self._publishers

    def send(self, mode: str, numbers: list[float]) -> None:
        """Joint rates, rad/s, or joint angles, rad (6,), for `mode` "velocity" or "position"."""
        self._numbers.data = numbers
        self.publisher(mode).publish(self._numbers)

    def send_trajectory(self, q_ref: list[float], qd: list[float], time_from_start: float) -> None:
        """A trajectory of one point: rad (6,), rad/s (6,) and s."""
        point = self._point
        point.positions, point.velocities = q_ref, qd
        seconds, rest = divmod(round(1e9 * time_from_start), 10**9)
        point.time_from_start.sec, point.time_from_start.nanosec = seconds, rest
        self.publisher("trajectory").publish(self._trajectory)

    def listeners(self) -> int:
        """How many listen to our commands."""
        return sum(each.get_subscription_count() for each in self._publishers.values())

    def others(self, mode: str) -> StopReason | None:
        """Who else publishes commands of this kind; None if nobody does."""
        topic = self.topic(mode)
        own = int(self.publishes(mode))
        known = own + len(self.helpers)
        if self._node.count_publishers(topic) <= known:  # quick; who they are takes longer
            return None
        found = wire.others_on(self._node, topic, own)
        others = [name for name in found if name not in self.helpers]
        if not others:
            return None
        advice = f"end it first (what was killed is forgotten after {_LEASE:g} s)"
        return StopReason.of("robot", f"{', '.join(others)} publishes on {topic}, too", advice)

    def release(self) -> None:
        """Publish no more, when what was sent has arrived: with its publisher, DDS forgets a
        command of rest that is still on its way.
        """
        for publisher in self._publishers.values():
            wire.arrived(publisher, _ARRIVES)
            self._node.destroy_publisher(publisher)
        self._publishers.clear()
