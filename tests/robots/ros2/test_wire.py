"""Messages taken without an executor: what was lost is counted, and clocks may be put."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ur_admittance import RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from tests.ros2.graph import Graph
from ur_admittance.robots.ros2 import wire
from ur_admittance.robots.ros2.robot import Ros2Robot

TOPIC = "/numbers"


@pytest.fixture
def inbox(graph: Graph):
    """Of a node that no executor spins, in the context of the test's own."""
    node = rclpy.create_node("taker", context=graph.node.context)
    yield wire.Inbox(node, Float64MultiArray, TOPIC)
    node.destroy_node()


def test_what_is_taken_too_late_counts_as_lost(graph: Graph, inbox: wire.Inbox):
    publisher = graph.publisher(Float64MultiArray, TOPIC)
    taken: list[float] = []

    def take() -> None:
        taken.extend(message.data[0] for message in inbox.new())

    def send(first: int, last: int) -> None:
        for number in range(first, last):
            publisher.publish(Float64MultiArray(data=[float(number)]))

    send(0, 5)
    graph.until(lambda: len(taken) == 5, take)
    assert taken == [0, 1, 2, 3, 4] and inbox.lost == 0
    send(5, 205)  # more than it keeps
    graph.until(lambda: taken[-1] == 204, take)
    assert inbox.count == len(taken) < 205 and inbox.lost == 205 - len(taken)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_put_makes_no_message_older_or_newer(
    graph: Graph, inbox: wire.Inbox, monkeypatch: pytest.MonkeyPatch, hours: int
):
    publisher = graph.publisher(Float64MultiArray, TOPIC)
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + hours * 3600 * 10**9)
    before = time.monotonic()
    assert inbox.newest() is None
    publisher.publish(Float64MultiArray(data=[1.0]))
    graph.until(inbox.newest)
    assert before <= inbox.arrived <= time.monotonic()


def test_of_several_states_it_says_when_the_first_came(graph: Graph):
    model = RobotModel.ur("ur5e")
    robot = Ros2Robot(model=model, watch=True)
    robot.listen()
    heard = graph.hear(JointState, "/joint_states", 10)
    publisher = graph.publisher(JointState, "/joint_states")
    message = JointState(name=model.joint_names, position=model.home.tolist())
    # Until both have found it.
    graph.until(lambda: robot.look(0.0).cycle >= 0 and heard, lambda: publisher.publish(message))
    graph.after(0.3)
    cycle, seen = robot.look(0.0).cycle, robot.look(0.0).joint_time
    for _ in range(3):
        heard.clear()
        publisher.publish(message)
        graph.until(lambda: heard)
        graph.after(0.05)
    state = robot.wait()
    assert state.cycle == cycle + 3
    assert seen < state.first_time < state.joint_time
    robot.close()


def test_somebody_else_on_a_topic_is_named(graph: Graph, inbox: wire.Inbox):
    graph.publisher(Float64MultiArray, TOPIC)
    graph.until(lambda: wire.others_on(graph.node, TOPIC) == ["/test"])
    assert wire.others_on(graph.node, TOPIC, own=1) == []


def test_a_description_gives_the_arm_of_the_tables():
    model = RobotModel.ur("ur5e")
    described = wire.model_from(model.to_urdf(), wire.Config())
    np.testing.assert_allclose(described.fk(model.home), model.fk(model.home), atol=1e-9)
    np.testing.assert_array_equal(described.qdd_max, model.qdd_max)
