"""The arm on a ROS 2 graph keeps the contract of every robot; a simulated one is on the graph.

Both live by a simulated clock: the arm waits for the test as long as that listens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.robots.contract import RobotContract
from ur_admittance import AdmittanceError, Config, robots

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from tests.ros2.clock import SLOTS, listen
from tests.ros2.graph import Graph
from ur_admittance.robots.ros2 import wire
from ur_admittance.robots.ros2.robot import Ros2Robot

pytestmark = pytest.mark.slow


RATE = 50.0  # Hz
CONFIG = Config(control_rate=RATE, safety={"wrench_timeout": 0.05, "joint_timeout": 0.05})


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        made = Graph(tmp_path_factory.mktemp("ros2"), patch)
        leave = listen(made.simulate_time(), SLOTS - 1)
        try:
            made.start("sim-ros2", "--rate", str(RATE))
            with wire.started():
                # While it is there, robots of this process are found at once, else after seconds.
                stays = wire.rclpy.create_node("stays")
                yield made
                stays.destroy_node()
        finally:
            leave()
            made.close()


@pytest.fixture(scope="module")
def states(graph: Graph) -> list[Any]:
    return graph.hear(JointState, "/joint_states")


@pytest.fixture(autouse=True)
def _at_rest(graph: Graph, states: list[Any]) -> None:
    """The arm is there, and no longer moves."""
    states.clear()
    graph.until(lambda: states and np.abs(states[-1].velocity).max() < 1e-3)


class TestContract(RobotContract):
    def make(self) -> Ros2Robot:
        return Ros2Robot(config=CONFIG)


def test_two_do_not_command_one_arm():
    with (
        robots.connect("ros2", config=CONFIG),
        pytest.raises(AdmittanceError, match=r"/ur_admittance publishes on .*, too"),
    ):
        robots.connect("ros2", config=CONFIG)


def test_it_reads_the_description_and_stands_where_the_joint_states_say():
    with robots.connect("ros2", config=CONFIG) as robot:
        assert robot.name == "ros2" and robot.model.name == "ur5e"
        assert robot.wrench_frame == "tool0" and not robot.wrench_compensated
        state = robot.wait()
        assert state.wrench_time <= robot.clock() and np.isfinite(state.wrench).all()


def test_a_sensor_that_reports_the_reaction_is_turned(graph: Graph):
    push = WrenchStamped()
    push.wrench.force.z = 20.0
    hand = graph.publisher(WrenchStamped, "/sim/push")
    options: dict[str, Any] = {"config": CONFIG, "watch": True}
    with (
        robots.connect("ros2", **options) as plain,
        robots.connect("ros2", sign=-1, **options) as turned,
    ):
        a, b = plain.look().wrench, turned.look().wrench  # views, always the newest

        def feel() -> None:
            hand.publish(push)
            plain.look()
            turned.look()

        graph.until(lambda: min(np.linalg.norm(a[:3]), np.linalg.norm(b[:3])) > 15, feel)
        assert a[:3] @ b[:3] < -200


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"wrench": "/nobody"}, "no wrench on /nobody"),
        ({"sign": 2}, "sign: must be 1 or -1"),
        ({"model": "ur6"}, "neither an arm"),
        ({"config": Config(joints=list("abcdef")), "model": "ur5e"}, "no joint states"),
    ],
)
def test_what_is_missing_is_named(options, words):
    with pytest.raises(AdmittanceError, match=words):
        robots.connect("ros2", **options)
