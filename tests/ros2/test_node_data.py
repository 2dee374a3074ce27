"""What the admittance node makes of joint states, wrenches and plans, good and bad: over DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from tests.ros2.stage import NODE, Stage
from tests.ros2.stub_arm import MODEL

pytestmark = pytest.mark.slow

MANY = 10_000  # messages
TOPIC = f"{NODE}/joint_trajectory"
TURN, SECONDS = 0.4, 3  # rad, about the base; s
GOAL = MODEL.fk(MODEL.home + TURN * np.eye(6)[0])[:3, 3]


def recover(stage: Stage) -> None:
    """Be a good arm again, and reset the node."""
    stage.behave()
    stage.reset()
    stage.commands.clear()
    stage.graph.until(lambda: stage.commands and stage.state == "active")


def test_joints_are_found_by_name_in_any_order_and_among_others(active: Stage):
    rng = np.random.default_rng(1)
    for k in range(8):
        active.behave(
            order=rng.permutation(6).tolist(), extra=k % 2 == 0, velocities=k % 3 > 0, gripper=k > 4
        )
        active.graph.after(0.3)
    assert active.state == "active"
    assert active.speed < 1e-9  # a joint taken for another one would make it move
    active.behave(force=[0, 0, 10, 0, 0, 0])
    z = active.tool[2]
    active.graph.until(lambda: active.tool[2] < z - 0.01)


def test_single_numbers_that_are_none_do_not_stop_the_arm(active: Stage):
    active.behave(nan_joints=1)
    active.graph.after(0.3)
    active.behave(nan_wrench=1)
    active.graph.after(0.3)
    assert active.state == "active" and active.speed < 1e-9


@pytest.mark.parametrize(
    ("how", "stop", "words"),
    [
        ({"joints": False}, "no good joint sample", ""),
        ({"wrench": False}, "no good wrench sample", ""),
        ({"nan_joints": MANY}, "no good joint sample", ""),
        ({"nan_wrench": MANY}, "no good wrench sample", ""),
        ({"missing": 2}, "no good joint sample", "it lacks wrist_2_joint, wrist_3_joint"),
    ],
)
def test_a_source_that_fails_while_the_arm_moves_stops_it_until_reset(
    active: Stage, how, stop, words
):
    active.behave(force=[0, 0, 20, 0, 0, 0])
    active.graph.until(lambda: active.speed > 0.05)
    active.behave(**how)
    active.expect_stop(stop)
    active.until_said(words)
    answer = active.trigger("reset")
    assert not answer.success and answer.message.startswith("reset: ")
    active.graph.until(lambda: active.speed == 0.0)
    active.graph.after(0.3)
    active.commands.clear()
    active.graph.after(0.3)
    assert not active.commands
    recover(active)


def test_an_arm_whose_process_dies_may_come_back(active: Stage):
    active.behave(force=[0, 0, 20, 0, 0, 0])
    active.graph.until(lambda: active.speed > 0.05)
    active.kill_arm()
    active.expect_stop("no good joint sample")
    active.revive_arm()
    recover(active)
    active.behave(force=[0, 0, 20, 0, 0, 0])
    active.graph.until(lambda: active.speed > 0.05)


@pytest.mark.parametrize("topic", ["/joint_states", "/wrist_ft_sensor"])
def test_two_that_send_on_one_topic_are_one_too_many(stage: Stage, topic: str):
    if topic == "/joint_states":
        message: Any = JointState(name=MODEL.joint_names, position=MODEL.home.tolist())
    else:
        message = WrenchStamped()
        message.header.frame_id = "tool0"
    rival = stage.graph.publisher(type(message), topic)
    words = f"2 publishers send on {topic}; what to do: keep one"

    def send() -> None:
        rival.publish(message)

    stage.graph.known_to(NODE)
    stage.graph.after(0.3, send)
    change = stage.begin_change("activate")
    stage.graph.until_in_step(change.done, send)
    assert not change.result().success
    stage.until_said(words)
    stage.activate()  # it has fallen silent
    clock, sent = stage.graph.simulate_time(), 0.0

    def send_seldom() -> None:
        """Two messages at once look as if the node were late, and twice a second is too often."""
        nonlocal sent
        if clock.now() - sent > 1.1:
            sent = clock.now()
            send()

    stop, _, _ = words.partition(";")
    stage.graph.until(lambda: stage.said(f"the arm was stopped: {stop}"), send_seldom)
    stage.expect_stop(stop)
    stage.graph.node.destroy_publisher(rival)
    recover(stage)


# --- a planned motion ---


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
    active.until_said(f"{TOPIC}: following a plan of 3.0 s")
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


def test_while_a_plan_is_followed_those_of_other_publishers_are_refused(active: Stage):
    planner, other = (active.graph.publisher(JointTrajectory, TOPIC) for _ in range(2))
    active.graph.known_to(NODE)
    planner.publish(trajectory(seconds=6))
    active.until_said(f"{TOPIC}: following a plan of 6.0 s")
    stray = trajectory(-TURN, seconds=6)
    words = f"{TOPIC}: refused: a plan of another publisher is being followed"
    active.graph.until(lambda: active.said(words), lambda: other.publish(stray))
    active.graph.after(1.0, lambda: other.publish(stray))
    active.graph.until(lambda: active.speed > 0.05)
    assert not active.said("ended")
    turned = active.joints[0] - MODEL.home[0]
    assert 0.0 < turned < TURN, "it goes on as its own planner wants"
    planner.publish(trajectory(turned + 0.1))
    active.until_said("ended: another trajectory takes its place")
    other.publish(JointTrajectory())  # to stop is anybody's right
    active.until_said("ended: an empty trajectory came")
    other.publish(trajectory(active.joints[0] - MODEL.home[0] + 0.05, seconds=2))
    active.until_said(f"{TOPIC}: following a plan of 2.0 s")
    active.until_said(f"{TOPIC}: reached")
    assert active.state == "active"
