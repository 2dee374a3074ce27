"""A planned motion, checked, and handed to the controller tick by tick: one planner with two doors,
`~/joint_trajectory` here, and the action in `follow_action.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.motion.base import must_follow
from ur_admittance.motion.joints import Follower, JointPath, Tolerances
from ur_admittance.robots.ros2 import topics, wire

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_SOON = 1.0  # s, by which a stamp may lie in the past and mean now
FOLLOWING = "following"


class Asker(Protocol):
    """Who asked for a plan, and wants to know how it goes."""

    def goes_on(self, follower: Follower, out: np.void) -> None:
        """After a tick with these outputs."""
        ...

    def ended(self, follower: Follower, why: str) -> None:
        """With 'reached', or why not."""
        ...


class Planned:
    """At most one plan at a time. Only whoever sent it may replace it, until it has ended.

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
        self._asker: Asker | None = None
        self._door, self._sender = self._name, b""
        self.outcome = ""

    def hand_to(self, controller: Controller | None) -> bool:
        """Take a plan that has arrived, or go on with the one there is; once a tick. Without a
        controller it is refused, or ends.

        Returns whether a plan was taken over from the topic.
        """
        taken, newest = False, {}
        for message in self._inbox.new():
            newest[self._inbox.sender] = message
        if controller is None or controller.mode not in ("active", "holding"):
            self.end("the arm does not give way any more")
        for sender, message in newest.items():
            try:
                self._take(message, controller, sender)
                taken = True
            except AdmittanceError as error:
                self._warn(f"{self._name}: refused: {error}")
        if controller is not None and self._follower is not None:
            self._go_on(self._follower, controller)
        return taken

    def checked(
        self, message: Any, controller: Controller | None, door: str, sender: bytes = b""
    ) -> JointPath:
        """The path of a trajectory_msgs/JointTrajectory, for an arm that can follow it now.

        Args:
            door: where it came from.
            sender: who sent it there, as DDS numbers endpoints; b"": not known.

        Raises:
            AdmittanceError: it cannot; the message says why.
        """
        controller = _giving_way(controller)
        if self._follower is not None and (door, sender) != (self._door, self._sender):
            other = "another publisher" if door == self._door else self._door
            raise RobotError(
                f"a plan of {other} is being followed, and only who sent it may replace it; wait "
                "for its end, or end it with an empty trajectory"
            )
        must_follow(controller.params[0]["velocity_gain"])
        self._check_stamp(message.header.stamp)
        model, q = controller.model, np.array(controller.outputs["q"][0])
        path = path_of(message, model.joint_names, q)
        if problem := path.problem(model, q):
            raise RobotError(problem)
        return path

    def begin(
        self,
        path: JointPath,
        controller: Controller,
        door: str,
        asker: Asker | None = None,
        tolerances: Tolerances | None = None,
        sender: bytes = b"",
    ) -> None:
        """Follow a path from the next tick on, in the place of the one before.

        Args:
            path: as `checked`; door and sender, too.
        """
        self.end("another trajectory takes its place")
        self._follower = Follower(controller.model, path, tolerances)
        self._asker, self._door, self._sender = asker, door, sender
        self.outcome = FOLLOWING
        free = [
            axis for axis, k in zip(_AXES, controller.state["stiffness"][0], strict=True) if not k
        ]
        aside = f"; pushed aside along {', '.join(free)} it will not come back" if free else ""
        self._node.get_logger().info(f"{door}: following a plan of {path.seconds:.1f} s{aside}")

    def brake(self, why: str) -> None:
        """The plan, if there is one, slows down along its way, and then ends."""
        if self._follower is not None:
            self._follower.brake(why)

    def end(self, why: str) -> None:
        """The plan, if there is one, is followed no further."""
        if (follower := self._follower) is None:
            return
        asker, self._follower, self._asker, self.outcome = self._asker, None, None, why
        log = self._node.get_logger()
        if why == "reached":
            log.info(f"{self._door}: reached")
        else:
            log.warning(f"{self._door}: ended: {why}")
        if asker is not None:
            asker.ended(follower, why)

    @property
    def words(self) -> str:
        """How it goes, for the diagnostics."""
        if (follower := self._follower) is None:
            return self.outcome or "none"
        done = 100.0 * follower.t / max(follower.seconds, 1e-9)
        return f"{FOLLOWING}, {done:.0f} % done, pace {100 * follower.pace:.0f} %"

    def _take(self, message: Any, controller: Controller | None, sender: bytes) -> None:
        controller = _giving_way(controller)
        if not message.points:  # to stop is anybody's right
            self.brake("an empty trajectory came: it stays where it is")
        else:
            path = self.checked(message, controller, self._name, sender)
            self.begin(path, controller, self._name, sender=sender)

    def _go_on(self, follower: Follower, controller: Controller) -> None:
        out = controller.outputs[0]
        goal = follower.step(out)
        if self._asker is not None:
            self._asker.goes_on(follower, out)
        if goal is not None:
            controller.set_desired(*goal)
        if follower.outcome:
            self.end(follower.outcome)

    def _check_stamp(self, stamp: Any) -> None:
        if not (stamp.sec or stamp.nanosec):
            return
        seconds = 1e-9 * self._node.get_clock().now().nanoseconds - stamp.sec - 1e-9 * stamp.nanosec
        if not 0.0 <= seconds <= _SOON:
            when = f"{abs(seconds):.1f} s {'ago' if seconds > 0 else 'from now'}"
            raise RobotError(f"its stamp is {when}; it must be 0, which means now, or now")


def _giving_way(controller: Controller | None) -> Controller:
    if controller is None:
        raise RobotError("the arm does not give way now; activate the node first")
    if controller.mode != "active":
        raise RobotError(f"the arm does not give way now, it is {controller.mode}")
    return controller


def path_of(message: Any, joints: tuple[str, ...], q: np.ndarray) -> JointPath:
    """The path of a trajectory_msgs/JointTrajectory, its joints in our order.

    One whose first point comes later than at once begins at rest at `q` (6,) rad.
    """
    names = list(message.joint_names)
    if not message.points:
        raise RobotError("it has no points")
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
