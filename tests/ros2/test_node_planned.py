"""A planned joint trajectory over DDS: followed with give, pushed aside, rejoined, given up."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from tests.ros2.stage import NODE, Stage
from tests.ros2.stub_arm import MODEL

pytestmark = pytest.mark.slow

TOPIC = f"{NODE}/joint_trajectory"
TURN, SECONDS = 0.4, 3  # rad, about the base; s
GOAL = MODEL.fk(MODEL.home + TURN * np.eye(6)[0])[:3, 3]


def trajectory(turn: float = TURN, *, seconds: int = SECONDS) -> JointTrajectory:
    """From where the arm is, joints in an order of its own."""
    order = [3, 1, 0, 2, 5, 4]
    q = MODEL.home + turn * np.eye(6)[0]
    point = JointTrajectoryPoint(positions=q[order].tolist(), velocities=[0.0] * 6)
    point.time_from_start.sec = seconds
    names = [MODEL.joint_names[k] for k in order]
    return JointTrajectory(joint_names=names, points=[point])


def off_the_arc(stage: Stage) -> float:
    """How far the tool is off the circle that it is to move on, m."""
    home, tool = MODEL.fk(MODEL.home)[:3, 3], stage.tool
    around = np.linalg.norm(tool[:2]) - np.linalg.norm(home[:2])
    return float(np.hypot(around, tool[2] - home[2]))


def test_a_plan_is_pushed_aside_and_rejoined_and_one_that_is_held_ends_with_the_reason(
    active: Stage,
):
    stiffness = {"admittance.stiffness": [300.0] * 3 + [20.0] * 3}
    assert active.set(stiffness)[0].successful
    active.graph.after(1.5)  # gains are ramped
    publisher = active.graph.publisher(JointTrajectory, TOPIC)
    active.graph.known_to(NODE)
    publisher.publish(trajectory(1.0, seconds=0))
    active.until_said("it begins 1.000 rad from where shoulder_pan_joint is")
    publisher.publish(trajectory())
    active.until_said(f"{TOPIC}: following 1 points, 3.0 s")
    active.graph.until(lambda: np.linalg.norm(active.tool - GOAL) < 0.25)
    assert off_the_arc(active) < 2e-3
    active.behave(force=[0, 0, 15, 0, 0, 0])
    active.graph.until(lambda: off_the_arc(active) > 0.03)
    active.behave(force=[0] * 6)
    active.until_said(f"{TOPIC}: reached")
    assert np.linalg.norm(active.tool - GOAL) < 5e-3 and active.state == "active"

    active.log.clear()
    active.behave(force=[0, 0, 40, 0, 0, 0])
    active.graph.until(lambda: off_the_arc(active) > 0.11)
    publisher.publish(trajectory(TURN - 0.3))
    active.until_said(f"{TOPIC}: ended: it was held back: after 5 s the tool is still ")
    active.behave(force=[0] * 6)
    assert active.set({"admittance.stiffness": [0.0] * 6})[0].successful
