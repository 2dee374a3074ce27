"""Seconds at 500 Hz, two processes over DDS: every state is answered, and nothing is lost.

On a simulated clock, which waits for both. Whether a machine holds that pace on the wall, for a
minute, is measured by `python -m benchmarks.ros2`.
"""

from __future__ import annotations

from typing import Any

import pytest

from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.errors import RobotError

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist

from tests.ros2 import oracle
from tests.ros2.graph import Graph
from tests.ros2.stage import change
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
    graph.until(lambda: twists and errors)
    told_of, before, begun = (twists.sent, errors.sent), board.index, clock.now()
    graph.after(SECONDS)
    answered, passed = board.index - before, clock.now() - begun
    assert answered == pytest.approx(passed * RATE, abs=2)
    for heard, first in zip((twists, errors), told_of, strict=True):  # one of each a tick
        assert heard.sent - first == pytest.approx(answered, abs=50)  # some are on their way
    assert change(graph, "deactivate")
    told_before, ticks = len(told), board.index
    graph.until(lambda: len(told) > told_before)
    summary, served = ended(node), ended(sim)

    lost = [int(value_of(message, "lost messages")) for message in told]
    assert max(lost) == served["lost"] == served["refused"] == served["missed"] == 0
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


def value_of(message: Any, key: str) -> str:
    """What the node told; "0" while it is not configured."""
    return {pair.key: pair.value for pair in message.status[0].values}.get(key, "0")
