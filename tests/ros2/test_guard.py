"""The guard of velocity mode: whatever ends the node, the arm is braked inside its limits."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ur_admittance import Config, RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from tests.ros2.graph import PATIENCE, Graph, timeouts
from tests.ros2.stage import COMMANDS
from ur_admittance.ros2 import guard_process

RATE = 50.0  # Hz
MODEL = RobotModel.ur("ur5e")
CONFIG = Config.preset("hand-guiding").replace(
    {
        "control_rate": RATE,
        "output.mode": "velocity",
        **timeouts(RATE),
        "safety.start_force": 0.0,
    }
)
ROOM = 1.0 + 1e-9


class Scene:
    """A node in velocity mode, and an arm that repeats its last velocity for ever."""

    def __init__(self, graph: Graph, *more: str) -> None:
        self.graph = graph
        graph.simulate_time()
        self.states = graph.hear(JointState, "/joint_states", 100)
        self.commands = graph.hear(Float64MultiArray, COMMANDS, 1000)
        file = graph.folder / "config.yaml"
        file.write_text(CONFIG.to_yaml(), "utf-8")
        push = ("--push", "0", "20", "0")
        graph.start("sim-ros2", "--ideal", "--repeat", "--rate", str(RATE), *push)
        command = (
            "run",
            "--robot",
            "ros2",
            "--config",
            str(file),
            "--json",
            "--keep-trying",
            *more,
        )
        self.node = graph.start(*command)

    def until_moving(self) -> None:
        self.graph.until(lambda: self.commands and np.abs(self.commands[-1].data).max() > 0.1)

    def until_braked(self) -> np.ndarray:
        """All commands, rad/s (n, 6), once the arm stands because it was told to."""

        def stands() -> bool:
            told = self.commands[-1].data
            return not any(told) and np.abs(self.states[-1].velocity).max() < 1e-3

        self.graph.until(stands)
        return np.array([command.data for command in self.commands])


def guards() -> list[str]:
    """The command lines of all guards of this machine's processes."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().decode(errors="replace"))
        except OSError:  # it has ended
            continue
    return [line for line in lines if "guard_process.py" in line]


def keeps_its_limits(commands: np.ndarray) -> bool:
    steps = np.abs(np.diff(commands, axis=0)).max(axis=0)
    return bool((steps * RATE <= MODEL.qdd_max * ROOM).all())


def end(process: subprocess.Popen[Any], number: int) -> None:
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=["kill -9", "crash"])
def test_a_node_that_dies_leaves_an_arm_that_repeats_its_velocity_braked(
    graph: Graph, number: int
) -> None:
    scene = Scene(graph)
    scene.until_moving()
    end(scene.node, number)
    graph.forget(scene.node)
    commands = scene.until_braked()
    assert keeps_its_limits(commands)
    runtime = str(graph.folder)
    graph.until(lambda: not any(runtime in line for line in guards()))  # it has done its work
    assert not any(scene.commands[-1].data)


@pytest.mark.slow
def test_a_node_that_is_stopped_by_a_signal_leaves_the_arm_braked_and_does_not_go_on(
    graph: Graph,
) -> None:
    scene = Scene(graph)
    scene.until_moving()
    with graph.between_ticks(scene.node):
        scene.node.send_signal(signal.SIGSTOP)
    commands = scene.until_braked()
    assert keeps_its_limits(commands)
    scene.graph.after(2.0)
    scene.node.send_signal(signal.SIGCONT)
    graph.expect_stop("the loop slept for")
    del scene.states[:]
    graph.after(2.5)  # in this time the hand pushes
    assert np.abs([state.velocity for state in scene.states]).max() < 1e-2


@pytest.mark.slow
def test_a_guard_that_dies_stops_the_arm_and_its_node_counts_it_as_its_own(graph: Graph) -> None:
    scene = Scene(graph)
    scene.until_moving()

    def publishers() -> list[str]:
        return [info.node_name for info in graph.node.get_publishers_info_by_topic(COMMANDS)]

    name = f"_admittance_node_io_guard_{scene.node.pid}"
    graph.until(lambda: name in publishers())  # DDS tells names later than publishers
    assert len(publishers()) == 2
    children = Path(f"/proc/{scene.node.pid}/task/{scene.node.pid}/children").read_text().split()
    (guard,) = (
        pid for pid in children if "guard_process" in Path(f"/proc/{pid}/cmdline").read_text()
    )
    subprocess.run(["kill", "-9", guard], check=True)
    graph.expect_stop("the guard that brakes the arm")
    scene.until_braked()


@pytest.mark.slow
def test_without_the_guard_an_arm_that_repeats_goes_on_and_that_has_to_be_asked_for(
    graph: Graph,
) -> None:
    scene = Scene(graph, "--no-guard")
    scene.until_moving()

    def moves() -> bool:
        return np.abs(scene.states[-1].velocity).max() > 0.1

    with graph.in_step() as answer:  # so that the hand still pushes when the node is killed
        graph.until(moves, lambda: answer(lambda: None))
        graph.kill(scene.node)
    del scene.states[:]
    graph.after(1.0)
    assert np.abs(scene.states[-1].velocity).max() > 0.1


ORDER = {"qdd": MODEL.qdd_max.tolist(), "tool": [2.5, 5.0], "period": 0.002}


def test_the_guard_brakes_all_joints_together_inside_every_limit() -> None:
    some = np.random.default_rng(0)
    for _ in range(100):
        qd = some.uniform(-3.0, 3.0, 6)
        twist = some.uniform(-1.0, 1.0, 6)
        down = np.array(guard_process.ramp(qd.tolist(), twist.tolist(), ORDER))
        assert np.array_equal(down[0], qd) and not down[-1].any()
        assert (np.abs(np.diff(down, axis=0)) / 0.002 <= MODEL.qdd_max * ROOM).all()
        steps = len(down) - 1
        assert np.linalg.norm(twist[:3]) / (steps * 0.002) <= 2.5 * ROOM
        assert np.linalg.norm(twist[3:]) / (steps * 0.002) <= 5.0 * ROOM


def test_a_pause_of_the_guard_itself_does_not_count_as_silence(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(guard_process.time, "monotonic", lambda: now[0])
    silence = guard_process.Silence()
    for _ in range(3):
        now[0] += guard_process.LOOK
        assert silence.seconds(7) < 0.01
    now[0] += 5.0  # the machine slept
    assert silence.seconds(7) < 0.02
    for _ in range(20):
        now[0] += guard_process.LOOK
        quiet = silence.seconds(7)
    assert quiet > 0.02
    assert silence.seconds(8) == 0.0
