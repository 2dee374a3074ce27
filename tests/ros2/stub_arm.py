"""A process that plays the driver, well or badly: joints that do as they are told, and a sensor.

Its pace is that of `time`, which may be simulated (`clock.py`). It is told how to behave by lines
on its standard input, each a JSON object with some of the fields of `Behaviour`. It answers each
with a line, when the messages that show it have been sent, and ends with its input.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

import numpy as np
import rclpy
from geometry_msgs.msg import TransformStamped, WrenchStamped
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from ur_admittance import RobotModel

MODEL = RobotModel.ur("ur5e")
PATIENCE = 120  # s, for a busy machine
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass
class Behaviour:
    """What the arm does. `{}` changes nothing; each field stays as it was last told."""

    joints: bool = True  # publish joint states
    wrench: bool = True  # publish wrenches
    order: list[int] = field(default_factory=lambda: list(range(6)))  # of the names
    extra: bool = False  # a joint more, in front
    missing: int = 0  # names left out at the end
    every: int = 1  # cycle has a joint state
    velocities: bool = True  # joint states have them
    nan_joints: int = 0  # so many messages with NaN
    nan_wrench: int = 0
    force: list[float] = field(default_factory=lambda: [0.0] * 6)  # the wrench
    noise: float = 1e-12  # Nm, as a real sensor has some
    frame: str = "tool0"
    drift: float = 0.0  # rad/s of the first joint, whatever is commanded
    gripper: bool = False  # another device's joint states, on the same topic
    transforms: list[Any] = field(default_factory=list)  # on /tf: parent, child, [p; xyzw]
    home: bool = True  # be there once, at once
    description: str | None = None  # published when told
    die: bool = False  # at once, as with -9


def main(rate: float) -> None:
    with suppress(PermissionError):  # so that a busy machine does not make it late
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
    rclpy.init()
    node = rclpy.create_node("stub_arm")
    joints = node.create_publisher(JointState, "/joint_states", 10)
    wrenches = node.create_publisher(WrenchStamped, "/wrist_ft_sensor", 10)
    descriptions = node.create_publisher(String, "/robot_description", LATCHED)
    broadcast = Broadcast(node)
    commands: list[Any] = []
    inbox = node.create_subscription(
        Float64MultiArray, "/forward_velocity_controller/commands", commands.append, 1
    )
    os.set_blocking(sys.stdin.fileno(), False)
    behaviour, q, qd, told = Behaviour(), MODEL.home.copy(), np.zeros(6), 0.0
    due, rest, cycle = time.monotonic(), "", 0
    while (news := _told()) is not None:
        due += 1.0 / rate
        time.sleep(max(0.0, due - time.monotonic()))
        lines = (rest + news).split("\n")
        rest = lines.pop()
        for line in lines:
            for name, value in json.loads(line).items():
                setattr(behaviour, name, value)
            if behaviour.die:
                os.kill(os.getpid(), signal.SIGKILL)
            if behaviour.description is not None:
                descriptions.publish(String(data=behaviour.description))
                behaviour.description = None
                descriptions.wait_for_all_acked(Duration(seconds=PATIENCE))
        with inbox.handle:
            while (taken := inbox.handle.take_message(Float64MultiArray, False)) is not None:
                qd, told = np.array(taken[0].data), time.monotonic()
        if behaviour.home:
            q, behaviour.home = MODEL.home.copy(), False
        if time.monotonic() - told > 5.0 / rate:
            qd = np.zeros(6)
        moves = qd + np.array([behaviour.drift, 0, 0, 0, 0, 0])
        q = q + moves / rate
        if behaviour.wrench:
            wrenches.publish(_wrench(behaviour))
        broadcast(behaviour.transforms)
        if behaviour.gripper:
            joints.publish(JointState(name=["finger_joint"], position=[0.1]))
        cycle += 1
        if behaviour.joints and cycle % behaviour.every == 0:
            joints.publish(_joints(behaviour, q, moves))
        for _ in lines:
            print("so it is", flush=True)
    node.destroy_node()
    rclpy.shutdown()


class Broadcast:
    """Publishes transforms on /tf, each in a message of its own; made with the first of them, since
    not every ROS has the type.
    """

    def __init__(self, node: Any) -> None:
        self._node, self._publisher, self._kind = node, cast(Any, None), cast(Any, None)

    def __call__(self, transforms: list[Any]) -> None:
        if transforms and self._publisher is None:
            self._kind = import_module("tf2_msgs.msg").TFMessage
            self._publisher = self._node.create_publisher(self._kind, "/tf", 100)
        for parent, child, numbers in transforms:
            message = TransformStamped(child_frame_id=child)
            message.header.frame_id = parent
            p, o = message.transform.translation, message.transform.rotation
            p.x, p.y, p.z, o.x, o.y, o.z, o.w = numbers
            self._publisher.publish(self._kind(transforms=[message]))


def _told() -> str | None:
    """What is new on the standard input; None at its end."""
    try:
        return os.read(sys.stdin.fileno(), 1 << 20).decode() or None
    except BlockingIOError:
        return ""


def _wrench(behaviour: Behaviour) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = behaviour.frame
    f, t = message.wrench.force, message.wrench.torque
    f.x, f.y, f.z, t.x, t.y, t.z = map(float, behaviour.force)
    behaviour.noise = -behaviour.noise
    t.z += behaviour.noise
    if behaviour.nan_wrench > 0:
        behaviour.nan_wrench -= 1
        f.x = math.nan
    return message


def _joints(behaviour: Behaviour, q: np.ndarray, qd: np.ndarray) -> JointState:
    order = behaviour.order[: 6 - behaviour.missing]
    message = JointState(name=[MODEL.joint_names[i] for i in order])
    position, velocity = q[order].tolist(), qd[order].tolist()
    if behaviour.nan_joints > 0:
        behaviour.nan_joints -= 1
        position[0] = math.nan
    if behaviour.extra:
        message.name = ["rail_joint", *message.name]
        position, velocity = [7.0, *position], [0.0, *velocity]
    message.position = position
    message.velocity = velocity if behaviour.velocities else []
    return message


if __name__ == "__main__":
    main(float(sys.argv[1]))
