"""Force, axes and gains that a policy streams over DDS, beside the same in a process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import QuaternionStamped, Twist, WrenchStamped
from std_msgs.msg import Float64MultiArray

from tests.ros2.stage import CONFIG, NODE, RATE, Stage
from tests.ros2.stub_arm import MODEL
from ur_admittance import Config, Controller
from ur_admittance.config.validate import pose_of

pytestmark = pytest.mark.slow

PRESSES = """
force:
  enabled_axes: [false, false, true, false, false, false]
  approach_speed: [0.02, 0.02, 0.02, 0.05, 0.05, 0.05]
  stream_timeout: 0.5
"""
LAW = "admittance: {frame: base, stiffness: [200, 200, 200, 20, 20, 20], "
PUSH = np.r_[MODEL.fk(MODEL.home)[:3, :3].T @ [6.0, 0, 0], 0, 0, 0]  # N, along x of the base
TURN = np.array([0.5, 0.0, 0.0])  # rad
STIFFNESS = np.array([600.0, 400, 200, 30, 30, 30])
TARGET = np.r_[pose_of((0, 0, 0, *TURN))[:3, :3].T @ [0.0, 0, 8], 0, 0, 0]  # N, in turned axes


def wrench(z: float = 8.0, frame: str = "base_link") -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = frame
    message.wrench.force.z = z
    return message


def numbers(values: Any) -> Float64MultiArray:
    return Float64MultiArray(data=[float(value) for value in values])


def in_process(config: Config, streams: list[tuple[int, dict]], ticks: int) -> np.ndarray:
    """The commands of an arm that does as it is told, from the first that moves it; (ticks, 6).

    It is pushed after the first tick: that one would fill the filter with the push at once.
    """
    controller, q, rows = Controller(MODEL, config), MODEL.home.copy(), []
    controller.activate(q)
    controller.update(q, np.zeros(6), 1 / RATE)
    while len(rows) < ticks:
        for when, values in streams:
            if when == len(rows):
                controller.stream(**values)
        qd = controller.update(q, PUSH, 1 / RATE)["qd"].copy()
        q += qd / RATE
        if rows or np.abs(qd).max() > 1e-9:
            rows.append(qd)
    return np.array(rows)


def first_off(one: np.ndarray, other: np.ndarray) -> int:
    """The first tick at which they differ by more than 1e-6 rad/s; their number if none does."""
    off = np.abs(one - other).max(axis=1) > 1e-6
    return int(off.argmax()) if off.any() else len(off)


def test_streams_over_ros_do_what_they_do_in_a_process_and_a_force_that_ends_eases(staged):
    text = CONFIG.replace("admittance: {", LAW) + PRESSES
    stage = staged("--model", "ur5e", "--inactive", config=text)
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    gains = stage.graph.publisher(Float64MultiArray, f"{NODE}/stiffness")
    axes = stage.graph.publisher(QuaternionStamped, f"{NODE}/task_orientation")
    force = stage.graph.publisher(WrenchStamped, f"{NODE}/target_wrench")
    ticks = stage.graph.hear(Twist, "/admittance_cartesian_velocity")
    stage.activate()
    stage.graph.until(lambda: ticks)  # commands alone may be those of rest, before the first tick
    stage.behave(force=PUSH.tolist())
    stage.graph.until(lambda: stage.speed > 1e-3)
    stage.graph.until(lambda: stage.speed < 1e-4)  # where the spring holds the push
    x = stage.tool[0]
    stiffer = numbers(STIFFNESS)
    stage.graph.until(lambda: abs(stage.tool[0] - x) > 0.005, lambda: gains.publish(stiffer))
    stage.graph.until(lambda: stage.speed < 1e-4)
    turned = QuaternionStamped()
    turned.header.frame_id = "base_link"
    turned.quaternion.w, turned.quaternion.x = np.cos(0.25), np.sin(0.25)
    stage.graph.after(0.4, lambda: axes.publish(turned))
    z = stage.tool[2]
    pressed = wrench()
    stage.graph.until_in_step(lambda: stage.tool[2] > z + 0.01, lambda: force.publish(pressed))
    stage.graph.until(lambda: stage.speed < 1e-6)  # nobody sends it any more
    assert stage.state == "active" and stage.tool[2] - z < 0.06

    rows = stage.trace()[:, 3:]
    heard = rows[int((np.abs(rows).max(axis=1) > 1e-9).argmax()) :]
    config, streams, n = Config.loads(text), [], len(heard)
    for values in ({"stiffness": STIFFNESS}, {"orientation": TURN}):
        # it was taken where the commands are no longer those without it
        streams.append((first_off(in_process(config, streams, n), heard), values))
    pressing = first_off(in_process(config, streams, n), heard)
    ends = []
    for last in range(pressing, n):
        ends = streams + [(k, {"target": TARGET}) for k in range(pressing, last + 1)]
        if first_off(in_process(config, ends, n), heard) == n:
            break
    assert first_off(in_process(config, ends, n), heard) == n


@pytest.mark.parametrize(
    ("topic", "message", "words"),
    [
        ("target_wrench", wrench(frame="moon"), "moon"),
        ("target_wrench", wrench(float("nan"), "tool0"), "target must be six numbers"),
        ("task_orientation", QuaternionStamped(), "frame_id is empty; it must name the frame"),
        ("stiffness", numbers([1.0] * 5), "stiffness: must be six numbers"),
        ("damping", numbers([-1.0] * 6), "damping must be six numbers > 0"),
    ],
)
def test_a_stream_of_what_cannot_be_is_refused(active: Stage, topic, message, words):
    publisher = active.graph.publisher(type(message), f"{NODE}/{topic}")
    active.graph.until(lambda: active.said(words), lambda: publisher.publish(message))
    assert active.said(f"{NODE}/{topic}: refused: ")
    assert active.state == "active" and active.speed < 1e-9


def test_streams_of_two_publishers_are_refused(active: Stage):
    both = [active.graph.publisher(Float64MultiArray, f"{NODE}/mass") for _ in range(2)]
    words = f"{NODE}/mass: refused: 2 publishers send there; keep one"

    def send() -> None:
        for publisher in both:
            publisher.publish(numbers([4.0] * 6))

    active.graph.until(lambda: active.said(words), send)
    assert active.state == "active"
