"""The admittance node and the simulated arm, two processes over DDS, beside one process alone."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest

from ur_admittance import Config, Controller, loop, robots
from ur_admittance.cli.run import to_and_fro

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from sensor_msgs.msg import JointState

from tests.ros2.graph import PATIENCE, Graph
from ur_admittance.telemetry import recording

pytestmark = pytest.mark.slow

RATE = 50.0  # Hz, so slow that a busy machine is not late
SECONDS = 4.5  # one push, and most of the next
PUSH = (0.0, 20.0, 0.0)
CONFIG = Config.preset("hand-guiding").replace(
    {
        "control_rate": RATE,
        "safety.wrench_timeout": 0.2,
        "safety.joint_timeout": 0.2,
        "safety.lost_timeout": 1.0,
    }
)
SIM = ("sim-ros2", "--ideal", "--rate", str(RATE), "--push", *map(str, PUSH))


def start(graph: Graph, *more: str):
    file = graph.folder / "config.yaml"
    file.write_text(CONFIG.to_yaml(), "utf-8")
    return graph.start("run", "--robot", "ros2", "--config", str(file), "--json", *more)


def in_one_process() -> np.ndarray:
    """Where the tool is, every tick, m (n, 3)."""
    path: list[np.ndarray] = []
    options = {"ideal": True, "realtime": False, "rate": RATE, "hand": to_and_fro(PUSH)}
    with robots.connect("sim", **options) as robot:
        controller = Controller(robot.model, CONFIG)
        loop.run(
            robot,
            controller,
            seconds=SECONDS,
            each=lambda state, out: path.append(out["X_WP"][:3, 3].copy()),
        )
    return np.array(path)


def test_a_push_moves_the_arm_as_it_does_in_one_process(graph: Graph):
    graph.start(*SIM)
    node = start(graph, "--seconds", str(SECONDS), "--record", "run.mcap")
    output, errors = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, errors
    summary = json.loads(output)
    assert summary["missed"] == 0 and summary["ticks"] == pytest.approx(SECONDS * RATE, rel=0.05)
    path = recording.read(graph.folder / "run.mcap").records["X_WP"][:, :3, 3]
    alone = in_one_process()
    moved = np.abs(alone - alone[0]).max()
    assert moved > 0.1
    # Both hands begin with the first command, give or take the delay of the wire.
    cycles = np.arange(len(alone) - 4)
    later = np.linspace(0.0, 3.0, 31)
    apart = [np.abs(_at(path, cycles + n) - alone[:-4]).max() for n in later]
    a_cycle = np.abs(np.diff(alone, axis=0)).max()
    assert min(apart) < a_cycle, (min(apart), a_cycle)


def _at(path: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """A path at cycles between its own."""
    return np.array([np.interp(cycles, np.arange(len(path)), x) for x in path.T]).T


def test_a_node_that_is_killed_leaves_the_arm_braked_and_the_next_one_starts_without_a_jump(
    graph: Graph,
):
    states = graph.hear(JointState, "/joint_states", 100)
    graph.start(*SIM)
    node = start(graph)
    graph.until(lambda: states and np.abs(states[-1].velocity).max() > 0.1)
    node.send_signal(signal.SIGKILL)
    graph.forget(node)
    graph.after(1.0)
    assert np.abs(states[-1].velocity).max() < 1e-3
    del states[:]
    new = start(graph, "--seconds", "1.5")  # before the hand pushes again, or just then
    output, errors = new.communicate(timeout=PATIENCE)
    assert new.returncode == 0, errors
    assert json.loads(output)["ticks"] > 50
    graph.after(0.2)
    velocities = np.array([state.velocity for state in states])
    accelerations = np.abs(np.diff(velocities, axis=0)).max() * RATE
    assert accelerations < 15.0  # rad/s^2: pushed, but never jerked
