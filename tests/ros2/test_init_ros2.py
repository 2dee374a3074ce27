"""`init --robot ros2`: watched on its way, and braked inside the limits whatever ends it."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from ur_admittance import Config, RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from std_msgs.msg import Float64MultiArray

from tests.ros2.graph import PATIENCE, Graph, timeouts
from ur_admittance.robots.ros2.wire import NAMELESS

pytestmark = pytest.mark.slow

RATE = 50.0  # Hz
POSITIONS = "/forward_position_controller/commands"
MODEL = RobotModel.ur("ur5e")
AWAY = [str(angle) for angle in MODEL.home + np.array([1.5, 0.3, -0.3, 0.3, 0.3, 1.0])]
CONFIG = Config().replace({"control_rate": RATE, **timeouts(RATE)})


@pytest.fixture
def scene(graph: Graph):
    """The arm, the process that leads it, and its commands; it is on the way, and moves."""
    file = graph.folder / "config.yaml"
    file.write_text(CONFIG.to_yaml(), "utf-8")
    commands = graph.hear(Float64MultiArray, POSITIONS, 1000)
    graph.simulate_time()
    arm = graph.start("sim-ros2", "--ideal", "--rate", str(RATE))
    start = ("init", "--robot", "ros2", "--yes", "--config", str(file))
    led = graph.start(*start, "--home", *AWAY)
    graph.until(lambda: len(commands) > 3 and np.abs(speeds(commands)[-1]).max() > 0.1)
    yield arm, led, commands
    arm.send_signal(signal.SIGCONT)


def speeds(commands: list[Any]) -> np.ndarray:
    """Between one command and the next, rad/s (n, 6)."""
    return np.diff([command.data for command in commands], axis=0) * RATE


def ended(graph: Graph, process: Any) -> str:
    """Wait for the process to fail, and return what it said."""
    graph.forget(process)
    graph.until(lambda: process.poll() is not None)
    _, problems = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert not (graph.folder / "equilibrium.yaml").exists()
    return problems


def is_braked(commands: list[Any]) -> bool:
    told = speeds(commands)
    steps = np.abs(np.diff(told, axis=0)) * RATE
    slow = np.abs(told[-1]).max() <= MODEL.qdd_max.max() / RATE
    return bool((steps <= MODEL.qdd_max * (1 + 1e-6)).all() and slow)


def test_init_does_not_drive_blind_when_joint_states_and_wrench_cease(graph: Graph, scene) -> None:
    arm, led, commands = scene
    before = np.array(commands[-1].data)
    arm.send_signal(signal.SIGSTOP)
    graph.arm_is_dead(True)  # its time passes all the same
    assert "init: no joint state for" in ended(graph, led)
    assert is_braked(commands)
    assert np.abs(np.array(commands[-1].data) - before).max() < 1.0  # rad


def test_init_stops_when_a_second_publisher_turns_up(graph: Graph, scene) -> None:
    _, led, commands = scene
    graph.publisher(Float64MultiArray, POSITIONS)
    words = ended(graph, led)
    assert any(f"init: {who} publishes on {POSITIONS}, too" in words for who in ("/test", NAMELESS))
    assert is_braked(commands)


def test_ctrl_c_brakes_init_inside_the_limits(graph: Graph, scene) -> None:
    _, led, commands = scene
    led.send_signal(signal.SIGINT)
    assert "init: interrupted" in ended(graph, led)
    assert is_braked(commands)
