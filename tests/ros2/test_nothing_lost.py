"""Seconds at 500 Hz, two processes over DDS: every state is answered, and nothing is lost.

On a simulated clock, which waits for both. Whether a machine holds that pace on the wall, for a
minute, is measured by `python -m benchmarks.ros2`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.errors import RobotError

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist

from tests.ros2 import oracle
from tests.ros2.graph import Graph
from tests.ros2.stage import NODE, change
from tests.ros2.test_node_sim import ended
from ur_admittance import Config, RobotModel

pytestmark = pytest.mark.slow

RATE, SECONDS = 500.0, 3.0  # Hz, s
PRESET = "hand-guiding"


def test_every_state_at_500_hz_is_answered_and_nothing_is_lost(graph: Graph):
    clock = graph.simulate_time()
    told = graph.hear(DiagnosticArray, "/diagnostics", 10)
    sim = graph.start("sim-ros2", "--push", "0", "8", "0", "--json")
    node = graph.start(
        *("run", "--robot", "ros2", "--config", f"preset:{PRESET}", "--json", "--no-guard"),
        *("--ros-args", "-p", f"monitor_rate:={RATE}"),
    )
    twists = graph.hear(Twist, "/admittance_cartesian_velocity")
    errors = graph.hear(Twist, "/admittance_pose_error")
    board = attached(graph)

    def counted() -> np.ndarray:
        """Ticks, and messages of each kind, until the node no longer moves the arm."""
        assert change(graph, "deactivate")
        graph.read_all(NODE)
        return np.array([board.index, twists.sent, errors.sent])

    graph.until(lambda: twists and errors)  # now all have found each other
    before = counted()
    assert change(graph, "activate")
    graph.after(SECONDS)
    seen = len(told)
    graph.until(lambda: len(told) > seen)
    ticks, *messages = counted() - before
    records, _, lost = board.since(int(before[0]))
    summary, served = ended(node), ended(sim)

    assert lost == 0 and len(records) == ticks >= SECONDS * RATE
    assert (np.diff(records["tick"]) == 1).all()
    np.testing.assert_allclose(np.diff(records["timing"]["arrived"]), 1.0 / RATE, atol=1e-9)
    assert messages == [ticks, ticks]
    lost = [int(value) for value in map(lost_of, told) if value]
    assert lost and max(lost) == served["lost"] == served["refused"] == served["missed"] == 0
    assert summary["late"] == summary["missed"] == summary["overruns"] == 0
    assert served["commands"] >= ticks
    oracle.judge(clock.trace(), Config.preset(PRESET), RobotModel.ur("ur5e"))


def attached(graph: Graph) -> Reader:
    """The node's blackboard, after the first tick."""
    boards: list[Reader] = []

    def attach() -> bool:
        try:
            boards.append(Blackboard.attach("ros2"))
        except RobotError:
            return False
        return True

    graph.until(attach)
    graph.until(lambda: boards[0].index)
    return boards[0]


def lost_of(message: Any) -> str:
    """How many messages the node has lost, as it told; "" while it is not configured."""
    return {pair.key: pair.value for pair in message.status[0].values}.get("lost messages", "")
