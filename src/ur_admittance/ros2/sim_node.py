"""The simulated arm as a ROS 2 process: the other side of the graph where there is no robot.

It publishes what `ur_robot_driver` and a sensor's driver would, and obeys the same commands. Every
cycle, at an absolute deadline: take the newest commands, let the arm live through the cycle,
publish its state. Commands are polled, as the driver does: an executor would take longer than the
physics.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from ur_admittance.config.validate import six
from ur_admittance.errors import RobotError
from ur_admittance.realtime import Deadlines
from ur_admittance.robots.base import State
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.sim import Hand, SimRobot
from ur_admittance.run.signals import signals

PUSH = "/sim/push"
PUSH_SECONDS = 1.0  # how long a push from outside lasts, unless it is renewed
QUALITY = QoSProfile(depth=10)  # reliable, as the driver's: that serves subscribers of either kind
_COMMANDED = QoSProfile(depth=100)  # none is lost while this process is held up
_MOST_MADE_UP = 1.0  # s: after a longer pause the arm goes on from where it was


@dataclass
class Served:
    """What a simulated arm did on the graph.

    Attributes:
        seconds: how long.
        cycles: states published.
        missed: cycles whose time had passed: the arm lived through them, unpublished.
        commands: obeyed.
        refused: commands that made no sense.
        lost: messages that were sent to it and never arrived, as their senders count them.
    """

    seconds: float = 0.0
    cycles: int = 0
    missed: int = 0
    commands: int = 0
    refused: int = 0
    lost: int = 0


class Pushes:
    """The hand on the tool: a script whose time begins with the first command, and whoever pushes
    from outside.
    """

    def __init__(self, script: Hand | None) -> None:
        self._script, self._began = script, np.inf
        self._wrench, self._until = np.zeros(6), -np.inf

    def begin(self, t: float) -> None:
        """Start the script now, s of simulated time, unless it has started."""
        self._began = min(self._began, t)

    def push(self, wrench: np.ndarray, t: float) -> None:
        """Push with `wrench` [force; torque] at P in W axes, N and Nm, from now on."""
        self._wrench, self._until = wrench, t + PUSH_SECONDS

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        total = np.zeros(6)
        if self._script is not None and t >= self._began:
            total += np.asarray(self._script(t - self._began, X_WP, V_WP))
        return total + self._wrench if t < self._until else total


class SimNode:
    """A `SimRobot` on the graph. The robot is connected and not in real time: the node paces it."""

    def __init__(self, node: Any, robot: SimRobot, *, repeat: bool = False) -> None:
        """
        Args:
            node: an rclpy node that no executor spins.
            robot: the arm. Its hand, if any, begins with the first command.
            repeat: go on with the last velocity for ever, as `forward_velocity_controller` does,
                instead of braking after 20 ms of silence.
        """
        self.served = Served()
        self._node, self._robot, self._repeat = node, robot, repeat
        self._repeated: list[float] | None = None
        self._pushes = robot.hand = Pushes(robot.hand)
        model = robot.model
        self._names = list(model.joint_names)
        self._joints = JointState(name=self._names)
        self._wrench = WrenchStamped()
        for message, frame in ((self._joints, model.base), (self._wrench, model.tip)):
            message.header.frame_id = frame
        self._wrenches = [
            node.create_publisher(WrenchStamped, topic, QUALITY)
            for topic in (topics.WRIST_FT, topics.NETFT_RAW)
        ]
        self._states = node.create_publisher(JointState, topics.JOINT_STATES, QUALITY)
        description = node.create_publisher(String, topics.ROBOT_DESCRIPTION, wire.LATCHED)
        description.publish(String(data=model.to_urdf()))
        self._inputs = [
            (topic, wire.Inbox(node, kind, topic, _COMMANDED), obey)
            for kind, topic, obey in (
                (Float64MultiArray, topics.VELOCITY_COMMANDS, self._velocity),
                (Float64MultiArray, topics.POSITION_COMMANDS, self._position),
                (JointTrajectory, topics.JOINT_TRAJECTORY, self._trajectory),
                (WrenchStamped, PUSH, self._push),
            )
        ]

    def run(self, seconds: float | None = None) -> Served:
        """Live in real time until `seconds` have passed, or Ctrl-C, SIGTERM or a closed terminal.

        Raises:
            RobotError: the arm came to the end of a joint's range, or its physics diverged.
        """
        robot, served = self._robot, self.served
        deadlines = Deadlines(1.0 / robot.rate)
        ros_minus_monotonic = self._node.get_clock().now().nanoseconds - time.monotonic_ns()
        most = round(_MOST_MADE_UP * robot.rate)
        with signals() as asked:
            while not asked and (seconds is None or robot.time < seconds):
                due = deadlines.wait()
                for _ in range(min(deadlines.missed - served.missed, most)):
                    self._keep_going()
                    robot.wait()
                served.missed = deadlines.missed
                self._keep_going()
                self._obey()
                self._publish(robot.wait(), round(due * 1e9) + ros_minus_monotonic)
                served.cycles += 1
                served.seconds = robot.time
        served.lost = sum(inbox.lost for _, inbox, _ in self._inputs)
        return served

    def _publish(self, state: State, nanoseconds: int) -> None:
        """Wrench first: whoever runs by the joint states has it then."""
        stamp = self._joints.header.stamp
        stamp.sec, stamp.nanosec = divmod(nanoseconds, 1_000_000_000)
        self._wrench.header.stamp = stamp
        wire.fill_wrench(self._wrench.wrench, state.wrench)
        for publisher in self._wrenches:
            publisher.publish(self._wrench)
        self._joints.position = state.q.tolist()
        self._joints.velocity = state.qd.tolist()
        self._states.publish(self._joints)

    # --- commands ---

    def _keep_going(self) -> None:
        if self._repeat and self._repeated is not None:
            self._robot.send_velocity(self._repeated)

    def _obey(self) -> None:
        """Do what was said since the last cycle; the last word counts."""
        for topic, inbox, obey in self._inputs:
            for message in inbox.new():
                try:
                    obey(message)
                except RobotError as error:
                    self.served.refused += 1
                    self._node.get_logger().warning(
                        f"{topic}: ignored: {error}", throttle_duration_sec=1.0
                    )
                    continue
                if topic != PUSH:
                    self.served.commands += 1
                    self._pushes.begin(self._robot.time)

    def _velocity(self, message: Any) -> None:
        self._robot.send_velocity(message.data)
        self._repeated = list(message.data)

    def _position(self, message: Any) -> None:
        self._robot.send_position(message.data)
        self._repeated = None

    def _trajectory(self, message: Any) -> None:
        """One point, as a controller streams them; longer trajectories are a planner's."""
        if sorted(message.joint_names) != sorted(self._names):
            raise RobotError(
                f"joint_names must be {', '.join(self._names)}, got {list(message.joint_names)}"
            )
        if len(message.points) != 1:
            raise RobotError(f"this arm takes one point at a time, got {len(message.points)}")
        (point,) = message.points
        seconds = _seconds(point.time_from_start)
        start, now = _seconds(message.header.stamp), self._node.get_clock().now()
        if start > 0.0 and start + seconds < 1e-9 * now.nanoseconds:
            raise RobotError("the trajectory ends in the past; a stamp of 0 means from now on")
        order = [message.joint_names.index(name) for name in self._names]
        velocities = point.velocities or np.zeros(6)
        if not len(point.positions) == len(velocities) == 6:
            raise RobotError(
                f"a point needs six positions [rad] and six velocities [rad/s] or none, got "
                f"{len(point.positions)} and {len(point.velocities)}"
            )
        q_ref, qd = np.array(point.positions)[order], np.array(velocities)[order]
        self._robot.send_trajectory(q_ref, qd, max(seconds, 1.0 / self._robot.rate))
        self._repeated = None

    def _push(self, message: Any) -> None:
        base = self._robot.model.base
        if message.header.frame_id not in ("", base):
            raise RobotError(f"frame_id must be {base!r} or empty, got {message.header.frame_id!r}")
        wrench = six(PUSH, "wrench", "N, Nm", wire.six_of_wrench(message.wrench))
        self._pushes.push(wrench, self._robot.time)


def _seconds(time: Any) -> float:
    return time.sec + 1e-9 * time.nanosec
