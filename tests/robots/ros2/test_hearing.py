"""A participant that hears nothing of what others hear is made anew, and only such a one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ur_admittance import RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from lifecycle_msgs.srv import GetState
from rclpy.node import Node
from std_msgs.msg import String

from tests.ros2.graph import LATCHED, PATIENCE, Graph
from ur_admittance.robots.ros2 import hearing
from ur_admittance.robots.ros2.hearing import Deaf, Hearing

pytestmark = pytest.mark.slow

TOPICS = DESCRIPTION, _, _ = "/robot_description", "/joint_states", "/wrist_ft_sensor"
# What a process is made deaf by: its first participant does not look for others at all.
DEAF_AT_FIRST = """
import os, rclpy
init, os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = rclpy.init, "OFF"
def then_hear(*arguments, **options):
    init(*arguments, **options)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
rclpy.init = then_hear
from ur_admittance.cli import main
main()
"""


@pytest.fixture
def described(graph: Graph) -> Node:
    """A node on a graph where a description can be heard."""
    publisher = graph.node.create_publisher(String, DESCRIPTION, LATCHED)
    publisher.publish(String(data=RobotModel.ur("ur5e").to_urdf()))
    return graph.node


def test_a_node_that_is_deaf_makes_its_participant_anew_and_says_so(graph: Graph, described: Node):
    command = [sys.executable, "-c", DEAF_AT_FIRST, "run", "--robot", "ros2", "--inactive"]
    held, pipe = [graph.domain.fileno()], subprocess.PIPE
    process = subprocess.Popen(command, stderr=pipe, text=True, cwd=graph.folder, pass_fds=held)
    service, request = "/admittance_node/get_state", GetState.Request()

    def state() -> str:
        assert process.poll() is None, process.communicate()[1]
        return graph.call(GetState, service, request).current_state.label

    try:
        graph.until(lambda: state() == "inactive")  # it has the description
        process.terminate()
        errors = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    assert f"another participant of this process hears {DESCRIPTION}" in errors
    assert "is made anew" in errors


def test_one_that_hears_nothing_where_there_is_something_is_deaf(
    graph: Graph, described: Node, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hearing, "_FIRST", 0.0)
    ears = Hearing(described, *TOPICS)
    with pytest.raises(Deaf, match="made anew"):
        graph.until(lambda: False, lambda: ears.check({DESCRIPTION: False}))


def test_one_that_has_heard_something_or_does_not_listen_there_is_not_deaf(
    graph: Graph, described: Node, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hearing, "_FIRST", 0.0)
    monkeypatch.setattr(hearing, "_LISTENING", 0.5)
    ears = Hearing(described, *TOPICS)
    graph.after(1.0, lambda: ears.check({"/joint_states": False}))
    graph.after(2.0, lambda: ears.check({DESCRIPTION: True}))
    ears.close()
