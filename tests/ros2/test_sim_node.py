"""The simulated arm on a ROS 2 graph: a real process, over DDS."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from ur_admittance import Config, RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from builtin_interfaces.msg import Duration as DurationMessage
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.peer import LATCHED

MODEL = RobotModel.ur("ur5e")
VELOCITY = "/forward_velocity_controller/commands"
POSITION = "/forward_position_controller/commands"
TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def simulated(graph: Graph) -> None:
    """The arm is never late on a clock of its own."""
    graph.simulate_time()


def force_of(message) -> np.ndarray:
    return np.array([message.wrench.force.x, message.wrench.force.y, message.wrench.force.z])


def when(message) -> int:
    """Its stamp, ns."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def at_rest(states: list) -> bool:
    return bool(states) and max(map(abs, states[-1].velocity)) < 1e-3


def test_it_publishes_what_the_driver_and_a_sensor_would(graph: Graph):
    joints = graph.hear(JointState, "/joint_states", 100)  # reliable, as robot_state_publisher may
    wrist = graph.hear(WrenchStamped, "/wrist_ft_sensor")
    netft = graph.hear(WrenchStamped, "/netft/raw_sensor")
    graph.start("sim-ros2", "--ideal", "--seconds", "60")
    graph.until(lambda: len(joints) > 200 and len(wrist) > 200 and len(netft) > 200)
    described = graph.hear(String, "/robot_description", LATCHED)  # later than it was published
    graph.until(lambda: described)

    assert list(joints[0].name) == list(MODEL.joint_names)
    np.testing.assert_allclose(joints[0].position, MODEL.home, atol=1e-9)
    assert joints[0].header.frame_id == "base_link" and wrist[0].header.frame_id == "tool0"
    stamps = np.array([when(message) for message in joints])
    gaps = np.diff(stamps) / 2e6  # absolute deadlines; a test that reads too late misses some
    np.testing.assert_allclose(gaps, np.rint(gaps), atol=1e-3)
    assert np.rint(gaps).min() == 1
    model = RobotModel.from_urdf(described[0].data)
    np.testing.assert_allclose(model.fk(MODEL.home), MODEL.fk(MODEL.home), atol=1e-9)


def test_it_obeys_velocities_and_brakes_when_they_cease(graph: Graph):
    joints = graph.hear(JointState, "/joint_states")
    graph.start("sim-ros2")
    command = graph.publisher(Float64MultiArray, VELOCITY, 1)
    turn = Float64MultiArray(data=[0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    graph.until(lambda: joints and joints[-1].position[0] > 0.1, lambda: command.publish(turn))
    assert max(state.velocity[0] for state in joints) < 0.31
    graph.after(0.3)  # all commands have arrived
    graph.until(lambda: at_rest(joints))
    where = joints[-1].position[0]
    graph.after(0.3)
    assert joints[-1].position[0] == pytest.approx(where, abs=1e-3)


def test_with_repeat_it_goes_on_for_ever_as_forward_velocity_controller_does(graph: Graph):
    joints = graph.hear(JointState, "/joint_states")
    graph.start("sim-ros2", "--repeat")
    command = graph.publisher(Float64MultiArray, VELOCITY, 1)
    command.publish(Float64MultiArray(data=[0.3, 0.0, 0.0, 0.0, 0.0, 0.0]))
    graph.until(lambda: joints and joints[-1].position[0] > 0.3)
    assert joints[-1].velocity[0] == pytest.approx(0.3, abs=0.01)
    command.publish(Float64MultiArray(data=[0.0] * 6))
    graph.until(lambda: at_rest(joints))


def test_it_obeys_positions_and_trajectories_with_the_joints_in_any_order(graph: Graph):
    joints = graph.hear(JointState, "/joint_states")
    graph.start("sim-ros2", "--ideal")
    command = graph.publisher(Float64MultiArray, POSITION, 1)
    goal = MODEL.home + np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
    command.publish(Float64MultiArray(data=goal.tolist()))
    graph.until(lambda: joints and np.allclose(joints[-1].position, goal, atol=1e-6))

    command = graph.publisher(JointTrajectory, TRAJECTORY, 1)
    goal = MODEL.home + np.array([0.0, 0.0, 0.02, 0.0, 0.0, -0.1])
    point = JointTrajectoryPoint(
        positions=goal[::-1].tolist(), velocities=[0.0] * 6, time_from_start=DurationMessage(sec=1)
    )
    command.publish(JointTrajectory(joint_names=MODEL.joint_names[::-1], points=[point]))
    graph.until(lambda: np.allclose(joints[-1].position, goal, atol=1e-6))


def test_a_push_from_outside_is_felt_by_the_sensor_and_ends_by_itself(graph: Graph):
    wrist = graph.hear(WrenchStamped, "/wrist_ft_sensor", 1000)
    graph.start("sim-ros2", "--ideal")
    push = graph.publisher(WrenchStamped, "/sim/push", 1)
    force = np.array([3.0, -4.0, 12.0])
    push.publish(WrenchStamped(wrench=Wrench(force=Vector3(x=3.0, y=-4.0, z=12.0))))
    felt = MODEL.fk(MODEL.home)[:3, :3].T @ force  # the sensor's axes
    pushed: list[int] = []

    def over() -> bool:
        while wrist:
            message = wrist.pop(0)
            if np.allclose(force_of(message), felt, atol=1e-3):
                pushed.append(when(message))
            elif pushed and np.allclose(force_of(message), 0.0, atol=1e-3):
                return True
        return False

    graph.until(over)
    assert 0.99e9 < pushed[-1] - pushed[0] < 1.01e9  # a second


def test_it_ignores_what_makes_no_sense_and_says_so(graph: Graph):
    joints = graph.hear(JointState, "/joint_states")
    process = graph.start("sim-ros2", "--json")
    velocity = graph.publisher(Float64MultiArray, VELOCITY)
    trajectory = graph.publisher(JointTrajectory, TRAJECTORY)
    push = graph.publisher(WrenchStamped, "/sim/push")
    graph.until(lambda: joints)
    names = list(MODEL.joint_names)
    soon = DurationMessage(nanosec=2_000_000)
    point = JointTrajectoryPoint(positions=[0.1] * 6, time_from_start=soon)
    past = Header(stamp=Time(sec=1))
    nonsense = (
        (velocity, Float64MultiArray(data=[0.1] * 5)),
        (velocity, Float64MultiArray(data=[float("nan")] * 6)),
        (trajectory, JointTrajectory(joint_names=["elbow_joint"], points=[point])),
        (trajectory, JointTrajectory(joint_names=names, points=[point, point])),
        (trajectory, JointTrajectory(joint_names=names, points=[JointTrajectoryPoint()])),
        (trajectory, JointTrajectory(joint_names=names, points=[point], header=past)),
        (push, WrenchStamped(header=Header(frame_id="tool0"))),
    )
    for publisher, message in nonsense:
        publisher.publish(message)
    for publisher in (velocity, trajectory, push):
        assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE))
    graph.after(0.1)  # they have arrived, and now are taken
    np.testing.assert_allclose(joints[-1].position, MODEL.home, atol=1e-3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    served = json.loads(out)
    assert (served["commands"], served["refused"]) == (0, len(nonsense))
    assert f"{VELOCITY}: ignored: send_velocity: qd: must be six numbers" in err


def test_a_scene_has_its_tool_and_writes_the_configuration_that_goes_with_it(
    graph: Graph, tmp_path: Path
):
    wrist = graph.hear(WrenchStamped, "/wrist_ft_sensor")
    process = graph.start("sim-ros2", "--scenario", "wall", "--write-config", "wall.yaml")
    graph.until(lambda: len(wrist) > 20)
    config = Config.load(tmp_path / "wall.yaml")
    assert (config.tip, config.ft_frame) == ("probe", "tool0")
    # the tool points down: the sensor's z is the weight's direction
    force = np.mean([force_of(message) for message in wrist], axis=0)
    weight = np.array([0.0, 0.0, 9.81 * config.payload.mass])
    np.testing.assert_allclose(force, weight + config.payload.force_bias, atol=0.3)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "the arm is at rest" in out
