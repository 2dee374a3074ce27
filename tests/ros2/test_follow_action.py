"""The action that MoveIt sends its plans to: a real FollowJointTrajectory client, over DDS."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from rclpy.action.client import ActionClient
from trajectory_msgs.msg import JointTrajectory

from tests.ros2.stage import NODE, Stage
from tests.ros2.stub_arm import MODEL
from tests.ros2.test_node_data import GOAL, TOPIC, trajectory
from ur_admittance.errors import RobotError

pytestmark = pytest.mark.slow

ACTION = f"{NODE}/follow_joint_trajectory"
STIFF = {"admittance.stiffness": [300.0] * 3 + [20.0] * 3}


@pytest.fixture(scope="module")
def needs() -> tuple[str, ...]:
    return ("control_msgs",)


class Client:
    """Sends goals, and keeps what it hears of them."""

    def __init__(self, stage: Stage) -> None:
        self._graph = stage.graph
        self.kind = import_module("control_msgs.action").FollowJointTrajectory
        self._client: Any = ActionClient(self._graph.node, self.kind, ACTION)
        self._graph.until(self._client.server_is_ready)
        self._graph.known_to(NODE)
        self.feedback: list[Any] = []

    def send(self, plan: Any, **more: Any) -> Any:
        """The answer to a goal."""
        self.feedback.clear()
        goal = self.kind.Goal(trajectory=plan, **more)
        asked = self._client.send_goal_async(
            goal, feedback_callback=lambda heard: self.feedback.append(heard.feedback)
        )
        self._graph.until(asked.done)
        return asked.result()

    def outcome(self, goal: Any) -> Any:
        """Status and result of a goal, when there are."""
        asked = goal.get_result_async()
        self._graph.until(asked.done)
        return asked.result()

    def cancel(self, goal: Any) -> Any:
        asked = goal.cancel_goal_async()
        self._graph.until(asked.done)
        return asked.result()

    def tolerance(self, **how: Any) -> Any:
        return import_module("control_msgs.msg").JointTolerance(**how)

    def close(self) -> None:
        self._client.destroy()


@pytest.fixture(scope="module")
def client(shared: Stage) -> Iterator[Client]:
    made = Client(shared)
    yield made
    made.close()


@pytest.fixture
def springy(active: Stage) -> Stage:
    """The node active, with springs that bring the arm back to its plan."""
    assert active.set(STIFF)[0].successful
    active.graph.after(1.5)  # gains are ramped
    return active


def test_a_goal_is_followed_with_feedback_pushed_aside_and_reached(springy: Stage, client: Client):
    goal = client.send(trajectory())
    assert goal.accepted
    springy.graph.until(lambda: np.linalg.norm(springy.tool - GOAL) < 0.25)
    springy.behave(force=[0, 0, 15, 0, 0, 0])
    springy.graph.until(lambda: springy.tool[2] < GOAL[2] - 0.03)
    springy.behave(force=[0] * 6)
    outcome = client.outcome(goal)
    assert outcome.status == GoalStatus.STATUS_SUCCEEDED
    assert (outcome.result.error_code, outcome.result.error_string) == (0, "")
    assert np.linalg.norm(springy.tool - GOAL) < 5e-3
    times = [f.desired.time_from_start.sec for f in client.feedback]
    assert times == sorted(times) and times[0] == 0 and times[-1] >= 2
    last = client.feedback[-1]
    assert list(last.joint_names) == list(MODEL.joint_names)
    off = np.array(last.desired.positions) - last.actual.positions
    np.testing.assert_allclose(last.error.positions, off)


def test_a_goal_that_cannot_be_followed_is_rejected_and_the_log_says_why(
    active: Stage, client: Client
):
    elsewhere, unknown = trajectory(1.0, seconds=0), trajectory()
    unknown.joint_names = ["elbow", *MODEL.joint_names[1:]]
    name = MODEL.joint_names[0]
    fast = client.tolerance(name=name, velocity=1.0)
    for plan, more, words in (
        (elsewhere, {}, f"it begins 1.000 rad from where {name} is"),
        (unknown, {}, "its joints are elbow, "),
        (trajectory(), {"path_tolerance": [fast]}, f"path_tolerance of {name}: only that of its"),
    ):
        assert not client.send(plan, **more).accepted
        active.until_said(f"{ACTION}: refused: {words}")
    assert active.change("deactivate")
    assert not client.send(trajectory()).accepted
    active.until_said(f"{ACTION}: refused: the arm does not give way now; activate the node first")


def test_a_cancelled_goal_brakes_along_its_plan_and_a_new_one_takes_over(
    springy: Stage, client: Client
):
    goal = client.send(trajectory(seconds=6))
    springy.graph.until(lambda: springy.speed > 0.05)
    assert client.cancel(goal).goals_canceling
    outcome = client.outcome(goal)
    assert outcome.status == GoalStatus.STATUS_CANCELED
    assert outcome.result.error_string == "it was cancelled"
    springy.graph.until(lambda: springy.speed < 1e-4)
    left = client.feedback[-1].desired.positions[0] - MODEL.home[0]
    assert 0.0 < left < 0.4
    home, tool = MODEL.fk(MODEL.home)[:3, 3], springy.tool
    assert abs(np.linalg.norm(tool[:2]) - np.linalg.norm(home[:2])) < 2e-3  # still on its arc

    desired = springy.graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    springy.graph.known_to(NODE)
    first = client.send(trajectory(left + 0.2))
    springy.graph.until(lambda: springy.speed > 0.05)
    second = client.send(trajectory(left))
    outcome = client.outcome(first)
    assert outcome.status == GoalStatus.STATUS_ABORTED
    assert outcome.result.error_string == "another trajectory takes its place"
    assert outcome.result.error_code == outcome.result.INVALID_GOAL
    pose = PoseStamped()
    pose.header.frame_id, pose.pose.orientation.w = "base_link", 1.0
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = springy.tool.tolist()
    ended = second.get_result_async()
    springy.graph.until(ended.done, lambda: desired.publish(pose))
    assert ended.result().result.error_string == "a desired pose or twist came"


def test_neither_door_takes_a_plan_away_from_the_other(springy: Stage, client: Client):
    publisher = springy.graph.publisher(JointTrajectory, TOPIC)
    springy.graph.known_to(NODE)
    publisher.publish(trajectory(seconds=6))
    springy.until_said(f"{TOPIC}: following a plan of 6.0 s")
    assert not client.send(trajectory(-0.1)).accepted
    springy.until_said(f"{ACTION}: refused: a plan of {TOPIC} is being followed")
    publisher.publish(JointTrajectory())
    springy.until_said("ended: an empty trajectory came")
    goal = client.send(trajectory(springy.joints[0] - MODEL.home[0] + 0.1))
    assert goal.accepted
    publisher.publish(trajectory(-0.1))
    springy.until_said(f"{TOPIC}: refused: a plan of {ACTION} is being followed")
    assert client.outcome(goal).status == GoalStatus.STATUS_SUCCEEDED


def test_a_goal_out_of_reach_under_contact_ends_with_the_reason(springy: Stage, client: Client):
    goal = client.send(trajectory())
    springy.behave(force=[0, 0, 40, 0, 0, 0])
    outcome = client.outcome(goal)
    assert outcome.status == GoalStatus.STATUS_ABORTED
    assert outcome.result.error_code == outcome.result.PATH_TOLERANCE_VIOLATED
    assert "it was held back: after 5 s the tool is still " in outcome.result.error_string
    springy.behave(force=[0] * 6)
    springy.graph.until(lambda: springy.speed < 1e-4)
    turn = springy.joints[0] - MODEL.home[0]
    tight = client.tolerance(name=MODEL.joint_names[0], position=1e-4)
    outcome = client.outcome(client.send(trajectory(turn + 0.3), path_tolerance=[tight]))
    assert outcome.result.error_code == outcome.result.PATH_TOLERANCE_VIOLATED
    words = f"{MODEL.joint_names[0]} was 0.0"
    assert words in outcome.result.error_string and "0.0001 was allowed" in (
        outcome.result.error_string
    )


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ({"multi_dof_trajectory": SimpleNamespace(points=[1], joint_names=[])}, "multi_dof"),
        ({"component_goal_tolerance": [1]}, "tolerances of components"),
        ({"goal_tolerance": [("elbow", 0.1)]}, "goal_tolerance: 'elbow' is no joint"),
        ({"goal_tolerance": [("elbow_joint", -2.0)]}, "must be > 0 rad, 0 or -1"),
        ({"goal_tolerance": [("elbow_joint", float("nan"))]}, "must be > 0 rad, 0 or -1"),
    ],
)
def test_tolerances_that_are_not_known_here_are_refused(goal: dict, words: str):
    from ur_admittance.ros2.follow_action import tolerances_of

    with pytest.raises(RobotError, match=words):
        tolerances_of(_goal(**goal), MODEL.joint_names)


def test_a_tolerance_of_zero_is_the_default_and_one_below_is_none():
    from ur_admittance.ros2.follow_action import tolerances_of

    plain = tolerances_of(_goal(), MODEL.joint_names)
    assert plain.goal is None and plain.patience == 5.0 and np.isinf(plain.path).all()
    told = tolerances_of(
        _goal(goal_tolerance=[("elbow_joint", 0.1), ("wrist_1_joint", -1.0)], seconds=2),
        MODEL.joint_names,
    )
    assert told.goal is not None and told.patience == 2.0
    assert told.goal[2] == 0.1 and np.isinf(np.delete(told.goal, 2)).all()


def _goal(seconds: int = 0, **parts: Any) -> Any:
    """What of a goal is looked at; tolerances are pairs of name and angle."""
    none = SimpleNamespace(points=[], joint_names=[])
    lists = ("path_tolerance", "component_path_tolerance", "goal_tolerance")
    made = {name: [] for name in (*lists, "component_goal_tolerance")}
    time = SimpleNamespace(sec=seconds, nanosec=0)
    goal = SimpleNamespace(
        **{"multi_dof_trajectory": none, **made, **parts}, goal_time_tolerance=time
    )
    for name in ("path_tolerance", "goal_tolerance"):
        given = [
            SimpleNamespace(name=joint, position=angle, velocity=0.0, acceleration=0.0)
            for joint, angle in getattr(goal, name)
        ]
        setattr(goal, name, given)
    return goal
