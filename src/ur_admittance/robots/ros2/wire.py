"""The edge to ROS 2: rclpy or a clear refusal, qualities of service, messages to arrays and back.

Whoever needs messages at the loop's pace takes them from an `Inbox`, without an executor, which
costs least (`benchmarks/ros2.py`); all else goes through a `SingleThreadedExecutor`.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import transform
from ur_admittance.errors import ModelError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.robots.ros2.topics import ROBOT_DESCRIPTION

try:
    import rclpy
    from geometry_msgs.msg import Pose, Twist, Wrench
    from rclpy.duration import Duration
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.signals import SignalHandlerOptions
    from std_msgs.msg import String
except ImportError as error:
    raise RobotError(
        f"ROS 2: {error}; source your ROS 2 ('source /opt/ros/<name>/setup.bash', its Python must "
        'be this one), or pip install "ur-admittance[ros2]"'
    ) from error

# 0.1 s at 500 Hz: a process that is late loses no message, one that is later stops the arm.
SENSOR = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
COMMAND = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
MONITOR = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
MANY = QoSProfile(depth=500, reliability=ReliabilityPolicy.BEST_EFFORT)
MANY_LATCHED = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

NAMELESS = "a node that has not said its name yet"
_NAMELESS = "_NODE_NAME_UNKNOWN_"  # rmw's word for it
_ENDLESS = math.pi  # rad/s, for a joint whose URDF has no speed: the last one of a UR3e


@contextmanager
def started() -> Iterator[None]:
    """ROS 2 initialised with the process's arguments (`--ros-args ...`), unless it is already.

    Signals stay with whoever handles them: Ctrl-C brakes the arm first.
    """
    if rclpy.ok():
        yield
        return
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield
    finally:
        rclpy.try_shutdown()


@contextmanager
def urgent(priority: int) -> Iterator[None]:
    """Threads that begin meanwhile, as those of DDS do with the first node, get this real-time
    priority, where the machine permits it; a loop that has one itself waits for theirs.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(PermissionError):
        if priority > 0:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


class Inbox:
    """What arrives on a topic; taken by its owner, with no executor between.

    Attributes:
        count: messages taken so far.
        lost: messages that were sent and never arrived, as their senders count them.
        arrived: when the last one taken arrived, s on the monotonic clock.
        sender: who sent it, as DDS numbers endpoints.
        emptied: when nothing was left in it the last time, s on the monotonic clock.
    """

    def __init__(
        self, node: Any, kind: Any, topic: str, quality: Any = SENSOR, *, raw: bool = False
    ) -> None:
        """
        Args:
            node: one that no executor spins.
            kind: message type.
            quality: of service.
            raw: give bytes instead of message objects.
        """
        self.count, self.lost, self.arrived, self.sender = 0, 0, -math.inf, b""
        self.subscription = node.create_subscription(
            kind, topic, lambda message: None, quality, raw=raw
        )
        self._node, self._kind, self._raw = node, kind, raw
        self._numbers: dict[bytes, int] = {}
        self.emptied = -math.inf
        self._take = self.subscription.handle.take_message

    def new(self) -> Iterator[Any]:
        """All messages since the last call, oldest first."""
        while (taken := self._take(self._kind, self._raw)) is not None:
            self._account(taken[1])
            yield taken[0]
        self.emptied = time.monotonic()

    def newest(self) -> Any:
        """The last of the messages since the last call; None if there were none."""
        messages = list(self.new())
        return messages[-1] if messages else None

    def _account(self, info: dict[str, Any]) -> None:
        # The wire stamps with the clock on the wall (0: not at all). Only the difference to now is
        # used, and never a time before the inbox was last seen empty.
        stamp = info["received_timestamp"]
        age = 1e-9 * (time.time_ns() - stamp) if stamp > 0 else 0.0
        now = time.monotonic()
        self.arrived = max(min(now - age, now), self.emptied)
        self.count += 1
        number = info.get("publication_sequence_number") or 0
        self.sender = info.get("publisher_gid", {}).get("data", b"")
        self.lost += max(0, number - self._numbers.get(self.sender, number) - 1)
        self._numbers[self.sender] = number

    def close(self) -> None:
        self._node.destroy_subscription(self.subscription)


class Bell:
    """Sleeps until an inbox has something, and costs less than an executor's round."""

    def __init__(self, node: Any, inbox: Inbox) -> None:
        self._handle = inbox.subscription.handle
        self._set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)

    def wait(self, seconds: float) -> None:
        """Return when there is a message, or after `seconds`."""
        self._set.clear_entities()
        self._set.add_subscription(self._handle)
        self._set.wait(max(0, int(1e9 * seconds)))


# --- messages to arrays ---


def six_of_wrench(wrench: Wrench) -> list[float]:
    """[force; torque]."""
    f, t = wrench.force, wrench.torque
    return [f.x, f.y, f.z, t.x, t.y, t.z]


def six_of_twist(twist: Twist) -> list[float]:
    """[linear; angular]."""
    v, w = twist.linear, twist.angular
    return [v.x, v.y, v.z, w.x, w.y, w.z]


def transform_of(pose: Pose) -> np.ndarray:
    """X (4, 4); ROS writes a quaternion as x, y, z, w. A ModelError if it is none."""
    p, o = pose.position, pose.orientation
    return transform([p.x, p.y, p.z], [o.w, o.x, o.y, o.z])


# --- arrays to messages ---


def fill_wrench(wrench: Wrench, six: ArrayLike) -> None:
    """Write [force; torque] (6,), N and N m."""
    f, t = wrench.force, wrench.torque
    f.x, f.y, f.z, t.x, t.y, t.z = np.asarray(six, float).tolist()


def fill_twist(twist: Twist, six: ArrayLike) -> None:
    """Write [linear; angular] (6,)."""
    v, w = twist.linear, twist.angular
    v.x, v.y, v.z, w.x, w.y, w.z = np.asarray(six, float).tolist()


# --- the graph ---


def arrived(publisher: Any, seconds: float) -> bool:
    """Whether all that was published has arrived; waits for that for at most a time, s."""
    return publisher.wait_for_all_acked(Duration(seconds=seconds))


def others_on(node: Any, topic: str, own: int = 0) -> list[str]:
    """The nodes that publish on a topic, without `own` publishers of `node` itself.

    A publisher is known a moment before the name of its node.
    """
    mine = (node.get_namespace(), node.get_name())
    found = node.get_publishers_info_by_topic(topic)
    names = [(info.node_namespace, info.node_name) for info in found]
    for _ in range(own if len(names) >= own else 0):
        names.remove(mine if mine in names else names[0])
    return [
        NAMELESS if name == _NAMELESS else f"{space.rstrip('/')}/{name}" for space, name in names
    ]


class Description:
    """The robot description that may arrive on a topic, some day.

    Attributes:
        text: the newest; "" if there was none yet.
    """

    def __init__(self, node: Any, topic: str = ROBOT_DESCRIPTION) -> None:
        self._inbox = Inbox(node, String, topic, LATCHED)
        self.text = ""

    @property
    def count(self) -> int:
        """How many were taken so far."""
        return self._inbox.count

    def look(self) -> str:
        """The newest text; "" if there was none yet."""
        message = self._inbox.newest()
        self.text = message.data if message is not None else self.text
        return self.text


def model_from(text: str, config: Config) -> RobotModel:
    """The arm in a robot description, from `base_link` to `tip`, with the sensor at `ft_frame`.

    Raises:
        ModelError: it is no URDF, has no such links, or other joints than the configuration.
    """
    model = _urdf(text, config.base_link, config.tip)
    if model.joint_names != config.joints:
        raise ModelError(
            f"joints: the robot description has {', '.join(model.joint_names)} from "
            f"{config.base_link} to {config.tip}, the configuration {', '.join(config.joints)}"
        )
    if config.ft_frame != config.tip:
        sensor = _urdf(text, config.base_link, config.ft_frame)
        model = model.with_tool(X_ES=np.linalg.inv(model.X_chain[6]) @ sensor.X_chain[6])
    if model.name in RobotModel.arms():  # a URDF has no accelerations
        model = dataclasses.replace(model, qdd_max=RobotModel.ur(model.name).qdd_max)
    return model


def refuse_places(config: Config) -> None:
    """A tool whose places are given in the configuration, where the graph says them."""
    for key in ("point", "sensor"):
        if getattr(config.tool, key) is not None:
            raise RobotError(
                f"tool.{key}: on a ROS 2 graph the description and tf say where tool point and "
                "sensor are (tip, ft_frame); leave it out, and put it there"
            )


def model_named(name: str, config: Config) -> RobotModel:
    """The arm of a name such as 'ur5e', or in a URDF file, with the joint names configured."""
    if name.strip().lower() in RobotModel.arms():
        return _table_arm(name, config)
    path = Path(name)
    if not path.is_file():
        raise ModelError(
            f"model {name!r}: neither an arm ({', '.join(RobotModel.arms())}) nor a URDF file"
        )
    return model_from(path.read_text("utf-8"), config)


def _table_arm(name: str, config: Config) -> RobotModel:
    for key in ("tip", "ft_frame"):
        if not getattr(config, key).endswith("tool0"):
            raise ModelError(
                f"{key}: {getattr(config, key)!r} is unknown to the tables of {name}, which end at "
                "tool0; give a URDF that has it, or leave --model away for /robot_description"
            )
    base = "base" if config.base_link.endswith("base") else "base_link"
    arm = RobotModel.ur(name, base=base)
    return dataclasses.replace(
        arm, joint_names=config.joints, base=config.base_link, tip=config.tip
    )


def _urdf(text: str, base: str, tip: str) -> RobotModel:
    return RobotModel.from_urdf(text, base=base, tip=tip, joint_velocity=_ENDLESS)
