"""Monitoring comes at the rate that was asked for, for every rate of the loop."""

from __future__ import annotations

import pytest

from ur_admittance import Config, Controller, RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist

from tests.ros2.graph import Graph
from tests.ros2.stage import NODE, config_at
from ur_admittance.ros2.monitor import Monitor

SECONDS = 1
MODEL = RobotModel.ur("ur5e")
TIMEOUTS = {"safety.wrench_timeout": 0.05, "safety.joint_timeout": 0.05}


def test_each_topic_has_its_rate_whatever_that_of_the_loop(graph: Graph):
    kinds = {
        "/admittance_cartesian_velocity": Twist,
        "/admittance_pose_error": Twist,
        "/test/cartesian_velocity_command": Twist,
        "/test/status": DiagnosticArray,
    }
    heard = {topic: graph.hear(kind, topic) for topic, kind in kinds.items()}
    for rate, wanted in ((500, 50), (100, 50), (125, 100), (500, 500), (40, 50)):
        config = Config().replace({**TIMEOUTS, "control_rate": rate, "monitor_rate": wanted})
        controller, monitor = Controller(MODEL, config), Monitor(graph.node, config)
        for messages in heard.values():
            messages.clear()
        # The first messages may be lost, until publishers and subscriptions know of each other.
        graph.until(lambda: all(heard.values()), lambda: monitor(controller))  # noqa: B023
        before = {topic: messages.sent for topic, messages in heard.items()}
        ticks, expected = SECONDS * rate, SECONDS * min(rate, wanted)
        for _ in range(ticks):
            monitor(controller)
        graph.until(
            lambda: all(m.sent - before[t] >= expected - 1 for t, m in heard.items())  # noqa: B023
        )
        graph.after(0.05)
        counted = {messages.sent - before[topic] for topic, messages in heard.items()}
        assert all(abs(count - expected) <= 1 for count in counted), (rate, wanted, counted)


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [50, 100, 500])
def test_a_node_at_500_hz_tells_it_so_often_to_another_process(staged, wanted: int):
    config = config_at(500) + f"monitor_rate: {wanted}\n"
    stage = staged("--model", "ur5e", "--inactive", config=config, arm_rate=500)
    heard = [
        stage.graph.hear(Twist, "/admittance_cartesian_velocity"),
        stage.graph.hear(Twist, "/admittance_pose_error"),
    ]

    def counted() -> list[int]:
        """Commands and messages so far, when the motion is over and all have been read."""
        assert stage.change("deactivate")
        stage.until_mute()
        stage.graph.read_all(NODE)
        return [len(stage.trace()), *(messages.sent for messages in heard)]

    stage.graph.until(lambda: stage.state == "inactive")
    stage.activate()
    stage.graph.until(lambda: all(heard))  # now all have found each other
    before = counted()
    stage.activate()
    stage.graph.until(lambda: len(stage.trace()) > before[0] + 250)
    ticks, *told = (b - a for a, b in zip(before, counted(), strict=True))
    assert all(abs(count - ticks * wanted / 500) <= 2 for count in told), (ticks, told)
