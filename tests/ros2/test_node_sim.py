"""The admittance node and the simulated arm, two processes over DDS, beside one process alone.

Both live by a simulated clock, so that what is compared does not depend on the machine.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ur_admittance import Config, Controller, RobotModel, robots
from ur_admittance.cli.attend import to_and_fro
from ur_admittance.run import run

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from tests.ros2 import oracle
from tests.ros2.graph import PATIENCE, Graph, timeouts
from tests.ros2.stage import COMMANDS, NODE
from ur_admittance.config.validate import quaternion_of
from ur_admittance.motion.taught import Path
from ur_admittance.telemetry import recording

pytestmark = pytest.mark.slow

RATE = 50.0  # Hz
FULL = 500.0  # Hz, of what is compared
NEAR = 1e-9  # m: the same, but for how a clock's times are rounded
SECONDS = 1.5  # of the first push
PUSH = (0.0, 20.0, 0.0)
CONFIG = Config.preset("hand-guiding").replace(
    {
        "control_rate": RATE,
        **timeouts(RATE),
        "safety.start_force": 0.0,  # the hand may push when it starts again
    }
)
MODEL = RobotModel.ur("ur5e")


@pytest.fixture
def graph(graph: Graph) -> Iterator[Graph]:
    """One on a simulated clock; afterwards all commands on it are judged."""
    clock = graph.simulate_time()
    yield graph
    oracle.judge(clock.trace(), CONFIG, MODEL)


def sim(rate: float = RATE) -> tuple[str, ...]:
    """A command: the arm, on the graph, and pushed."""
    return ("sim-ros2", "--ideal", "--rate", str(rate), "--push", *map(str, PUSH))


def start(graph: Graph, *more: str, config: Config = CONFIG):
    return graph.start(
        *("run", "--robot", "ros2", "--config", written(graph, config), "--json"),
        *("--keep-trying", "--remote-reset", "--allow-travel", *more),
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
        run(
            robot,
            controller,
            seconds=SECONDS,
            each=lambda state, out: path.append(out["X_WP"][:3, 3].copy()),
        )
    return np.array(path)


@pytest.mark.parametrize("mode", ["velocity", "position", "trajectory"])
def test_a_push_moves_the_arm_as_it_does_in_one_process(graph: Graph, mode: str):
    # Times on the graph are rounded by 4e-12 s, and a jerk limit may let go a tick sooner by that.
    exact = {"limits.max_linear_jerk": 0.0, "limits.max_angular_jerk": 0.0}
    rate = {"control_rate": FULL, "output.time_from_start": 1.0 / FULL, **timeouts(FULL)}
    config = CONFIG.replace({"output.mode": mode, **rate, **exact})
    alone = in_one_process(config)
    assert np.abs(alone - alone[0]).max() > 0.1
    arm = graph.start(*sim(FULL), "--json")
    # The guard goes by the clock on the wall.
    more = ("--seconds", str(SECONDS), "--record", "run.mcap", "--no-guard")
    node = start(graph, *more, config=config)
    output, errors = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, errors
    summary, served = json.loads(output), ended(arm)
    counted = {name: summary[name] for name in ("late", "missed", "overruns")}
    assert counted == {"late": 0, "missed": 0, "overruns": 0}
    assert (served["lost"], served["refused"], served["missed"]) == (0, 0, 0)
    assert served["commands"] >= summary["ticks"] >= SECONDS * FULL
    path = recording.read(graph.folder / "run.mcap").records["X_WP"][:, :3, 3]
    # Until it is told to leave. The hand on the graph begins with the first command, in one process
    # already when the arm is looked at before the start.
    late = first_move(path) - first_move(alone)
    ticks = round(SECONDS * FULL) - abs(late)
    apart = np.abs(path[max(late, 0) :][:ticks] - alone[max(-late, 0) :][:ticks])
    assert apart.max() < NEAR


def first_move(path: np.ndarray) -> int:
    """The first tick at which the tool has left its place."""
    return int(np.argmax(np.abs(path - path[0]).max(axis=1) > NEAR))


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a process says of itself at its end, for which it is asked."""
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return json.loads(output)


def test_a_node_that_is_killed_leaves_the_arm_braked_and_the_next_one_starts_without_a_jump(
    graph: Graph,
):
    states = graph.hear(JointState, "/joint_states", 100)
    commands = graph.hear(Float64MultiArray, COMMANDS, 1000)
    graph.start(*sim())
    node = start(graph)
    # By now all have found each other: whoever is killed before may leave others deaf.
    graph.until(lambda: commands and states and np.abs(states[-1].velocity).max() > 0.1)
    graph.kill(node)
    graph.until(lambda: np.abs(states[-1].velocity).max() < 1e-3)
    commands.clear()
    start(graph)
    graph.until(lambda: len(commands) > 2 * RATE)  # in this time the hand pushes
    velocities = np.array([command.data for command in commands])
    assert not velocities[0].any() and np.abs(velocities).max() > 0.05


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
    words = ("init", "--robot", "ros2", "--yes", "--config", written(graph))
    first = graph.start(*words, *home, "--json")
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


def play(graph: Graph, rise: float, seconds: float, *more: str) -> tuple[Any, np.ndarray]:
    """A process that plays a path straight up, and its last place (3,), m."""
    X = MODEL.fk(MODEL.home)
    wxyz = list(quaternion_of(X))
    places = X[:3, 3] + np.linspace(0.0, 1.0, 21)[:, None] * [0.0, 0.0, rise]
    path = Path(np.linspace(0.0, seconds, 21), np.array([[*p, *wxyz] for p in places]), MODEL.home)
    path.save(graph.folder / "path.json")
    changes = {"tracking.velocity_gain": 5.0, "admittance.stiffness": [300.0] * 3 + [20.0] * 3}
    config = written(graph, CONFIG.replace(changes))
    words = ("play", "path.json", "--robot", "ros2", "--config", config, "--priority", "0")
    return graph.start(*words, "--yes", "--keep-trying", "--json", *more), places[-1]


def test_a_path_is_played_over_the_graph_and_the_node_leaves_at_its_end(graph: Graph):
    arm = graph.start("sim-ros2", "--ideal", "--rate", str(RATE), "--json")
    node, last = play(graph, 0.01, 0.5, "--record", "played.mcap")
    output, errors = node.communicate(timeout=3 * PATIENCE)
    assert node.returncode == 0, errors
    assert json.loads(output)["outcome"] == "reached"
    tool = recording.read(graph.folder / "played.mcap").records["X_WP"][:, :3, 3]
    np.testing.assert_allclose(tool[-1], last, atol=1e-3)
    assert ended(arm)["refused"] == 0


def test_a_planner_that_speaks_up_ends_a_path_that_is_played_at_rest(graph: Graph):
    """Two that lead one arm would be one too many; and nobody asked this one to go elsewhere."""
    states = graph.hear(JointState, "/joint_states", 100)
    arm = graph.start("sim-ros2", "--ideal", "--rate", str(RATE), "--json")
    node, _ = play(graph, 0.2, 20.0)
    planner = graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    goal = PoseStamped()
    goal.header.frame_id, goal.pose.orientation.w = "base_link", 1.0
    graph.until(lambda: states and height(states[-1]) > height(states[0]) + 0.002)
    graph.forget(node)  # it leaves with 1
    graph.until(lambda: node.poll() is not None, lambda: planner.publish(goal))
    output, errors = node.communicate()
    assert node.returncode == 1, errors
    assert json.loads(output)["outcome"] == "it was ended before"
    graph.until(lambda: not np.any(states[-1].velocity))
    assert height(states[0]) < height(states[-1]) < height(states[0]) + 0.05
    assert ended(arm)["refused"] == 0


def height(state: JointState) -> float:
    """Of the tool, m."""
    by_name = dict(zip(state.name, state.position, strict=True))
    return MODEL.fk([by_name[name] for name in MODEL.joint_names])[2, 3]


def test_a_node_that_slept_does_not_go_on_by_itself(graph: Graph):
    """Meanwhile the arm's watchdog has braked it, and somebody may have come close."""
    states = graph.hear(JointState, "/joint_states", 100)
    graph.start(*sim())
    node = start(graph)
    graph.until(lambda: states and np.abs(states[-1].velocity).max() > 0.1)
    with graph.between_ticks(node):
        node.send_signal(signal.SIGSTOP)
    graph.until(lambda: np.abs(states[-1].velocity).max() < 1e-3)
    graph.after(2.0)
    node.send_signal(signal.SIGCONT)
    graph.expect_stop("the loop slept for")
    graph.after(0.2)
    del states[:]
    graph.after(2.5)  # in this time the hand pushes
    assert np.abs([state.velocity for state in states]).max() < 1e-3
