"""A participant that hears nothing of what others hear is made anew, and only such a one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from ur_admittance import RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import GetState
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.peer import LATCHED, SENSOR
from ur_admittance.robots.ros2 import hearing
from ur_admittance.robots.ros2.hearing import Deaf, Hearing

pytestmark = pytest.mark.slow

TOPICS = DESCRIPTION, JOINTS, FELT = "/robot_description", "/joint_states", "/wrist_ft_sensor"
RAW, PROCESSED = "/netft/raw_sensor", "/netft/proc_probe"
ANEW = "another participant of this process hears {}; this one is made anew"
# What a process is made deaf by: its first participant does not look for others at all.
DEAF_AT_FIRST = """
import os, sys, rclpy
init, os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = rclpy.init, "OFF"
def then_hear(*arguments, **options):
    init(*arguments, **options)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
rclpy.init = then_hear
from ur_admittance.robots.ros2 import hearing, robot
ask, hearing._LISTENING = hearing.ask_another, 60.0  # s: who tells something may be late
def ask_patiently(*arguments):
    robot._PATIENCE = 60.0  # of the participant that is made anew
    ask(*arguments)
hearing.ask_another = ask_patiently
"""
COMMAND = "from ur_admittance.cli import main; main()"
CONNECT = """
from ur_admittance import robots
with robots.connect("ros2", model="ur5e", watch=True) as arm:
    print(arm.wait().q.tolist())
"""


@pytest.fixture
def described(graph: Graph) -> Node:
    """A node on a graph where a description can be heard."""
    publisher = graph.node.create_publisher(String, DESCRIPTION, LATCHED)
    publisher.publish(String(data=RobotModel.ur("ur5e").to_urdf()))
    return graph.node


@pytest.fixture
def arm(graph: Graph) -> Iterator[None]:
    """Somebody who tells joint angles and wrenches."""
    joints = graph.node.create_publisher(JointState, JOINTS, SENSOR)
    wrenches = [graph.node.create_publisher(WrenchStamped, topic, SENSOR) for topic in (FELT, RAW)]
    model = RobotModel.ur("ur5e")
    state = JointState(name=list(model.joint_names), position=model.home.tolist())

    def tell() -> None:
        joints.publish(state)
        for publisher in wrenches:
            publisher.publish(WrenchStamped())

    timer = graph.node.create_timer(0.01, tell)
    yield
    graph.node.destroy_timer(timer)


def deaf_at_first(graph: Graph, program: str, *arguments: str) -> subprocess.Popen[str]:
    """A process whose first participant hears nothing."""
    command, pipe = [sys.executable, "-c", DEAF_AT_FIRST + program, *arguments], subprocess.PIPE
    held = [graph.domain.fileno()]
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, cwd=graph.folder, pass_fds=held
    )


def ended(graph: Graph, process: subprocess.Popen[str], done: Callable[[], object]) -> str:
    """What it has said on stderr, when it was `done` and ended, by itself or told to."""
    try:

        def looked() -> object:
            over = process.poll()
            assert over in (None, 0), process.communicate()[1]
            return over == 0 or done()

        graph.until(looked)
        process.terminate()
        return process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()


def test_a_node_that_is_deaf_makes_its_participant_anew_and_says_so(graph: Graph, described: Node):
    process = deaf_at_first(graph, COMMAND, "run", "--robot", "ros2", "--inactive")
    service, request = "/admittance_node/get_state", GetState.Request()

    def configured() -> bool:  # it has the description
        return graph.call(GetState, service, request).current_state.label == "inactive"

    assert ANEW.format(DESCRIPTION) in ended(graph, process, configured)


@pytest.mark.usefixtures("arm")
def test_so_does_a_node_that_has_its_model_and_waits_for_joint_states(graph: Graph):
    waits = ("run", "--robot", "ros2", "--model", "ur5e", "--inactive")
    process = deaf_at_first(graph, COMMAND, *waits)
    # Only the second participant is heard of: the first does not look for others.
    errors = ended(graph, process, lambda: "/admittance_node" in names(graph))
    assert "this one is made anew" in errors


def names(graph: Graph) -> set[str]:
    return {
        f"{space.rstrip('/')}/{name}" for name, space in graph.node.get_node_names_and_namespaces()
    }


@pytest.mark.usefixtures("arm")
def test_so_does_the_node_that_compensates_wrenches(graph: Graph):
    file = graph.folder / "config.yaml"
    slow = {"joint_timeout": 9.0, "wrench_timeout": 9.0, "lost_timeout": 10.0}
    file.write_text(f"safety: {slow}\n")
    heard = graph.hear(WrenchStamped, PROCESSED)
    arguments = ("wrench-ros2", "--config", str(file), "--model", "ur5e")
    errors = ended(graph, deaf_at_first(graph, COMMAND, *arguments), lambda: heard)
    assert "this one is made anew" in errors


@pytest.mark.usefixtures("arm", "described")
def test_so_does_a_command_that_waits_for_a_description(graph: Graph):
    process = deaf_at_first(graph, COMMAND, "init", "--robot", "ros2", "--stay")
    assert ANEW.format(DESCRIPTION) in ended(graph, process, lambda: False)
    assert (graph.folder / "equilibrium.yaml").exists()


@pytest.mark.usefixtures("arm")
def test_so_does_whoever_connects(graph: Graph):
    errors = ended(graph, deaf_at_first(graph, CONNECT), lambda: False)
    assert "this one is made anew" in errors


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
