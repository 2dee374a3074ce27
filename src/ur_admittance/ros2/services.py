"""The node's own services (std_srvs/Trigger): tare, stop, reset, set equilibrium."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from std_srvs.srv import Trigger

from ur_admittance.calibration.tare import tare
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.ros2 import topics

if TYPE_CHECKING:
    from ur_admittance.ros2.node import AdmittanceNode


def offer(node: AdmittanceNode) -> None:
    """Create the services on a node."""
    for name, do in (
        (topics.TARE, _tare),
        (topics.STOP, _stop),
        (topics.RESET, _reset),
        (topics.SET_EQUILIBRIUM, _set_equilibrium),
    ):
        node.create_service(Trigger, name, _answered(node, do))


def _answered(node: AdmittanceNode, do: Callable[[AdmittanceNode], str]) -> Callable:
    """`do` as a service: what it says is the answer, what it raises the reason of a refusal."""

    def answer(_: Any, response: Any) -> Any:
        try:
            response.message, response.success = do(node), True
        except AdmittanceError as error:
            response.message, response.success = str(error), False
        return response

    return answer


def _tare(node: AdmittanceNode) -> str:
    robot, controller = node.configured("tare")
    if robot.wrench_compensated:
        raise RobotError(f"tare: {robot.wrench_topic} is compensated already; tare its publisher")
    changes = tare(controller)
    node.change(changes)
    force, torque = (", ".join(f"{x:.3f}" for x in six) for six in changes.values())
    return f"the sensor's bias is now {force} N and {torque} Nm"


def _stop(node: AdmittanceNode) -> str:
    _, controller = node.configured("stop")
    if not node.looping:
        raise RobotError(f"stop: nothing moves, the node is {node.state}")
    controller.stop("asked for by the stop service")
    return "the arm brakes to rest and stays there until reset"


def _reset(node: AdmittanceNode) -> str:
    node.configured("reset")
    if not node.stopped:
        raise RobotError(f"reset: nothing to reset, the node is {node.state}")
    if obstacles := node.obstacles():
        raise RobotError(f"reset: {'; '.join(obstacles)}")
    node.begin()
    return "the arm gives way again"


def _set_equilibrium(node: AdmittanceNode) -> str:
    robot, _ = node.configured("set_equilibrium")
    if missing := robot.missing():
        raise RobotError(f"set_equilibrium: {missing}")
    position = node.set_equilibrium()
    where = ", ".join(f"{1e3 * x:.1f}" for x in position)
    return f"the equilibrium is where the tool is now, at {where} mm, until this node ends"
