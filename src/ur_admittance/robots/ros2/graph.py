"""Who is on the graph: who sends what a run needs and who takes its commands, as DDS tells it."""

from __future__ import annotations

import os
import time
from typing import Any

from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.place import Endpoint, Place

_DISCOVERY = 3.0  # s, for nodes to find each other
_JOINTS, _WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
_TEXT = "std_msgs/msg/String"


def places(wrench: str, mode: str) -> list[Place]:
    """The topics of a run, looked at with a node of its own, which is gone afterwards.

    Args:
        wrench: topic of the wrench.
        mode: `output.mode`.
    """
    with wire.started():
        node = wire.rclpy.create_node(
            "ur_admittance_doctor", start_parameter_services=False, enable_rosout=False
        )
        try:
            needed = [node.resolve_topic_name(name) for name in (topics.JOINT_STATES, wrench)]
            deadline = time.monotonic() + _DISCOVERY
            while time.monotonic() < deadline and not all(map(node.count_publishers, needed)):
                time.sleep(0.05)
            time.sleep(0.2)  # second ones are found a little later
            return [
                _heard(node, "joint states", topics.JOINT_STATES, _JOINTS, wire.SENSOR),
                _heard(node, "wrench", wrench, _WRENCH, wire.SENSOR),
                _heard(node, "description", topics.ROBOT_DESCRIPTION, _TEXT, wire.LATCHED),
                _told(node, "commands", topics.COMMANDS[mode]),
            ]
        finally:
            node.destroy_node()


def domain() -> str:
    """Which graph this process is on, in words."""
    names = ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY")
    names += ("RMW_IMPLEMENTATION",)
    told = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    return ", ".join(told) or "ROS_DOMAIN_ID not set, which is 0"


def _heard(node: Any, what: str, name: str, kind: str, ours: Any) -> Place:
    topic = node.resolve_topic_name(name)
    others = [
        Endpoint(_full(info), _mismatch(info, kind, info.qos_profile, ours))
        for info in node.get_publishers_info_by_topic(topic)
    ]
    return Place(what, topic, False, tuple(others))


def _told(node: Any, what: str, name: str) -> Place:
    topic = node.resolve_topic_name(name)
    others = [
        Endpoint(_full(info), _mismatch(info, "", wire.COMMAND, info.qos_profile))
        for info in node.get_subscriptions_info_by_topic(topic)
    ]
    rivals = [_full(info) for info in node.get_publishers_info_by_topic(topic)]
    return Place(what, topic, True, tuple(others), tuple(rivals))


def _mismatch(info: Any, kind: str, publisher: Any, subscriber: Any) -> str:
    if kind and info.topic_type != kind:
        return f"it sends {info.topic_type}, {kind} is due"
    best_effort = publisher.reliability == ReliabilityPolicy.BEST_EFFORT
    if best_effort and subscriber.reliability == ReliabilityPolicy.RELIABLE:
        return "one side publishes best effort, the other wants it reliable"
    volatile = publisher.durability == DurabilityPolicy.VOLATILE
    if volatile and subscriber.durability == DurabilityPolicy.TRANSIENT_LOCAL:
        return "one side publishes volatile, the other wants what was sent before it came"
    return ""


def _full(info: Any) -> str:
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
