"""How the admittance node comes up: description, names, parameters, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ur_admittance import RobotModel

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters

from tests.cli.support import invoke
from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.stage import CONFIG
from ur_admittance.run.claim import claimed

pytestmark = pytest.mark.slow

URDF = RobotModel.ur("ur5e").to_urdf()


def test_the_description_may_come_late_and_wrong_ones_are_refused_with_the_reason(staged):
    stage = staged("--inactive", "--json")
    stage.until_said("nothing on /robot_description yet")
    assert stage.state == "unconfigured"
    stage.behave(description=URDF[: len(URDF) // 2])
    stage.until_said("/robot_description: URDF: this is no XML")
    stage.behave(description=URDF.replace('"tool0"', '"flange_7"'))
    stage.until_said("'tool0'")
    stage.behave(description=URDF.replace("elbow_joint", "knee_joint"))
    stage.until_said("knee_joint")
    assert stage.state == "unconfigured" and not stage.commands
    stage.behave(description=URDF)
    stage.graph.until(lambda: stage.state == "inactive")
    stage.activate()
    stage.behave(force=[0, 0, 10, 0, 0, 0])
    stage.graph.until(lambda: stage.speed > 0.05)
    stage.behave(force=[0] * 6)
    assert stage.change("deactivate") and stage.change("cleanup")
    assert stage.state == "unconfigured"
    stage.behave(description=RobotModel.ur("ur10e").to_urdf())
    words = "the arm is not the one this node was first configured for; start it anew"
    assert not stage.change("configure")
    stage.until_said(words)
    assert stage.state == "unconfigured"
    stage.behave(description=URDF)
    assert stage.change("configure")
    stage.activate()
    stage.behave(force=[0, 0, 30, 0, 0, 0])
    stage.graph.until(lambda: stage.speed > 0.1)
    change = stage.begin_change("shutdown")  # its answer is lost if it leaves before that is read
    stage.graph.until(lambda: change.done() or stage.node.poll() is not None)
    assert not change.done() or change.result().success
    assert stage.node.wait(PATIENCE) == 0
    stage.until_mute()
    assert stage.speed == 0.0
    assert stage.node.stdout is not None
    summary = json.loads(stage.node.stdout.read())  # of both times that it was active
    sent = stage.trace()[:, 3:]
    moving = np.abs(sent).max(axis=1) > 0.0  # the others may be commands of rest, without a tick
    assert moving.sum() <= summary["ticks"] <= len(sent)


def test_it_says_what_is_missing_on_the_other_side(graph: Graph, staged):
    twice = CONFIG.replace("control_rate: 25", "control_rate: 50")
    staged("--model", "ur5e", "--keep-trying", config=twice)
    file = graph.folder / "position.yaml"
    file.write_text(CONFIG.replace("mode: velocity", "mode: position"))
    name = ("--ros-args", "-r", "__node:=second")
    more = ("--model", "ur5e", "--keep-trying", *name)
    graph.start("run", "--robot", "ros2", "--config", str(file), *more)
    wanted = (
        "joint states come on /joint_states 25 times a second, control_rate is 50 Hz",
        "nobody listens on /forward_position_controller/commands; load and activate that",
    )
    graph.until(lambda: all(map(graph.has_said, wanted)))


def test_ros_gives_it_names_topics_and_parameters(graph: Graph, staged):
    file = graph.folder / "ros.yaml"
    file.write_text("/**: {ros__parameters: {max_linear_velocity: 1, admittance.frame: base}}\n")
    arguments = (
        "--ros-args",
        "-r",
        "__node:=left",
        "-r",
        "__ns:=/cell",
        "--params-file",
        str(file),
    )
    arguments += ("-r", "/wrist_ft_sensor:=/netft/raw_sensor", "-p", "limits.joint_margin:=0.2")
    stage = staged("--model", "ur5e", "--inactive", *arguments, config=CONFIG)
    graph.until(
        lambda: (
            graph.call(GetState, "/cell/left/get_state", GetState.Request()).current_state.label
            == "inactive"
        )
    )
    names = ["max_linear_velocity", "admittance.frame", "limits.joint_margin", "control_rate"]
    request = GetParameters.Request(names=names)
    speed, frame, margin, rate = graph.call(
        GetParameters, "/cell/left/get_parameters", request
    ).values
    assert (speed.double_value, frame.string_value) == (1.0, "base")
    assert (margin.double_value, rate.double_value) == (0.2, 25.0)
    graph.until(lambda: graph.node.count_subscribers("/netft/raw_sensor") == 1)
    assert graph.node.count_subscribers("/wrist_ft_sensor") == 0
    assert stage.node.poll() is None


def test_a_compensated_wrench_is_not_compensated_again(graph: Graph, staged):
    config = CONFIG + "payload: {mass: 2, force_bias: [5, 5, 5]}\n"
    stage = staged("--model", "ur5e", "--inactive", "--wrench", "/netft/proc_probe", config=config)
    graph.until(lambda: stage.state == "inactive")
    request = GetParameters.Request(names=["payload.mass", "admittance.filter_coefficient"])
    mass, filtering = graph.call(GetParameters, "/admittance_node/get_parameters", request).values
    assert (mass.double_value, filtering.double_value) == (0.0, 1.0)
    (result,) = stage.set({"payload.mass": 1.0})
    assert "has been applied to /netft/proc_probe already" in result.reason
    assert not stage.trigger("tare").success


def test_parameters_can_be_frozen(graph: Graph, staged):
    stage = staged("--model", "ur5e", "--inactive", config=CONFIG + "dynamic_parameters: false\n")
    graph.until(lambda: stage.state == "inactive")
    (result,) = stage.set({"max_linear_velocity": 0.2})
    assert not result.successful and "dynamic_parameters is false" in result.reason


@pytest.mark.parametrize(
    ("config", "arguments", "words"),
    [
        ("equilibrium: nowhere.yaml\n", (), "nowhere.yaml"),
        ("equilibrium: half.yaml\n", (), "half.yaml"),
        ("", ("--ros-args", "-p", "admittance.masss:=3.0"), "did you mean admittance.mass"),
        ("", ("--model", "ur6"), "neither an arm"),
        ("", ("--ros-args", "-p", "use_sim_time:=true"), "use_sim_time: must be false: ages of"),
        ("tip: probe\n", ("--model", "ur5e"), "'probe' is unknown to the tables of ur5e"),
    ],
)
def test_what_cannot_work_fails_at_once(graph: Graph, config, arguments, words):
    file = Path(graph.folder, "c.yaml")
    file.write_text(config or "{}")
    Path(graph.folder, "half.yaml").write_text("position: [0.1, 0.2]\n")
    process = graph.start("run", "--robot", "ros2", "--config", str(file), *arguments)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and words in errors
    graph.forget(process)


def test_ros_and_the_blackboard_show_the_same_parameters(graph: Graph, staged):
    from ur_admittance.blackboard import Blackboard

    stage = staged("--model", "ur5e", "--inactive")
    graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.activate()
    reader = Blackboard.attach("ros2")
    reader.set({"admittance.mass": [7.0] * 6})
    request = GetParameters.Request(names=["admittance.mass"])

    def mass() -> list[float]:
        answer = graph.call(GetParameters, "/admittance_node/get_parameters", request)
        return list(answer.values[0].double_array_value)

    graph.until(lambda: mass() == [7.0] * 6)
    assert stage.set({"max_linear_velocity": 0.3})[0].successful
    graph.until(lambda: not reader.pending)
    assert reader.config().admittance.mass == (7.0,) * 6
    assert reader.config().max_linear_velocity == 0.3
    graph.until(lambda: reader.latest() is not None)
    latest = reader.latest()
    assert latest is not None and np.isfinite(latest["qd"]).all()


def test_a_node_is_refused_while_another_process_is_about_to_be_the_controller(runtime):
    """Row 53 of the faults: it listens to nothing on the graph, and moves nothing."""
    with claimed("ros2"):
        result = invoke("run", "--robot", "ros2", "--inactive", "--json")
    assert result.exit_code == 1
    assert "ros2: another process of yours is about to control it" in result.stderr
