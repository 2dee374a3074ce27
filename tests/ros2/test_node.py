"""The admittance node as other nodes see it: two real processes, over DDS."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ur_admittance import Config

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.parameter import Parameter
from rclpy.qos import ReliabilityPolicy
from std_msgs.msg import Float64MultiArray

from tests.ros2.stage import COMMANDS, NODE, RATE, Stage
from tests.ros2.stub_arm import MODEL
from ur_admittance.robots.ros2.wire import NAMELESS

pytestmark = pytest.mark.slow


# --- life cycle ---


def test_inactive_it_publishes_nothing_and_active_it_gives_way(stage: Stage):
    stage.graph.after(0.5)
    assert not stage.commands
    before = stage.tool
    stage.activate()
    assert stage.state == "active"
    stage.graph.until(lambda: len(stage.commands) > 5)
    assert list(stage.commands[0].data) == [0.0] * 6
    stage.behave(force=[0, 0, 10, 0, 0, 0])  # in sensor axes: down
    stage.graph.until(lambda: stage.tool[2] < before[2] - 0.02)
    stage.behave(force=[0] * 6)
    assert stage.change("deactivate") and stage.state == "inactive"
    # The arm is at rest by then, and no command comes any more.
    stage.until_mute()
    assert stage.speed == 0.0
    stage.commands.clear()
    stage.graph.after(0.5)
    assert not stage.commands


def test_it_answers_while_it_looks_at_the_arm_before_an_activation(stage: Stage):
    """The guard is the last to be looked at, and here it takes its time."""
    children = Path(f"/proc/{stage.node.pid}/task/{stage.node.pid}/children").read_text().split()
    (guard,) = [p for p in children if "guard_process" in Path(f"/proc/{p}/cmdline").read_text()]
    os.kill(int(guard), signal.SIGSTOP)
    try:
        activation = stage.begin_change("activate")
        stage.graph.until(lambda: stage.graph.node.count_publishers(COMMANDS))
        assert stage.state == "inactive" and not activation.done()
    finally:
        os.kill(int(guard), signal.SIGCONT)
    stage.graph.until(activation.done)
    assert activation.result().success and stage.state == "active"


def test_leaving_while_it_moves_brakes_first(active: Stage):
    active.behave(force=[0, 0, 30, 0, 0, 0])
    active.graph.until(lambda: active.speed > 0.1)
    before = len(active.commands)
    assert active.change("deactivate")
    active.until_mute()
    speeds = [np.abs(m.data).max() for m in active.commands[before:]]
    assert speeds and speeds[-1] == 0.0
    braking = speeds[int(np.argmax(speeds)) :]
    assert all(b <= a for a, b in pairwise(braking)) and len(braking) > 2


def test_a_transition_that_leads_nowhere_is_refused(active: Stage):
    assert not active.change("configure") and not active.change("cleanup")
    active.commands.clear()
    active.graph.until(lambda: len(active.commands) > 3)
    assert active.state == "active"


def test_it_refuses_to_start_while_the_arm_moves(stage: Stage):
    stage.behave(drift=0.05)
    stage.refuses("the arm moves: its tool at ")
    assert stage.state == "inactive" and not stage.commands


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"joints": False}, "the last message on /joint_states is "),
        ({"wrench": False}, "the last message on /wrist_ft_sensor is "),
        ({"nan_joints": 10000}, "joint positions on /joint_states are not finite"),
        ({"nan_wrench": 10000}, "the wrench on /wrist_ft_sensor is not finite"),
        ({"missing": 1}, "it lacks wrist_3_joint"),
        ({"frame": "elbow"}, "is given in 'elbow', ft_frame is 'tool0'"),
        ({"force": [0, 0, 60, 0, 0, 0]}, "60 N are unexplained"),
    ],
)
def test_it_refuses_to_start_on_bad_data(stage: Stage, how: dict, words: str):
    stage.behave(**how)
    stage.graph.after(0.6)  # what was sent before is old
    stage.refuses(words)
    assert not stage.commands


@contextmanager
def rival(stage: Stage) -> Iterator[None]:
    """Another publisher of commands, that the node knows of; when it is gone, it knows that."""
    publisher = stage.graph.node.create_publisher(Float64MultiArray, COMMANDS, 1)
    try:
        stage.graph.known_to(NODE)
        yield
    finally:
        stage.graph.node.destroy_publisher(publisher)
        stage.graph.known_to(NODE)


def test_it_refuses_to_start_beside_another_publisher_and_stops_when_one_comes(stage: Stage):
    with rival(stage):
        stage.refuses(f"not yet: /test publishes on {COMMANDS}, too; what to do: end it first")
    stage.activate()
    with rival(stage):
        stage.expect_stop(*(f"{who} publishes on {COMMANDS}" for who in ("/test", NAMELESS)))
        answer = stage.trigger("reset")
        assert not answer.success and "end it first" in answer.message
    stage.reset()


# --- parameters ---


def get(stage: Stage, *names: str) -> list:
    request = GetParameters.Request(names=list(names))
    values = stage.graph.call(GetParameters, f"{NODE}/get_parameters", request).values
    return [Parameter.from_parameter_msg(_named(value)).value for value in values]


def _named(value):
    from rcl_interfaces.msg import Parameter as Message

    return Message(name="x", value=value)


def test_a_change_is_taken_whole_and_takes_effect(active: Stage):
    results = active.set({"admittance.mass": [6.0] * 6, "max_linear_velocity": 1})
    assert [r.successful for r in results] == [True, True], results
    mass, speed = get(active, "admittance.mass", "max_linear_velocity")
    assert list(mass) == [6.0] * 6 and speed == 1.0
    results = active.set({"admittance.mass": [2.0] * 6, "max_linear_velocity": -1.0})
    assert not any(r.successful for r in results)
    assert "max_linear_velocity" in results[0].reason
    results = active.set({"admittance.mass": [3.0] * 6, "limits.workspace_min": [1.0, 1.0, 11.0]})
    assert not any(r.successful for r in results)
    assert "workspace" in results[0].reason
    assert list(get(active, "admittance.mass")[0]) == [6.0] * 6


def test_one_change_may_show_in_other_parameters(active: Stage):
    assert active.set({"admittance.min_motion_threshold": 2.5})[0].successful
    names = ("admittance.deadband_force", "admittance.deadband_torque")
    active.graph.until(lambda: get(active, *names) == [2.5, 2.5])
    assert active.set({"admittance.filter_cutoff_hz": 5.0})[0].successful
    assert active.set({"admittance.filter_cutoff_hz": "none"})[0].successful
    assert get(active, "admittance.filter_cutoff_hz") == ["none"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("control_rate", 100.0, "cannot change while the node lives"),
        ("output.mode", "position", "cannot change while the node lives"),
        ("admittance.masss", [1.0] * 6, "did you mean admittance.mass?"),
        ("use_sim_time", True, "use_sim_time: must be false"),
        ("admittance.mass", [1.0, 2.0], "six numbers"),
        ("admittance.mass", [1.0, 2.0, 3.0, 4.0, 5.0, float("nan")], "six numbers"),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_reason(stage: Stage, name, value, words):
    (result,) = stage.set({name: value})
    assert not result.successful and words in result.reason


def test_read_only_parameters_may_be_set_to_what_they_are(stage: Stage):
    results = stage.set({"control_rate": float(RATE), "output.mode": "velocity"})
    assert all(result.successful for result in results), results


def test_descriptors_come_from_the_schema(stage: Stage):
    names = ["max_linear_velocity", "admittance.mass", "control_rate", "safety.frozen_samples"]
    request = DescribeParameters.Request(names=names)
    answer = stage.graph.call(DescribeParameters, f"{NODE}/describe_parameters", request)
    speed, mass, rate, frozen = answer.descriptors
    assert speed.description == "tool speed [m/s]" and not speed.read_only
    assert speed.floating_point_range[0].to_value == 5.0
    assert "kg m^2" in mass.description and "six numbers" in mass.additional_constraints
    assert rate.read_only and frozen.integer_range[0].to_value == 100000
    answer = stage.graph.call(ListParameters, f"{NODE}/list_parameters", ListParameters.Request())
    assert {*Config().flat()} <= {*answer.result.names}


# --- desired pose ---


def pose(frame: str = "base_link", z: float = 0.5, w: float = 1.0) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, o.w, o.x = -0.4, 0.2, z, 0.0, w
    return message


def test_a_desired_pose_is_approached_inside_the_limits(active: Stage):
    assert active.set({"admittance.stiffness": [200.0] * 3 + [20.0] * 3})[0].successful
    publisher = active.graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    before, goal = active.tool, pose(z=float(active.tool[2]) - 1.0)
    active.graph.until(lambda: active.tool[2] < before[2] - 0.1, lambda: publisher.publish(goal))
    path = np.array([MODEL.fk(state.position)[:3, 3] for state in active.states])
    speeds = np.linalg.norm(np.diff(path, axis=0), axis=1) * RATE
    (most,) = get(active, "max_linear_velocity")
    # An arm that goes straight in its joints for a cycle deviates a little from the tool's path.
    assert 0.5 * most < speeds.max() < 1.01 * most
    assert active.state == "active"


def test_a_desired_twist_moves_the_goal_while_it_comes(active: Stage):
    assert active.set({"admittance.stiffness": [300.0] * 3 + [20.0] * 3})[0].successful
    twist, z = active.graph.publisher(TwistStamped, f"{NODE}/desired_twist"), active.tool[2]
    message = TwistStamped(twist=Twist())
    message.header.frame_id = "base_link"
    message.twist.linear.z = 0.1
    active.graph.until(lambda: active.tool[2] > z + 0.05, lambda: twist.publish(message))
    active.graph.until(lambda: active.speed < 1e-3)  # the publisher is mute
    z = active.tool[2]
    active.graph.after(0.5)
    assert active.tool[2] == pytest.approx(z, abs=1e-3) and active.state == "active"


def test_what_happens_while_it_is_inactive_makes_no_jump_later(stage: Stage):
    assert stage.set({"admittance.stiffness": [300.0] * 3 + [20.0] * 3})[0].successful
    publisher = stage.graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    words = f"{NODE}/desired_pose: refused: the node is not active"
    stage.graph.until(lambda: stage.said(words), lambda: publisher.publish(pose()))
    before = stage.tool
    stage.behave(drift=0.3)  # somebody moves the arm
    stage.graph.until(lambda: np.linalg.norm(stage.tool - before) > 0.1)
    stage.behave(drift=0.0)
    stage.activate()
    stage.graph.until(lambda: len(stage.commands) > 10)
    assert np.abs([command.data for command in stage.commands]).max() < 1e-9


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (pose(frame="moon"), "frame_id is 'moon', it must be 'base_link'"),
        (pose(w=0.0), "must be a quaternion of length 1"),
        (pose(z=float("nan")), "every number must be finite"),
        (pose(z=1000.0), "at most 100 m from the base"),
    ],
)
def test_a_desired_pose_that_is_none_is_refused(active: Stage, message, words):
    publisher = active.graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    active.graph.until(lambda: active.said(words), lambda: publisher.publish(message))
    assert active.said(f"{NODE}/desired_pose: refused: ")
    assert active.state == "active" and active.speed < 1e-9


# --- services and monitoring ---


def test_taring_takes_away_what_the_sensor_feels_untouched(stage: Stage):
    stage.behave(force=[3.0, -4.0, 5.0, 0.1, 0.2, -0.3])
    stage.tare("3.000, -4.000, 5.000 N")
    assert list(get(stage, "payload.force_bias")[0]) == pytest.approx([3.0, -4.0, 5.0])
    stage.activate()
    stage.graph.until(lambda: len(stage.commands) > 20)
    assert np.abs([command.data for command in stage.commands]).max() < 1e-9
    stage.behave(force=[0] * 6)
    stage.graph.until(lambda: stage.speed > 0.01)


def test_stop_brakes_and_reset_goes_on(active: Stage):
    active.behave(force=[0, 0, 20, 0, 0, 0])
    active.graph.until(lambda: active.speed > 0.05)
    active.stop()
    active.graph.after(0.3)
    assert active.state == "active" and "already" in active.trigger("stop").message
    assert active.speed == 0.0
    active.behave(force=[0] * 6)
    active.reset()
    active.commands.clear()
    active.graph.until(lambda: active.commands)


def test_the_present_pose_can_become_the_equilibrium(staged):
    active = staged("--model", "ur5e", "--inactive")  # of its own: it is so until the node ends
    active.graph.until(lambda: active.state == "inactive" and active.states)
    active.activate()
    answer = active.trigger("set_equilibrium")
    where = ", ".join(f"{1e3 * x:.1f}" for x in active.tool)
    assert answer.success and where in answer.message
    assert active.set({"admittance.stiffness": [300.0] * 3 + [20.0] * 3})[0].successful
    home = active.tool
    active.behave(force=[0, 0, 15, 0, 0, 0])
    active.graph.until(lambda: active.tool[2] < home[2] - 0.02)
    active.behave(force=[0] * 6)
    active.graph.until(lambda: np.linalg.norm(active.tool - home) < 2e-3)


def test_it_tells_what_it_does(active: Stage):
    twists = active.graph.hear(Twist, "/admittance_cartesian_velocity")
    errors = active.graph.hear(Twist, "/admittance_pose_error")
    wishes = active.graph.hear(Twist, f"{NODE}/cartesian_velocity_command")
    told = active.graph.hear(DiagnosticArray, "/diagnostics", 10)
    all_of_it = active.graph.hear(DiagnosticArray, f"{NODE}/status")
    active.behave(force=[0, 0, 20, 0, 0, 0])
    active.graph.until(lambda: any(t.linear.z < -0.02 for t in twists) and errors and wishes)

    def status() -> dict[str, dict[str, str]]:
        parts = all_of_it[-1].status if all_of_it else []
        return {part.name: {pair.key: pair.value for pair in part.values} for part in parts}

    changes = {"admittance.deadband_force": 1.5, "admittance.mass": [5.0] * 6}
    assert active.set({**changes, "max_linear_velocity": 0.7})[0].successful
    # 20 N less the deadband.
    active.graph.until(lambda: status().get("wrench at the probe", {}).get("z [N]") == "18.5")
    active.graph.until(lambda: status()["gains in force"]["mass x [kg]"] == "5")
    assert float(status()["limits"]["speed [m/s]"]) == 0.7
    assert float(status()["contact"]["stiffness [N/m]"]) == 0.0
    assert all_of_it[-1].header.stamp.sec > 0

    def values() -> dict[str, str]:
        return {pair.key: pair.value for pair in told[-1].status[0].values} if told else {}

    active.graph.until(lambda: values().get("mode") == "active")
    assert values()["lost messages"] == "0"


def test_sensors_are_heard_as_sensors_and_commands_are_reliable(active: Stage):
    node, ours = active.graph.node, "_admittance_node_io"

    def found() -> list[ReliabilityPolicy]:
        infos = [
            *node.get_subscriptions_info_by_topic("/joint_states"),
            *node.get_subscriptions_info_by_topic("/wrist_ft_sensor"),
            *node.get_publishers_info_by_topic(COMMANDS),
        ]
        return [info.qos_profile.reliability for info in infos if info.node_name == ours]

    active.graph.until(lambda: len(found()) == 3)  # whose they are is told later
    joints, wrench, commands = found()
    assert joints == wrench == ReliabilityPolicy.BEST_EFFORT
    assert commands == ReliabilityPolicy.RELIABLE
