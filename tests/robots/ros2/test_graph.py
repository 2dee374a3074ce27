"""Who is on the graph: what `doctor` is told of it over DDS."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import Wrench, WrenchStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from tests.ros2.graph import Graph
from ur_admittance.robots.ros2 import graph as who
from ur_admittance.robots.ros2 import wire


def seen(wrench: str) -> dict[str, list[str]]:
    """What does not fit, of everybody at the other end of each topic."""
    places = who.places(wrench, "position")
    return {place.what: [other.mismatch for other in place.others] for place in places}


def test_senders_second_senders_types_and_qualities_that_do_not_fit_are_seen(graph: Graph) -> None:
    node = graph.node
    node.create_publisher(JointState, "/joint_states", 10)
    node.create_publisher(WrenchStamped, "/felt", 10)
    node.create_publisher(WrenchStamped, "/felt", 10)
    node.create_publisher(Wrench, "/bare", 10)
    node.create_publisher(String, "/robot_description", QoSProfile(depth=1))
    node.create_publisher(String, "/robot_description", wire.LATCHED)
    graph.until(lambda: len(seen("/felt")["description"]) == 2)
    found = seen("/felt")
    assert found["joint states"] == [""] and found["wrench"] == ["", ""]
    assert found["commands"] == []
    assert "publishes volatile" in max(found["description"]) and "" in found["description"]
    graph.until(lambda: seen("/bare")["wrench"])
    assert "geometry_msgs/msg/WrenchStamped is due" in seen("/bare")["wrench"][0]
