"""What those on the graph may not do to the node, unless whoever started it allows it."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance import Config, ConfigError, RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import Bool, Float64MultiArray

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.peer import LATCHED
from tests.ros2.stage import CONFIG, NODE, RATE, Stage
from tests.ros2.stub_arm import MODEL
from ur_admittance.blackboard import Blackboard
from ur_admittance.motion.straight import SLOW
from ur_admittance.robots.ros2 import wire

pytestmark = pytest.mark.slow

PROGRAM = "/io_and_status_controller/robot_program_running"


@pytest.fixture
def strict(staged) -> Stage:
    """A node that allows nothing, active, beside a good arm."""
    stage = staged("--model", "ur5e", "--inactive", allowed=())
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.activate()
    stage.graph.until(lambda: len(stage.commands) > 3)
    return stage


def pose_of(q: np.ndarray) -> str:
    """An equilibrium for the configuration, as YAML, with the tool turned as it is at home."""
    position = ", ".join(f"{x:.6f}" for x in MODEL.fk(q)[:3, 3])
    from ur_admittance.kernel.spatial import quaternion_of

    R = np.ascontiguousarray(MODEL.fk(MODEL.home)[:3, :3])
    wxyz = ", ".join(f"{x:.9f}" for x in quaternion_of(R))
    return f"equilibrium: {{position: [{position}], orientation: [{wxyz}]}}\n"


@pytest.mark.parametrize("allowed", [(), ("--allow-outside",)])
def test_an_activation_outside_the_box_is_refused_unless_it_is_allowed(staged, allowed):
    x = float(MODEL.fk(MODEL.home)[0, 3]) + 0.05
    walls = f"limits: {{workspace_min: [{x:.3f}, -5.0, -5.0]}}\n"
    stage = staged("--model", "ur5e", "--inactive", config=CONFIG + walls, allowed=allowed)
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    assert stage.attempt() == bool(allowed)


@pytest.mark.parametrize("allowed", [(), ("--allow-force",)])
def test_an_activation_that_would_press_is_refused_unless_it_is_allowed(staged, allowed):
    axes = "[false, false, true, false, false, false]"
    presses = f"force: {{enabled_axes: {axes}, target: [0, 0, 5, 0, 0, 0]}}\n"
    stage = staged("--model", "ur5e", "--inactive", config=CONFIG + presses, allowed=allowed)
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    if allowed:
        stage.activate()
    else:
        stage.refuses("sets off by itself along z")
        assert stage.said("start this node with --allow-force")


def test_nobody_streams_unless_it_is_allowed(strict: Stage):
    mass = strict.graph.publisher(Float64MultiArray, f"{NODE}/mass")
    words = f"{NODE}/mass: refused: not permitted; start this node with --allow-streams"
    heavy = Float64MultiArray(data=[8.0] * 6)
    strict.graph.until(lambda: strict.said(words), lambda: mass.publish(heavy))
    assert strict.state == "active"


def test_a_node_is_not_loosened_before_it_is_configured(staged):
    stage = staged("--model", "ur5e", "--unconfigured", allowed=())
    stage.graph.until(lambda: stage.state == "unconfigured")
    (result,) = stage.set({"max_linear_velocity": 0.8})
    assert not result.successful and "before the node is configured" in result.reason
    (result,) = stage.set({"admittance.mass": [4.0] * 3 + [0.4] * 3})
    assert result.successful  # as it is


def test_limits_may_be_tightened_and_not_loosened_from_the_graph_or_the_blackboard(strict: Stage):
    (result,) = strict.set({"max_linear_velocity": 5.0})
    assert not result.successful
    assert "may only be lowered from outside" in result.reason
    force = [0.0, 0.0, 190.0, 0.0, 0.0, 0.0]
    for name, value in {"force.target": force, "accept_contact_instability": True}.items():
        (result,) = strict.set({name: value})
        assert not result.successful and "from outside" in result.reason
    (result,) = strict.set({"payload.mass": 1.0})
    assert not result.successful and "--allow-loosening" in result.reason
    reader = Blackboard.attach("ros2")
    with pytest.raises(ConfigError, match=r"safety\.max_force: may only be lowered"):
        reader.set({"safety.max_force": 1000.0})
    assert strict.set({"max_linear_velocity": 0.2})[0].successful
    reader.set({"safety.max_force": 100.0})
    assert "not while the arm gives way" in strict.trigger("tare").message


def test_what_may_not_be_loosened_may_not_be_so_by_going_inactive(strict: Stage):
    assert strict.set({"admittance.mass": [8.0] * 3 + [0.8] * 3})[0].successful
    assert strict.change("deactivate")
    (result,) = strict.set({"max_linear_velocity": 0.8})
    assert not result.successful and "max_linear_velocity: may only be lowered" in result.reason
    with pytest.raises(ConfigError, match=r"safety\.max_force: may only be lowered"):
        Blackboard.attach("ros2").set({"safety.max_force": 1000.0})
    strict.behave(force=[1, 2, 3, 0, 0, 0])
    strict.tare("1.000, 2.000, 3.000 N")  # with a check of its own
    (result,) = strict.set({"admittance.mass": [20.0] * 3 + [2.0] * 3})
    assert not result.successful and "4 -> 20" in result.reason  # near the start, as ever
    (result,) = strict.set({"payload.force_bias": [0.0, 0.0, 0.0]})
    assert not result.successful and "may not change" in result.reason
    strict.activate()
    (result,) = strict.set({"max_linear_velocity": 0.8})
    assert not result.successful


def test_a_node_goes_by_what_was_changed_on_the_blackboard(strict: Stage):
    reader = Blackboard.attach("ros2")
    reader.set({"safety.max_force": 100.0})
    assert strict.change("deactivate")
    reader.set({"safety.start_force": 0.1, "max_linear_velocity": 0.1})
    strict.behave(force=[0, 0, 1.0, 0, 0, 0])
    strict.graph.until(lambda: "at most 0.1 N" in strict.trigger("tare").message)
    strict.behave(force=[0] * 6)
    strict.activate()
    before = reader.index
    strict.graph.until(lambda: reader.index > before + 3)
    record = reader.latest()
    assert record is not None
    config = Config.loads(str(reader.text_of(int(record["inputs"]["generation"]))))
    assert (config.max_linear_velocity, config.safety.max_force) == (0.1, 100.0)


def test_a_stop_cannot_be_cleared_from_the_graph_and_says_why_everywhere(strict: Stage):
    told = strict.graph.hear(DiagnosticArray, "/diagnostics", 10)
    strict.behave(force=[0, 0, 20, 0, 0, 0])
    strict.graph.until(lambda: strict.speed > 0.05)
    assert strict.trigger("stop").success
    again = strict.trigger("stop")
    assert again.success and "already: asked for by the stop service" in again.message
    strict.expect_stop("asked for by the stop service; what to do: see that")
    strict.graph.until(lambda: strict.speed == 0.0)
    answer = strict.trigger("reset")
    assert not answer.success and "--remote-reset" in answer.message
    assert strict.change("deactivate")
    strict.behave(force=[0] * 6)
    assert not strict.change("activate")
    strict.until_said("not yet: the arm was stopped: asked for by the stop service")

    def shown() -> bool:
        status = told[-1].status[0] if told else None
        words = status.message if status else ""
        values = {each.key: each.value for each in status.values} if status else {}
        told_code = values.get("stopped by") == "asked" and "start again" in values["what to do"]
        stopped = "stopped: asked for by the stop service" in words
        return told_code and stopped and "--remote-reset" in words

    strict.graph.until(shown)


def test_a_reset_while_the_arm_brakes_says_so(staged):
    slow = CONFIG + "limits: {max_linear_acceleration: 0.05}\n"
    stage = staged("--model", "ur5e", "--inactive", config=slow)
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    for service in ("stop", "reset"):  # so that later they answer at once
        stage.trigger(service)
    stage.activate()
    stage.behave(force=[0, 0, 20, 0, 0, 0])
    stage.graph.until(lambda: stage.speed > 0.2)
    assert stage.trigger("stop").success
    answer = stage.trigger("reset")
    stage.expect_stop("asked for by the stop service")
    assert not answer.success
    assert "the arm is still braking (asked for by the stop service" in answer.message


def test_the_program_on_the_robot_forbids_a_start_and_its_end_stops_the_arm(staged):
    stage = staged("--model", "ur5e", "--inactive")
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    program = stage.graph.publisher(Bool, PROGRAM, LATCHED)
    program.publish(Bool(data=False))
    assert wire.arrived(program, PATIENCE)
    stage.refuses("the robot's program does not run")
    program.publish(Bool(data=True))
    stage.activate()
    program.publish(Bool(data=False))
    stage.expect_stop("the robot's program does not run; what to do: press")


def test_an_equilibrium_far_away_is_refused_where_nobody_can_be_asked(graph: Graph, staged):
    away = MODEL.home + np.array([0.5, 0, 0, 0, 0, 0])
    config = CONFIG + pose_of(away)
    stage = staged("--model", "ur5e", config=config, allowed=())
    _, problems = stage.node.communicate(timeout=PATIENCE)
    graph.forget(stage.node)
    assert stage.node.returncode == 1
    assert "from where the arm stands" in problems and "--allow-travel" in problems
    assert not stage.commands


def test_an_activation_that_would_travel_is_refused_and_with_leave_it_is_slow(staged):
    away = MODEL.home + np.array([0.5, 0, 0, 0, 0, 0])
    config = CONFIG.replace("engage_seconds: 0}", "engage_seconds: 0, stiffness: [300, 300, 300")
    config = config.replace("[300, 300, 300", "[300, 300, 300, 20, 20, 20]}") + pose_of(away)
    stage = staged("--model", "ur5e", "--inactive", config=config, allowed=("--allow-travel",))
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.activate()
    stage.until_said("from where the arm stands; it goes there, at most 50 mm/s")
    goal, start = MODEL.fk(away)[:3, 3], stage.tool
    stage.graph.until(lambda: np.linalg.norm(stage.tool - start) > 0.1)
    sent = stage.trace()[:, 3:]
    q = MODEL.home + (np.cumsum(sent, axis=0) - sent) / RATE  # the stub does as it is told
    speeds = [np.linalg.norm(MODEL.jacobian(a)[:3] @ qd) for a, qd in zip(q, sent, strict=True)]
    assert 0.9 * SLOW < max(speeds) <= SLOW * (1 + 1e-6)
    assert np.linalg.norm(goal - stage.tool) < np.linalg.norm(goal - start)


def test_one_that_is_refused_is_not_tried_again_and_says_why(graph: Graph, staged):
    stage = staged("--model", "ur5e", config=CONFIG.replace("start_force: 50", "start_force: 1"))
    stage.behave(force=[0, 0, 30, 0, 0, 0])
    _, problems = stage.node.communicate(timeout=PATIENCE)
    graph.forget(stage.node)
    assert stage.node.returncode == 1
    assert "30 N are unexplained" in problems and "--keep-trying" in problems
    assert not stage.commands


def test_a_wrench_in_another_frame_is_not_believed_and_stops_the_arm(strict: Stage):
    before = strict.tool
    strict.behave(frame="elsewhere", force=[0, 0, 30, 0, 0, 0])
    strict.expect_stop("is given in 'elsewhere', those before in 'tool0'; it is not believed")
    strict.graph.until(lambda: strict.speed == 0.0)
    assert np.linalg.norm(strict.tool - before) < 1e-6


def test_another_arm_is_refused_at_activation_and_at_reset(staged):
    stage = staged("--inactive")
    stage.behave(description=RobotModel.ur("ur5e").to_urdf())
    stage.graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.activate()
    stage.behave(description=RobotModel.ur("ur10e").to_urdf())
    stage.stop()
    answer = stage.trigger("reset")
    assert not answer.success
    assert "the arm is not the one this node was first configured for" in answer.message
    assert stage.change("deactivate")
    stage.refuses("the arm is not the one this node was first configured for")
    stage.behave(description=RobotModel.ur("ur5e").to_urdf())
    stage.activate()


def test_a_description_of_another_arm_than_the_one_given_is_refused(staged):
    stage = staged("--model", "ur5e", "--inactive")
    stage.graph.until(lambda: stage.state == "inactive")
    stage.activate()  # it has heard the arm
    assert stage.change("deactivate")
    stage.behave(description=RobotModel.ur("ur10e").to_urdf())
    assert not stage.change("activate")
    stage.until_said("is not the arm that was given (ur5e)")


def test_desired_poses_of_two_publishers_are_refused(strict: Stage):
    first = strict.graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    second = strict.graph.publisher(PoseStamped, f"{NODE}/desired_pose")
    message = PoseStamped()
    message.header.frame_id = "base_link"
    p, o = message.pose.position, message.pose.orientation
    (p.x, p.y, p.z), o.w, o.x = map(float, strict.tool), 0.0, 1.0

    def both() -> None:
        first.publish(message)
        second.publish(message)

    words = f"{NODE}/desired_pose: refused: 2 publishers send there; keep one"
    strict.graph.until(lambda: strict.said(words), both)
    assert strict.state == "active"
