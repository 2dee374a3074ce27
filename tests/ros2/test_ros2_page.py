"""What docs/ros2.md and docs/ros2-reference.md say is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ur_admittance import Config

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from rcl_interfaces.msg import ParameterType

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.stage import Stage
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.ros2.parameters import descriptor

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "ros2.md").read_text("utf-8")
SLOW_GRAPH = {"control_rate": 50, "safety.wrench_timeout": 0.08, "safety.joint_timeout": 0.08}
BY_THE_CLOCK = """
import os, pathlib
from tests.ros2 import clock
clock.end_with_parent()
clock.listen(clock.Clock(pathlib.Path(os.environ["CLOCK"])), clock.SLOTS - 1)
"""
TYPES = {
    "bool": ParameterType.PARAMETER_BOOL,
    "integer": ParameterType.PARAMETER_INTEGER,
    "double": ParameterType.PARAMETER_DOUBLE,
    "string": ParameterType.PARAMETER_STRING,
    "bool array": ParameterType.PARAMETER_BOOL_ARRAY,
    "double array": ParameterType.PARAMETER_DOUBLE_ARRAY,
    "string array": ParameterType.PARAMETER_STRING_ARRAY,
}


def block(language: str) -> str:
    """The first fenced block of the page in one language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_the_types_in_the_reference_are_those_that_the_node_declares():
    page = (DOCS / "ros2-reference.md").read_text("utf-8")
    for field in Config.fields():
        row = re.search(rf"^\| `{re.escape(field.name)}` \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
        assert row, field.name
        kind, _, more = row[1].partition(", or")
        declared = descriptor(field)
        assert declared.type == TYPES[kind], field.name
        assert declared.dynamic_typing == bool(more), field.name
        assert (row[2] == "live") == field.live, field.name


def test_the_qualities_of_service_in_the_reference_are_those_in_use():
    in_use = {
        topics.JOINT_STATES: wire.SENSOR,
        topics.ROBOT_DESCRIPTION: wire.LATCHED,
        topics.TF: wire.MANY,
        topics.TF_STATIC: wire.MANY_LATCHED,
        topics.VELOCITY_COMMANDS: wire.COMMAND,
        topics.POSE_ERROR: wire.MONITOR,
    }
    told = {topic.name: topic.quality for topic in topics.TOPICS}
    for name, quality in in_use.items():
        words = ["best effort" if "BEST" in quality.reliability.name else "reliable"]
        words += ["transient local"] if "TRANSIENT" in quality.durability.name else []
        assert told[name] == ", ".join([*words, f"{quality.depth} deep"]), name


def test_the_configuration_for_a_real_arm_is_accepted():
    config = Config.loads(block("yaml"), "ros2.md")
    assert (config.ft_frame, config.output.mode) == ("tool0_controller", "position")


@pytest.mark.slow
def test_the_node_in_a_process_of_ones_own_runs_as_it_stands(graph: Graph):
    pytest.importorskip("mujoco")
    clock = graph.simulate_time()
    graph.start("sim-ros2", "--rate", "50")
    given = [word for name, value in SLOW_GRAPH.items() for word in ("-p", f"{name}:={value}")]
    result = subprocess.run(
        [sys.executable, "-c", BY_THE_CLOCK + block("python"), "--ros-args", *given],
        env={**os.environ, "CLOCK": str(clock.path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"\d+ ticks, 0 late; inactive", result.stdout.splitlines()[-1])


@pytest.mark.slow
def test_going_inactive_ends_a_stop_and_the_sensor_can_be_tared_again(active: Stage):
    active.stop()
    assert active.change("deactivate")
    active.behave(force=[1, 2, 3, 0, 0, 0])
    active.tare("1.000, 2.000, 3.000 N")
