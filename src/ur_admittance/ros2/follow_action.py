"""`~/follow_joint_trajectory`: the action that MoveIt sends its plans to, where the user's ROS has
control_msgs. Its goals are plans as those on `~/joint_trajectory`, see `planned.py`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.action.server import ActionServer, CancelResponse, GoalResponse
from trajectory_msgs.msg import JointTrajectoryPoint

from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.motion.joints import Follower, JointPath, Tolerances
from ur_admittance.motion.pace import PATIENCE
from ur_admittance.robots.ros2 import topics

if TYPE_CHECKING:
    from ur_admittance.ros2.node import AdmittanceNode

_FEEDBACK = 0.05  # s between two
CANCELLED = "it was cancelled"


class _Server(ActionServer):
    """rclpy's, but nothing is scheduled when a goal begins: the loop follows it tick by tick."""

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)


class _Moment:
    """Awaited, lets the executor look again when requests are served next."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class FollowAction:
    """The door. At most one goal at a time, and it is the plan that is followed."""

    def __init__(self, node: AdmittanceNode, kind: Any) -> None:
        """
        Args:
            kind: control_msgs/action/FollowJointTrajectory.
        """
        self._node, self._kind = node, kind
        self._name = node.real(topics.FOLLOW_TRAJECTORY)
        self._accepted: tuple[JointPath, Tolerances] | None = None
        self._handle: Any = None  # of the goal that is followed, or was last
        self._server = _Server(
            node,
            kind,
            topics.FOLLOW_TRAJECTORY,
            execute_callback=lambda goal: kind.Result(),  # see `_Server`
            goal_callback=self._asked,  # type: ignore[arg-type]  (awaited, if it can be)
            handle_accepted_callback=self._begin,
            cancel_callback=self._cancel,
            callback_group=node.patient,
        )

    async def _asked(self, goal: Any) -> GoalResponse:
        """Whether a goal can be followed; else the log says why not. One that comes right after an
        activation waits for the first tick.
        """
        node = self._node
        while node.state == "active" and not (node.looping or node.stopped):
            await _Moment()
        try:
            controller = node.controller if node.looping else None
            path = node.upkeep.planned.checked(goal.trajectory, controller, self._name)
            self._accepted = path, tolerances_of(goal, node.parameters.config.joints)
        except AdmittanceError as error:
            node.upkeep.warn(f"{self._name}: refused: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _begin(self, handle: Any) -> None:
        _, controller = self._node.configured("follow")
        if self._accepted is None:
            raise RobotError(f"{self._name}: begun without a goal")
        (path, tolerances), self._accepted, self._handle = self._accepted, None, handle
        handle.execute()
        self._node.arming.hand_over()
        asker = _Goal(self._node, self._server, self._kind, handle)
        self._node.upkeep.planned.begin(path, controller, self._name, asker, tolerances)

    def _cancel(self, handle: Any) -> CancelResponse:
        if handle != self._handle:  # another has taken its place
            return CancelResponse.REJECT
        self._node.upkeep.planned.brake(CANCELLED)
        return CancelResponse.ACCEPT


class _Goal:
    """One goal: tells how it goes, and how it ended."""

    def __init__(self, node: Any, server: _Server, kind: Any, handle: Any) -> None:
        self._node, self._server, self._kind, self._handle = node, server, kind, handle
        self._due = 0.0
        self._feedback = kind.Feedback(joint_names=list(node.parameters.config.joints))

    def goes_on(self, follower: Follower, out: np.void) -> None:
        self._due -= float(out["dt"])
        if self._due > 0.0:
            return
        self._due = _FEEDBACK
        q, qd = follower.joints
        message = self._feedback
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.desired = _point(follower.t, q, qd)
        message.actual = _point(follower.t, out["q"])
        message.error = _point(follower.t, q - out["q"])
        self._handle.publish_feedback(message)

    def ended(self, follower: Follower, why: str) -> None:
        """The answer is sent when requests are served next."""
        self._server.notify_execute(self._handle, partial(self._result, follower, why))

    def _result(self, follower: Follower, why: str, handle: Any) -> Any:
        result = self._kind.Result(error_string="" if why == "reached" else why)
        if why == "reached":
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            late = follower.t >= follower.seconds
            if follower.outcome != why:  # others have ended it
                result.error_code = result.INVALID_GOAL
            else:
                result.error_code = (
                    result.GOAL_TOLERANCE_VIOLATED if late else result.PATH_TOLERANCE_VIOLATED
                )
            handle.abort()
        return result


def offered(node: AdmittanceNode) -> FollowAction | None:
    """The action, or None where this ROS has no control_msgs."""
    try:
        kind = importlib.import_module("control_msgs.action").FollowJointTrajectory
    except ImportError:
        return None
    return FollowAction(node, kind)


def tolerances_of(goal: Any, joints: Sequence[str]) -> Tolerances:
    """What a goal says of how well it is to be followed: angles of the joints, and a time.

    As everywhere in ROS, 0 is the default of whoever follows it, and -1 is no limit.

    Raises:
        RobotError: it asks for what is not looked at here, or of a joint that is not there.
    """
    if goal.multi_dof_trajectory.points or goal.multi_dof_trajectory.joint_names:
        raise RobotError("it has a multi_dof_trajectory; the arm has joints of one axis only")
    if goal.component_path_tolerance or goal.component_goal_tolerance:
        raise RobotError("it has tolerances of components; only those of joints are known here")
    path = _angles(goal.path_tolerance, joints, "path_tolerance")
    there = None
    if any(tolerance.position for tolerance in goal.goal_tolerance):
        there = _angles(goal.goal_tolerance, joints, "goal_tolerance")
    time = goal.goal_time_tolerance
    seconds = time.sec + 1e-9 * time.nanosec
    patience = seconds if seconds > 0.0 else math.inf if seconds < 0.0 else PATIENCE
    return Tolerances(path, there, patience)


def _angles(given: Any, joints: Sequence[str], name: str) -> np.ndarray:
    """(6,) rad; infinite where nothing is said."""
    angles = np.full(len(joints), math.inf)
    for tolerance in given:
        if tolerance.name not in joints:
            raise RobotError(
                f"{name}: {tolerance.name!r} is no joint; they are {', '.join(joints)}"
            )
        if tolerance.velocity > 0.0 or tolerance.acceleration > 0.0:
            raise RobotError(f"{name} of {tolerance.name}: only that of its position is known here")
        if not tolerance.position >= -1.0:
            raise RobotError(f"{name} of {tolerance.name}: must be > 0 rad, 0 or -1")
        if tolerance.position > 0.0:
            angles[list(joints).index(tolerance.name)] = tolerance.position
    return angles


def _point(t: float, q: np.ndarray, qd: np.ndarray | None = None) -> Any:
    point = JointTrajectoryPoint(positions=q.tolist())
    point.velocities = [] if qd is None else qd.tolist()
    point.time_from_start.sec = int(t)
    point.time_from_start.nanosec = int(1e9 * (t % 1.0))
    return point
