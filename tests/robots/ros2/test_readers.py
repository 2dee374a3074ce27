"""Joint states and wrenches read from bytes, against what ROS itself reads from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ur_admittance import RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from ur_admittance.robots.ros2.readers import JointReader, WrenchReader

NAMES = RobotModel.ur("ur5e").joint_names


def state(names, q, qd=None, frame: str = "") -> bytes:
    message = JointState(name=list(names), position=list(map(float, q)))
    message.header.frame_id = frame
    if qd is not None:
        message.velocity = list(map(float, qd))
    return serialize_message(message)


def test_joints_are_found_in_every_order():
    """All 720 of them, and each a second time, when its layout is known."""
    reader, values = JointReader(NAMES), dict(zip(NAMES, np.arange(6) + 0.25, strict=True))
    q, qd = np.zeros(6), np.zeros(6)
    for order in itertools.permutations(NAMES):
        for turn in (0, 1):
            numbers = [values[name] + turn for name in order]
            assert reader.read(state(order, numbers, [-n for n in numbers]), q, qd)
            np.testing.assert_array_equal(q, np.arange(6) + 0.25 + turn)
            np.testing.assert_array_equal(qd, -q)


@pytest.mark.parametrize("frame", ["", "a", "ab", "abc", "base_link"])
@pytest.mark.parametrize("extra", [[], ["x"], ["a_finger", "bb", "ccc"]])
@pytest.mark.parametrize("rates", [True, False])
def test_whatever_else_is_in_the_message(frame, extra, rates):
    rng = np.random.default_rng(len(frame) + len(extra))
    reader, q, qd = JointReader(NAMES), np.zeros(6), np.zeros(6)
    for _ in range(5):
        names = rng.permutation([*NAMES, *extra]).tolist()
        for _ in range(2):
            position, velocity = rng.normal(size=(2, len(names)))
            assert reader.read(state(names, position, velocity if rates else None, frame), q, qd)
            where = [names.index(name) for name in NAMES]
            np.testing.assert_array_equal(q, position[where])
            np.testing.assert_array_equal(qd, velocity[where] if rates else [np.nan] * 6)


def test_messages_of_several_devices_may_alternate():
    reader, q, qd = JointReader(NAMES), np.zeros(6), np.zeros(6)
    for k in range(6):
        assert reader.read(state(NAMES, [k] * 6), q, qd) and q[0] == k
        assert not reader.read(state(["finger"], [9.0]), q, qd) and reader.problem == ""
        assert not reader.read(state(NAMES[:5], [7.0] * 5), q, qd)
        assert "it lacks wrist_3_joint; it has shoulder_pan_joint" in reader.problem
        assert q[0] == k


def test_positions_that_do_not_go_with_the_names_are_a_problem():
    reader, q, qd = JointReader(NAMES), np.zeros(6), np.zeros(6)
    for _ in range(2):
        assert not reader.read(state(NAMES, [0.0] * 5), q, qd)
        assert reader.problem == "it has 6 names and 5 positions"


def test_numbers_that_are_none_are_handed_on():
    reader, q, qd = JointReader(NAMES), np.zeros(6), np.zeros(6)
    for _ in range(2):
        assert reader.read(state(NAMES, [np.nan, np.inf, 0, 0, 0, 0]), q, qd)
        assert np.isnan(q[0]) and np.isinf(q[1])


@pytest.mark.parametrize("frame", ["", "t", "tool0", "a_much_longer_frame"])
def test_a_wrench_is_read(frame):
    rng, reader, wrench = np.random.default_rng(0), WrenchReader(), np.zeros(6)
    for _ in range(3):
        six = rng.normal(size=6)
        message = WrenchStamped()
        message.header.frame_id = frame
        f, t = message.wrench.force, message.wrench.torque
        f.x, f.y, f.z, t.x, t.y, t.z = six.tolist()
        reader.read(serialize_message(message), wrench)
        np.testing.assert_array_equal(wrench, six)
        assert reader.frame == frame
