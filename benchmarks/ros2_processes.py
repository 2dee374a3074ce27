"""The processes of `benchmarks.ros2`: an arm that sends states, and a node that only answers them.

python -m benchmarks.ros2_processes arm FILE RATE [tagged]
python -m benchmarks.ros2_processes answer WAY PRIORITY
"""

from __future__ import annotations

import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental.events_executor import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ur_admittance import RobotModel
from ur_admittance.realtime import Deadlines, RealTime, prepare
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.readers import JointReader, WrenchReader

RATE = 500.0  # Hz
STATES = {"joint_states": RATE, "timer": 2.0 * RATE}  # Hz, by what paces the node
PROCESSES = "benchmarks.ros2_processes"  # this module
WAYS = ("SingleThreadedExecutor", "EventsExecutor", "wait set, messages", "wait set, bytes")
"""How messages can be taken: by an executor of rclpy, or by a wait set of one's own; then as
message objects, or as bytes that are read in place.
"""
FIRST = "first answer"  # what the arm says when it comes
ROW = ("sent", "trip", "commands", "lost", "missed")
"""What the arm notes for each state: when it was sent [s], how long the command took [s]; and how
many commands had come, had got lost, and how many deadlines it had missed itself, so far.
"""

_MODEL = RobotModel.ur("ur5e")
ARM_PRIORITY = 60  # the robot is punctual, whatever the node is
_TAGGED = 1e3  # added to the number of a state, which is no joint angle then
_FORCE, _HERTZ = 10.0, 0.5  # N, Hz
_NOISE = 0.01  # N
_PUSH, _REST = 8.0, 2.0  # s: in turns, since an arm that is touched does not start again
_SILENT = 0.2  # s without a command, after which the arm is back at home and waits for none
_DEEP = QoSProfile(depth=1000)  # so that what is not there was lost, and not replaced


class Arm:
    """Sends a wrench and a joint state at each deadline, does what it is told, and keeps time."""

    def __init__(self, node: Any, rate: float) -> None:
        self._rate = rate
        self.rows: list[list[float]] = []
        self._states = node.create_publisher(JointState, topics.JOINT_STATES, 10)
        self._wrenches = node.create_publisher(WrenchStamped, topics.WRIST_FT, 10)
        self._commands = wire.Inbox(node, Float64MultiArray, topics.VELOCITY_COMMANDS, _DEEP)
        self._bell = wire.Bell(node, self._commands)
        self._state = JointState(name=list(_MODEL.joint_names))
        self._wrench = WrenchStamped()
        self._wrench.header.frame_id = "tool0"
        self._q, self._qd = _MODEL.home.copy(), np.zeros(6)
        self._open: deque[int] = deque()  # states without a command
        self._tagged, self._heard = False, 0.0

    def run(self, tagged: bool, ended: list[int]) -> None:
        """Until `ended`.

        Args:
            tagged: the first joint angle is the number of the state, and comes back as the first
                number of the command. Else a command answers all states before it.
        """
        self._tagged = tagged
        deadlines = Deadlines(1.0 / self._rate)
        while not ended:
            due = deadlines.wait()
            self._send(due)
            self.rows[-1][2:] = self._commands.count, self._commands.lost, deadlines.missed
            while self._open and (left := due + 0.95 / self._rate - time.monotonic()) > 0.0:
                self._bell.wait(left)
                self._obey()
            if time.monotonic() - self._heard > _SILENT:
                self._open.clear()
                self._q, self._qd = _MODEL.home.copy(), np.zeros(6)

    def _send(self, now: float) -> None:
        number = len(self.rows)
        self._q += self._qd / self._rate
        self._state.position = self._q.tolist()
        self._state.velocity = self._qd.tolist()
        if self._tagged:
            self._state.position[0] = _TAGGED + number
        # The wave is at zero at the beginning and the end of a push.
        pushed = self._heard > 0.0 and now % (_PUSH + _REST) < _PUSH
        force = _FORCE * np.sin(2.0 * np.pi * _HERTZ * now) if pushed else 0.0
        self._wrench.wrench.force.y = float(force)
        self._wrench.wrench.force.z = _NOISE * (number % 7)  # else it is taken for a frozen sensor
        self._open.append(number)
        self.rows.append([time.monotonic(), np.nan, 0.0, 0.0, 0.0])
        self._wrenches.publish(self._wrench)
        self._states.publish(self._state)

    def _obey(self) -> None:
        for message in self._commands.new():
            now = time.monotonic()
            if not self._heard:
                print(FIRST, flush=True)
                self._open.clear()  # they had not found each other yet
            self._heard = now
            if self._tagged:
                last = round(message.data[0] - _TAGGED)
            else:
                last, self._qd = len(self.rows), np.array(message.data)
            while self._open and self._open[0] <= last:
                row = self.rows[self._open.popleft()]
                row[1] = now - row[0]


def arm(file: str, rate: float, tagged: bool) -> None:
    """Be the arm until SIGTERM, then write all rows to a file."""
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    with wire.started():
        with wire.urgent(ARM_PRIORITY):
            node = rclpy.create_node("benchmark_arm", start_parameter_services=False)
        prepare(RealTime(ARM_PRIORITY, lock_memory=False, awake=False))
        made = Arm(node, rate)
        made.run(tagged, ended)
    np.save(file, np.array(made.rows))


def answer(way: str, priority: int) -> None:
    """Answer every joint state at once with a command, taking messages in one of the ways, until
    killed.
    """
    with wire.started():
        with wire.urgent(priority):
            node = rclpy.create_node("benchmark_node")
        prepare(RealTime(priority, awake=priority > 0))
        commands = node.create_publisher(Float64MultiArray, topics.VELOCITY_COMMANDS, wire.COMMAND)
        command = Float64MultiArray()
        q, qd, force = np.zeros(6), np.zeros(6), np.zeros(6)

        def reply() -> None:
            command.data = q.tolist()
            commands.publish(command)

        take = _taker(way, node, q, qd, force, reply)
        while True:
            take()


def _taker(way: str, node: Any, q: Any, qd: Any, force: Any, reply: Any) -> Callable[[], None]:
    """What waits for messages once, writes them down, and calls `reply` for a joint state."""

    def on_joints(message: Any) -> None:
        index = [message.name.index(name) for name in _MODEL.joint_names]
        q[:] = np.array(message.position)[index]
        qd[:] = np.array(message.velocity)[index]
        reply()

    def on_wrench(message: Any) -> None:
        force[:] = wire.six_of_wrench(message.wrench)

    if "Executor" in way:
        node.create_subscription(JointState, topics.JOINT_STATES, on_joints, wire.SENSOR)
        node.create_subscription(WrenchStamped, topics.WRIST_FT, on_wrench, wire.SENSOR)
        executor = SingleThreadedExecutor() if way.startswith("Single") else EventsExecutor()
        executor.add_node(node)
        return lambda: executor.spin_once(timeout_sec=0.1)
    raw = "bytes" in way
    joints = wire.Inbox(node, JointState, topics.JOINT_STATES, raw=raw)
    wrenches = wire.Inbox(node, WrenchStamped, topics.WRIST_FT, raw=raw)
    bell = wire.Bell(node, joints)
    joint_reader, wrench_reader = JointReader(_MODEL.joint_names), WrenchReader()

    def take() -> None:
        bell.wait(0.1)
        for data in wrenches.new():
            wrench_reader.read(data, force) if raw else on_wrench(data)
        for data in joints.new():
            if not raw:
                on_joints(data)
            elif joint_reader.read(data, q, qd):
                reply()

    return take


if __name__ == "__main__":
    role, *arguments = sys.argv[1:]
    if role == "arm":
        arm(arguments[0], float(arguments[1]), tagged="tagged" in arguments)
    else:
        answer(arguments[0], int(arguments[1]))
