"""The admittance node and the simulated arm, two processes over DDS, beside one process alone."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest

from ur_admittance import Config, Controller, RobotModel, loop, robots
from ur_admittance.cli.run import to_and_fro

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.stage import COMMANDS
from tests.support import real_time_granted
from ur_admittance.telemetry import recording

pytestmark = pytest.mark.slow

RATE = 50.0  # Hz, so slow that a busy machine is not late
FULL = 500.0 if real_time_granted() else RATE  # Hz, of what is compared
DELAY = 4.0  # cycles that may lie between the two
SECONDS = 4.5  # one push, and most of the next
PUSH = (0.0, 20.0, 0.0)
CONFIG = Config.preset("hand-guiding").replace(
    {
        "control_rate": RATE,
        "safety.wrench_timeout": 0.2,
        "safety.joint_timeout": 0.2,
        "safety.lost_timeout": 1.0,
        "safety.start_force": 0.0,  # the hand may push when it starts again
    }
)
MODEL = RobotModel.ur("ur5e")


def sim(rate: float = RATE) -> tuple[str, ...]:
    """A command: the arm, on the graph, and pushed."""
    return ("sim-ros2", "--ideal", "--rate", str(rate), "--push", *map(str, PUSH))


def start(graph: Graph, *more: str, config: Config = CONFIG):
    return graph.start(
        "run", "--robot", "ros2", "--config", written(graph, config), "--json", *more
    )


def written(graph: Graph, config: Config = CONFIG) -> str:
    file = graph.folder / "config.yaml"
    file.write_text(config.to_yaml(), "utf-8")
    return str(file)


def in_one_process(config: Config) -> np.ndarray:
    """Where the tool is, every tick, m (n, 3)."""
    path: list[np.ndarray] = []
    options = {"ideal": True, "realtime": False, "rate": FULL, "hand": to_and_fro(PUSH)}
    with robots.connect("sim", **options) as robot:
        controller = Controller(robot.model, config)
        loop.run(
            robot,
            controller,
            seconds=SECONDS,
            each=lambda state, out: path.append(out["X_WP"][:3, 3].copy()),
        )
    return np.array(path)


@pytest.mark.parametrize("mode", ["velocity", "position", "trajectory"])
def test_a_push_moves_the_arm_as_it_does_in_one_process(graph: Graph, mode: str):
    rate = {"control_rate": FULL, "output.time_from_start": 1.0 / FULL}
    config = CONFIG.replace({"output.mode": mode, **rate})
    alone = in_one_process(config)
    assert np.abs(alone - alone[0]).max() > 0.1
    near = DELAY * np.abs(np.diff(alone, axis=0)).max()
    apart: list[float] = []  # m, in each run: one that was late again and again is done again
    while len(apart) < 6 and min(apart, default=np.inf) > near:
        times, path = undisturbed(graph, config)
        # Both hands begin with the first command, give or take the delay of the wire.
        cycles = (times - times[0]) * FULL
        later = np.linspace(0.0, DELAY, 31)
        apart.append(min(np.abs(path - _at(alone, cycles - n)).max() for n in later))
    assert min(apart) <= near, (apart, near)


def undisturbed(graph: Graph, config: Config) -> tuple[np.ndarray, np.ndarray]:
    """When, s (n,), the tool is where, m (n, 3). A run in which the machine stopped the arm, or
    stood still for longer than five cycles, is done again.
    """
    more = ("--seconds", str(SECONDS), "--record", "run.mcap", "--force")
    for _ in range(10):
        arm = graph.start(*sim(FULL), "--repeat")  # its own watchdog would be a disturbance, too
        node = start(graph, *more, config=config)
        output, errors = node.communicate(timeout=PATIENCE)
        arm.terminate()
        arm.communicate(timeout=PATIENCE)
        assert output, errors
        summary = json.loads(output)
        if summary["too_late"] or summary["period"]["max"] > 5.0 / FULL:
            graph.forget(node)
            continue
        assert node.returncode == 0, errors
        assert summary["ticks"] == pytest.approx(SECONDS * FULL, rel=0.05)
        records = recording.read(graph.folder / "run.mcap").records
        return records["timing"]["arrived"], records["X_WP"][:, :3, 3]
    raise AssertionError(f"the machine is always late: {errors}")


def _at(path: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """A path at cycles between its own."""
    return np.array([np.interp(cycles, np.arange(len(path)), x) for x in path.T]).T


def test_a_node_that_is_killed_leaves_the_arm_braked_and_the_next_one_starts_without_a_jump(
    graph: Graph,
):
    states = graph.hear(JointState, "/joint_states", 100)
    graph.start(*sim())
    node = start(graph)
    graph.until(lambda: states and np.abs(states[-1].velocity).max() > 0.1)
    graph.kill(node)
    graph.until(lambda: np.abs(states[-1].velocity).max() < 1e-3)
    commands = graph.hear(Float64MultiArray, COMMANDS, 1000)
    start(graph)
    graph.until(lambda: len(commands) > 2 * RATE)  # in this time the hand pushes
    velocities = np.array([command.data for command in commands])
    assert np.abs(velocities[0]).max() < 0.05 < np.abs(velocities).max()
    accelerations = np.abs(np.diff(velocities, axis=0)).max() * RATE
    assert accelerations < 15.0  # rad/s^2: pushed, but never jerked


def test_the_wrench_may_come_compensated_from_the_wrench_node(graph: Graph):
    """Three processes: arm, wrench node and admittance node."""
    states = graph.hear(JointState, "/joint_states", 100)
    graph.start(*sim())
    graph.start("wrench-ros2", "--config", written(graph))
    start(graph, "--wrench", "/netft/proc_probe")
    graph.until(lambda: states and np.abs(states[-1].velocity).max() > 0.1)


def test_init_brings_the_arm_home_and_run_holds_it_there(graph: Graph):
    graph.start("sim-ros2", "--rate", str(RATE))
    goal = MODEL.home + np.array([0.1, -0.1, 0.1, 0.1, -0.1, 0.1])
    home = ("--home", *(f"{angle:.6f}" for angle in goal))
    first = graph.start("init", "--robot", "ros2", "--config", written(graph), *home, "--json")
    output, errors = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, errors
    np.testing.assert_allclose(json.loads(output)["joints"], goal, atol=1e-3)
    changes = {"equilibrium": "equilibrium.yaml", "admittance.stiffness": [300] * 3 + [20] * 3}
    config = CONFIG.replace(changes)
    states = graph.hear(JointState, "/joint_states", 100)
    commands = graph.hear(Float64MultiArray, COMMANDS, 100)
    start(graph, config=config)
    graph.until(lambda: len(commands) > RATE)
    np.testing.assert_allclose(states[-1].position, goal, atol=2e-3)


def test_a_node_that_slept_does_not_go_on_by_itself(graph: Graph):
    """Meanwhile the arm's watchdog has braked it, and somebody may have come close."""
    states = graph.hear(JointState, "/joint_states", 100)
    graph.start(*sim())
    node = start(graph)
    graph.until(lambda: states and np.abs(states[-1].velocity).max() > 0.1)
    node.send_signal(signal.SIGSTOP)
    graph.until(lambda: np.abs(states[-1].velocity).max() < 1e-3)
    graph.after(2.0)
    node.send_signal(signal.SIGCONT)
    graph.until(lambda: any("the arm was stopped: " in line for line in graph.said()))
    graph.after(0.2)
    del states[:]
    graph.after(2.5)  # in this time the hand pushes
    assert np.abs([state.velocity for state in states]).max() < 1e-2
