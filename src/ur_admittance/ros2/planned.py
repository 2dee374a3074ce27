"""`~/joint_trajectory`: a planned motion, checked, and handed to the controller tick by tick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.trajectory import Follower, JointPath

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_SOON = 1.0  # s, by which a stamp may lie in the past and mean now
FOLLOWING = "following"


class Planned:
    """At most one plan at a time: a new one takes the place of the one before.

    Attributes:
        outcome: of the last plan, in words; "" before the first.
    """

    def __init__(self, node: Any, io: Any, warn: Callable[[str], None]) -> None:
        """
        Args:
            node: whose names, clock and log it uses.
            io: a node that no executor spins.
            warn: told why a message was refused.
        """
        self._node, self._warn = node, warn
        self._name = node.real(topics.REFERENCE_TRAJECTORY)
        self._inbox = wire.Inbox(io, JointTrajectory, self._name, wire.COMMAND)
        self._follower: Follower | None = None
        self.outcome = ""

    def hand_to(self, controller: Controller | None) -> bool:
        """Take a plan that has arrived, or go on with the one there is; once a tick. Without a
        controller it is refused, or ends.

        Returns whether a plan was taken over.
        """
        message, taken = self._inbox.newest(), False
        if controller is None or controller.mode not in ("active", "holding"):
            self.end("the arm does not give way any more")
        if message is not None:
            try:
                taken = self._begin(message, controller)
            except AdmittanceError as error:
                self._warn(f"{self._name}: refused: {error}")
        if controller is not None and self._follower is not None:
            self._go_on(self._follower, controller)
        return taken

    def end(self, why: str) -> None:
        """The plan, if there is one, is followed no further."""
        if self._follower is not None:
            self._follower, self.outcome = None, why
            self._node.get_logger().warning(f"{self._name}: ended: {why}")

    @property
    def words(self) -> str:
        """How it goes, for the diagnostics."""
        if (follower := self._follower) is None:
            return self.outcome or "none"
        done = 100.0 * follower.t / max(follower.path.seconds, 1e-9)
        return f"{FOLLOWING}, {min(done, 100.0):.0f} % done, pace {100 * follower.pace:.0f} %"

    def _begin(self, message: Any, controller: Controller | None) -> bool:
        if controller is None or controller.mode != "active":
            raise RobotError("the arm does not give way now; activate the node first")
        if not message.points:
            self.end("an empty trajectory came: it stays where it is")
            return True
        self._check_stamp(message.header.stamp)
        model, q = controller.model, np.array(controller.outputs["q"][0])
        path = path_of(message, model.joint_names, q)
        if problem := path.problem(model, q):
            raise RobotError(problem)
        self.end("another trajectory takes its place")
        self._follower = Follower(model, path)
        self.outcome = FOLLOWING
        free = [
            axis for axis, k in zip(_AXES, controller.state["stiffness"][0], strict=True) if not k
        ]
        aside = f"; pushed aside along {', '.join(free)} it will not come back" if free else ""
        self._node.get_logger().info(
            f"{self._name}: following {len(message.points)} points, {path.seconds:.1f} s{aside}"
        )
        return True

    def _go_on(self, follower: Follower, controller: Controller) -> None:
        out = controller.outputs[0]
        dt = float(out["dt"]) if controller.mode == "active" else 0.0
        follower.follow(dt, out["X_WP"])
        X_WD, V_WD = follower.desired
        if not follower.outcome:
            controller.set_desired(X_WD, V_WD)
            return
        controller.set_desired(X_WD)
        if follower.outcome == "reached":
            self._follower, self.outcome = None, "reached"
            self._node.get_logger().info(f"{self._name}: reached")
        else:
            self.end(follower.outcome)

    def _check_stamp(self, stamp: Any) -> None:
        if not (stamp.sec or stamp.nanosec):
            return
        seconds = 1e-9 * self._node.get_clock().now().nanoseconds - stamp.sec - 1e-9 * stamp.nanosec
        if not 0.0 <= seconds <= _SOON:
            when = f"{abs(seconds):.1f} s {'ago' if seconds > 0 else 'from now'}"
            raise RobotError(f"its stamp is {when}; it must be 0, which means now, or now")


def path_of(message: Any, joints: tuple[str, ...], q: np.ndarray) -> JointPath:
    """The path of a trajectory_msgs/JointTrajectory, its joints in our order.

    One whose first point comes later than at once begins at rest at `q` (6,) rad.
    """
    names = list(message.joint_names)
    if sorted(names) != sorted(joints):
        raise RobotError(f"its joints are {', '.join(names)}; they must be {', '.join(joints)}")
    order = [names.index(joint) for joint in joints]
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
    parts: list[Any] = []
    for name in ("positions", "velocities", "accelerations"):
        rows = [list(getattr(point, name)) for point in message.points]
        if name != "positions" and not any(rows):
            parts.append(None)
            continue
        if any(len(row) != len(names) for row in rows):
            raise RobotError(f"each point must have {len(names)} {name}, or none has any")
        given = np.array(rows)[:, order]
        parts.append(given)
    if times[0] > 0.0:
        times = [0.0, *times]
        first = (q, np.zeros(6), np.zeros(6))
        parts = [
            None if p is None else np.vstack([f, p]) for f, p in zip(first, parts, strict=True)
        ]
    return JointPath(times, *parts)
