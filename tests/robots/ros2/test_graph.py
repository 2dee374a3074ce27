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


def test_senders_second_senders_types_and_qualities_that_do_not_fit_are_seen(graph: Graph) -> None:
    def see() -> dict[str, list[str]]:
        found = {place.what: place for place in who.places("/felt", "position")}
        return {what: [other.mismatch for other in place.others] for what, place in found.items()}

    graph.node.create_publisher(JointState, "/joint_states", 10)
    graph.node.create_publisher(WrenchStamped, "/felt", 10)
    graph.node.create_publisher(String, "/robot_description", QoSProfile(depth=1))
    graph.until(lambda: see()["description"])
    found = see()
    assert found["joint states"] == [""] and found["wrench"] == [""] and found["commands"] == []
    assert "publishes volatile" in found["description"][0]
    graph.node.create_publisher(Wrench, "/felt", 10)
    graph.node.create_publisher(String, "/robot_description", wire.LATCHED)
    graph.until(lambda: len(see()["wrench"]) == 2)
    found = see()
    assert any("WrenchStamped is due" in words for words in found["wrench"])
    assert "" in found["description"]
