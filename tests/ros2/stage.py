"""A stub driver and the admittance node: two processes on a graph, and how to talk to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Log, Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter as Named
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from tests.ros2.graph import Graph
from tests.ros2.stub_arm import Behaviour

ROOT = Path(__file__).parents[2]
RATE = 25  # Hz, so slow that no machine is too busy for it
NODE = "/admittance_node"
COMMANDS = "/forward_velocity_controller/commands"
CONFIG = f"""
control_rate: {RATE}
admittance: {{mass: [4, 4, 4, 0.4, 0.4, 0.4], engage_seconds: 0}}
safety: {{wrench_timeout: 0.25, joint_timeout: 0.25, lost_timeout: 1.0}}
"""
_TRANSITIONS = {
    "configure": Transition.TRANSITION_CONFIGURE,
    "cleanup": Transition.TRANSITION_CLEANUP,
    "activate": Transition.TRANSITION_ACTIVATE,
    "deactivate": Transition.TRANSITION_DEACTIVATE,
}


class Stage:
    """Both processes, and what they said.

    Attributes:
        states, commands: all joint states and commands heard.
    """

    def __init__(self, graph: Graph, *arguments: str, config: str = CONFIG) -> None:
        self.graph = graph
        file = graph.folder / "config.yaml"
        file.write_text(config, "utf-8")
        self.states = graph.hear(JointState, "/joint_states")
        self.commands = graph.hear(Float64MultiArray, COMMANDS, 100)
        self.log = graph.hear(Log, "/rosout", 100)
        self.stub = subprocess.Popen(
            [sys.executable, "-m", "tests.ros2.stub_arm", str(RATE)],
            stdin=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.node = graph.start("run", "--robot", "ros2", "--config", str(file), *arguments)

    def behave(self, **how: Any) -> None:
        """Tell the stub; nothing: to be a good arm, at home."""
        assert self.stub.stdin is not None
        told = how or {k: v for k, v in vars(Behaviour()).items() if k != "description"}
        self.stub.stdin.write(json.dumps(told) + "\n")
        self.stub.stdin.flush()

    def change(self, transition: str) -> bool:
        """Ask the node for a transition, and say whether it went there."""
        request = ChangeState.Request(transition=Transition(id=_TRANSITIONS[transition]))
        return self.graph.call(ChangeState, f"{NODE}/change_state", request).success

    @property
    def state(self) -> str:
        return self.graph.call(
            GetState, f"{NODE}/get_state", GetState.Request()
        ).current_state.label

    def trigger(self, service: str) -> Any:
        """The answer of one of the node's own services."""
        return self.graph.call(Trigger, f"{NODE}/{service}", Trigger.Request())

    def set(self, values: dict[str, Any]) -> list[Any]:
        """The answers to one request that sets several parameters."""
        messages = [
            Parameter(name=name, value=_value(name, value)) for name, value in values.items()
        ]
        request = SetParameters.Request(parameters=messages)
        return self.graph.call(SetParameters, f"{NODE}/set_parameters", request).results

    def said(self, words: str) -> bool:
        """Whether the node has logged these words."""
        return any(words in line.msg for line in self.log)

    def until_said(self, words: str) -> None:
        self.graph.until(lambda: self.said(words))

    @property
    def q(self) -> np.ndarray:
        """The newest joint angles, in the order of the first message."""
        by_name = dict(zip(self.states[-1].name, self.states[-1].position, strict=True))
        return np.array([by_name[name] for name in sorted(by_name) if name != "rail_joint"])

    @property
    def speed(self) -> float:
        """Greatest joint speed commanded last, rad/s."""
        return float(np.abs(self.commands[-1].data).max()) if self.commands else 0.0

    def close(self) -> None:
        self.stub.kill()
        self.stub.communicate()


def _value(name: str, value: Any) -> ParameterValue:
    return Named(name, value=value).get_parameter_value()
