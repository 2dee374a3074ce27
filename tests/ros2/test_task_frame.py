"""Axes of the law, and forces, in frames that only the transforms tell: over DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import TransformStamped, WrenchStamped

from tests.ros2.graph import PATIENCE
from tests.ros2.peer import LATCHED
from tests.ros2.stage import CONFIG, NODE
from tests.ros2.stub_arm import MODEL
from tests.ros2.test_streams import PRESSES, wrench
from ur_admittance.robots.ros2 import wire

pytestmark = pytest.mark.slow

FRAME = "workpiece"
ONE_WAY = "admittance: {frame: base, enabled_axes: [true, false, false, false, false, false], "
R_WP = MODEL.fk(MODEL.home)[:3, :3]


def along(yaw: float) -> np.ndarray:
    """The x axis of the workpiece, in the base (3,)."""
    return np.array([np.cos(yaw), np.sin(yaw), 0.0])


def stamped(frame: str, **rotation: float) -> TransformStamped:
    """How a frame lies in the base."""
    message = TransformStamped(child_frame_id=frame)
    message.header.frame_id = "base_link"
    for part, value in rotation.items():
        setattr(message.transform.rotation, part, value)
    return message


def test_the_law_has_the_axes_of_a_frame_that_moves_or_is_silent_and_forces_are_turned(
    TFMessage, staged
):
    text = CONFIG.replace("admittance: {", ONE_WAY) + PRESSES  # along z of the workpiece
    options = ("--model", "ur5e", "--inactive", "--task-frame", FRAME)
    stage = staged(*options, config=text)
    graph = stage.graph
    graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.refuses(f"--task-frame: no transform from {FRAME} to base_link on /tf or /tf_static")
    static = graph.publisher(TFMessage, "/tf_static", LATCHED)
    moving = graph.publisher(TFMessage, "/tf", 100)

    def send(publisher: Any, yaw: float) -> None:
        lies = stamped(FRAME, w=np.cos(yaw / 2), z=np.sin(yaw / 2))
        publisher.publish(TFMessage(transforms=[lies]))

    send(static, 0.5)
    assert wire.arrived(static, PATIENCE)
    stage.activate()
    stage.behave(force=[*(R_WP.T @ [6.0, 6.0, 0.0]), 0, 0, 0])
    start = stage.tool
    graph.until(lambda: np.linalg.norm(stage.tool - start) > 0.03)
    moved = stage.tool - start
    np.testing.assert_allclose(moved / np.linalg.norm(moved), along(0.5), atol=1e-2)

    graph.known_to(NODE)
    send(moving, -0.5)
    graph.after(0.3, lambda: send(moving, -0.5))  # it turns while the arm moves
    start = stage.tool
    graph.until(lambda: np.linalg.norm(stage.tool - start) > 0.03, lambda: send(moving, -0.5))
    moved = stage.tool - start
    np.testing.assert_allclose(moved / np.linalg.norm(moved), along(-0.5), atol=1e-2)

    names = f"from {FRAME} to base_link"
    stage.until_said(f"the transform {names} has not come for 0.5 s; its last axes are held")
    start = stage.tool
    graph.until(lambda: np.linalg.norm(stage.tool - start) > 0.01)
    moved = stage.tool - start
    np.testing.assert_allclose(moved / np.linalg.norm(moved), along(-0.5), atol=1e-2)
    assert stage.state == "active"

    # a force in another frame, which is told too late
    stage.behave(force=[0] * 6)
    force = graph.publisher(WrenchStamped, f"{NODE}/target_wrench")
    words = f"{NODE}/target_wrench: refused: no transform from moon to base_link"
    graph.until(lambda: stage.said(words), lambda: force.publish(wrench(8.0, "moon")))
    graph.until(lambda: stage.speed < 1e-4)
    upside_down, upright = stamped("moon", w=0.0, x=1.0), stamped("mars", w=1.0)
    static.publish(TFMessage(transforms=[upside_down, upright]))
    for frame, up in (("moon", -1), ("mars", 1)):  # the second was told long before
        start = stage.tool
        graph.until(
            lambda: np.linalg.norm(stage.tool - start) > 0.01,  # noqa: B023
            lambda: force.publish(wrench(8.0, frame)),  # noqa: B023
        )
        moved = stage.tool - start
        np.testing.assert_allclose(moved / np.linalg.norm(moved), [0, 0, up], atol=2e-2)
        graph.until(lambda: stage.speed < 1e-6)  # nobody sends it any more: it eases
    assert stage.state == "active" and not stage.said("from mars")
