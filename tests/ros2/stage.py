"""A stub driver and the admittance node: two processes on a graph, and how to talk to them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter as Named
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from tests.oracle import watched
from tests.ros2 import oracle
from tests.ros2.graph import ROOT, Graph, timeouts
from tests.ros2.stub_arm import MODEL, Behaviour
from ur_admittance import Config

RATE = 25  # Hz
NODE = "/admittance_node"
COMMANDS = "/forward_velocity_controller/commands"
ALLOWED = ("--remote-reset", "--allow-loosening", "--allow-travel", "--allow-streams")
_TRANSITIONS = {
    "configure": Transition.TRANSITION_CONFIGURE,
    "cleanup": Transition.TRANSITION_CLEANUP,
    "activate": Transition.TRANSITION_ACTIVATE,
    "deactivate": Transition.TRANSITION_DEACTIVATE,
    "shutdown": Transition.TRANSITION_ACTIVE_SHUTDOWN,
}


def config_at(rate: float) -> str:
    """What the node is given, as YAML, for a loop at some rate, Hz."""
    waits = "\n".join(f"{name}: {seconds:g}" for name, seconds in timeouts(rate).items())
    return f"""
control_rate: {rate}
output: {{mode: velocity}}
admittance: {{mass: [4, 4, 4, 0.4, 0.4, 0.4], engage_seconds: 0}}
safety.start_force: 50
{waits}
"""


CONFIG = config_at(RATE)


class Stage:
    """Both processes, on a simulated clock, and what they said.

    Attributes:
        states, commands, log: all joint states, commands and words heard.
    """

    def __init__(
        self,
        graph: Graph,
        *arguments: str,
        config: str = CONFIG,
        allowed: Sequence[str] = ALLOWED,
        arm_rate: float = RATE,
    ) -> None:
        self.graph, self._clock, self._config = graph, graph.simulate_time(), Config.loads(config)
        file = graph.folder / "config.yaml"
        file.write_text(config, "utf-8")
        self.states = graph.hear(JointState, "/joint_states", 100)
        self.commands = graph.hear(Float64MultiArray, COMMANDS, 100)
        self.log = graph.log
        self._arm_rate, self._judged = arm_rate, 0.0
        self.stub = self._stub()
        start = ("run", "--robot", "ros2", "--config", str(file), *allowed)
        self.node = graph.start(*start, *arguments)

    def behave(self, **how: Any) -> None:
        """Tell the stub, and return when it does so; nothing: to be a good arm, at home."""
        assert self.stub.stdin is not None and self.stub.stdout is not None
        told = how or {k: v for k, v in vars(Behaviour()).items() if k != "description"}
        self.stub.stdin.write(json.dumps(told) + "\n")
        self.stub.stdin.flush()
        assert self.stub.stdout.readline(), "the stub has died"

    def kill_arm(self) -> None:
        """The stub dies. It does so by itself, when it does not write to memory that others share:
        that may make Fast DDS crash there.
        """
        assert self.stub.stdin is not None
        self.stub.stdin.write('{"die": true}\n')
        self.stub.communicate()
        self.graph.arm_is_dead(True)

    def revive_arm(self) -> None:
        """A new stub is there, in the place of the one that died."""
        self.graph.arm_is_dead(False)
        self.stub = self._stub()

    def change(self, transition: str) -> bool:
        """Ask the node for a transition, and say whether it went there."""
        return change(self.graph, transition)

    def begin_change(self, transition: str) -> Any:
        """The same, but do not wait for the answer."""
        return self.graph.ask(ChangeState, f"{NODE}/change_state", _request(transition))

    def activate(self) -> None:
        """Have the node active."""
        assert self.attempt(), [line.msg for line in self.log[-3:]]

    def attempt(self) -> bool:
        """Ask the node to be active, and say whether it is; asked again only as long as DDS has
        not made node and arm known to each other.
        """
        while True:
            before = len(self.log)
            if self.change("activate"):
                return True
            self.graph.until(lambda: len(self.log) > before)  # noqa: B023
            said = " ".join(line.msg for line in self.log[before:])
            if not any(words in said for words in ("no joint states on", "no wrench on")):
                return False

    def refuses(self, words: str) -> None:
        """See the node refuse to be active, for a reason with these words."""

        def refused() -> bool:
            assert not self.change("activate")
            self.graph.after(0.1)
            return self.said(words)

        self.graph.until(refused)

    @property
    def state(self) -> str:
        return self.graph.call(
            GetState, f"{NODE}/get_state", GetState.Request()
        ).current_state.label

    def trigger(self, service: str) -> Any:
        """The answer of one of the node's own services."""
        return trigger(self.graph, service)

    def stop(self) -> None:
        """Stop the arm, and wait until it was."""
        answer = self.trigger("stop")
        assert answer.success, answer.message
        self.expect_stop("asked for by the stop service")

    def reset(self) -> None:
        """Reset the node that was stopped, as soon as nothing stands against it."""
        self.graph.until(lambda: self.trigger("reset").success)

    def tare(self, words: str) -> None:
        """Tare the sensor, a while after its wrench has changed; the answer has these words."""
        self.graph.after(1.0)
        answer = self.trigger("tare")
        assert words in answer.message, answer.message

    def until_mute(self) -> None:
        """Nobody publishes commands any more, and those that were sent have arrived."""
        self.graph.until(lambda: self.graph.node.count_publishers(COMMANDS) == 0)
        self.graph.after(0.5)

    def parameters(self) -> dict[str, ParameterValue]:
        """All parameters of the node, as they are now."""
        listed = self.graph.call(
            ListParameters, f"{NODE}/list_parameters", ListParameters.Request()
        )
        request = GetParameters.Request(names=listed.result.names)
        found = self.graph.call(GetParameters, f"{NODE}/get_parameters", request)
        return dict(zip(request.names, found.values, strict=True))

    def restore(self, before: dict[str, ParameterValue]) -> None:
        """Give the inactive node back the parameters that it had."""
        if self.parameters() != before:
            parameters = [Parameter(name=name, value=value) for name, value in before.items()]
            request = SetParameters.Request(parameters=parameters)
            answer = self.graph.call(SetParameters, f"{NODE}/set_parameters", request)
            assert all(result.successful for result in answer.results), answer.results[0].reason
            assert self.parameters() == before

    def set(self, values: dict[str, Any]) -> list[Any]:
        """The answers to one request that sets several parameters."""
        messages = [
            Parameter(name=name, value=_value(name, value)) for name, value in values.items()
        ]
        request = SetParameters.Request(parameters=messages)
        return self.graph.call(SetParameters, f"{NODE}/set_parameters", request).results

    def said(self, words: str) -> bool:
        """Whether the node has logged these words."""
        return self.graph.has_said(words)

    def until_said(self, words: str) -> None:
        self.graph.until_said(words)

    def expect_stop(self, *words: str, count: int = 1) -> None:
        """Wait for the arm to be stopped, see `Graph.expect_stop`."""
        self.graph.expect_stop(*words, count=count)

    @property
    def joints(self) -> np.ndarray:
        """The newest joint state that has all joints, rad (6,)."""
        names = MODEL.joint_names
        state = next(state for state in reversed(self.states) if set(names) <= {*state.name})
        by_name = dict(zip(state.name, state.position, strict=True))
        return np.array([by_name[name] for name in names])

    @property
    def tool(self) -> np.ndarray:
        """Where the tool is by that, m (3,)."""
        return MODEL.fk(self.joints)[:3, 3]

    @property
    def speed(self) -> float:
        """Greatest joint speed commanded last, rad/s."""
        return float(np.abs(self.commands[-1].data).max()) if self.commands else 0.0

    def trace(self) -> np.ndarray:
        """Every command of the node so far, see `Clock.trace`."""
        return self._clock.trace()

    def judge(self) -> None:
        """What was commanded since the last time was inside the limits, by a node that was watched,
        and no stop came as a surprise.
        """
        since, self._judged = self._judged, self._clock.now()
        trace, own = self._clock.trace(guards=True), self._clock.trace()
        if (trace[:, 2] >= since).any():
            oracle.judge(trace[trace[:, 2] >= since], self._config, MODEL)
        if (own[:, 2] >= since).any():  # else its guard alone has told the arm to rest
            watched.watches.look()
            assert watched.watches.ticks[self.node.pid], "the node is not watched"
        self.graph.settle()

    def close(self) -> None:
        self.stub.communicate()  # it ends with its input
        self.graph.arm_is_dead(True)

    def _stub(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.ros2.clock", str(self._clock.path), "arm"]
        command += ["tests.ros2.stub_arm", str(self._arm_rate)]
        pipe = subprocess.PIPE
        held = [self.graph.domain.fileno()]
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, pass_fds=held
        )


def change(graph: Graph, transition: str) -> bool:
    """Ask the admittance node for a transition, and say whether it went there."""
    return graph.call(ChangeState, f"{NODE}/change_state", _request(transition)).success


def _request(transition: str) -> Any:
    return ChangeState.Request(transition=Transition(id=_TRANSITIONS[transition]))


def trigger(graph: Graph, service: str) -> Any:
    """The answer of one of the admittance node's own services."""
    return graph.call(Trigger, f"{NODE}/{service}", Trigger.Request())


def _value(name: str, value: Any) -> ParameterValue:
    return Named(name, value=value).get_parameter_value()
