"""The node's own services (std_srvs/Trigger): tare, stop, reset, set equilibrium."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from std_srvs.srv import Trigger

from ur_admittance.calibration.tare import tare
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.robots.ros2 import topics

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
        node.create_service(Trigger, name, _answered(node, do), callback_group=node.patient)


def _answered(
    node: AdmittanceNode, do: Callable[[AdmittanceNode], str | Awaitable[str]]
) -> Callable:
    """`do` as a service: what it says is the answer, what it raises the reason of a refusal."""

    async def answer(_: Any, response: Any) -> Any:
        try:
            said = do(node)
            response.message, response.success = said if isinstance(said, str) else await said, True
        except AdmittanceError as error:
            response.message, response.success = str(error), False
        except Exception as error:  # the run goes on; whoever asked learns of it
            node.get_logger().error(f"a service failed: {traceback.format_exc()}")
            response.message, response.success = f"{type(error).__name__}: {error}", False
        return response

    return answer


def _tare(node: AdmittanceNode) -> str:
    robot, controller = node.configured("tare")
    if robot.wrench_compensated:
        raise RobotError(f"tare: {robot.wrench_topic} is compensated already; tare its publisher")
    if node.looping and not node.assent.permits("zero"):
        raise RobotError(
            "tare: not while the arm gives way; deactivate the node first, or start it with "
            "--allow-loosening"
        )
    changes = tare(controller.config, controller.params, controller.trace())
    node.parameters.change(changes)
    force, torque = (", ".join(f"{x:.3f}" for x in six) for six in changes.values())
    return f"the sensor's bias is now {force} N and {torque} Nm"


def _stop(node: AdmittanceNode) -> str:
    _, controller = node.configured("stop")
    if node.stopped:
        return f"the arm is stopped already: {node.stopped}"
    if not node.looping:
        raise RobotError(f"stop: nothing moves, the node is {node.state}")
    if controller.mode == "stopped":
        return f"the arm is braking already: {controller.reason}"
    controller.stop("asked for by the stop service")
    return "the arm brakes to rest and stays there until reset"


async def _reset(node: AdmittanceNode) -> str:
    _check_reset(node)
    node.waiting += 1
    try:
        obstacles = await node.look()
        _check_reset(node)
        if obstacles:
            raise RobotError(f"reset: {'; '.join(obstacles)}")
        node.begin()
    finally:
        node.waiting -= 1
    return "the arm gives way again"


def _check_reset(node: AdmittanceNode) -> None:
    """Raise RobotError unless there is something to reset, and it may be."""
    _, controller = node.configured("reset")
    if node.looping and controller.mode == "stopped":
        raise RobotError(
            f"reset: the arm is still braking ({controller.reason}); ask again when it is at rest"
        )
    if not node.stopped:
        doing = "the arm gives way" if node.looping else f"the node is {node.state}"
        raise RobotError(f"reset: nothing to reset, {doing}")
    if not node.assent.permits("clear"):
        raise RobotError(f"reset: not allowed from the graph; {node.how_to_go_on}")
    if node.state != "active":
        raise RobotError(f"reset: the node is {node.state}; activate it")


def _set_equilibrium(node: AdmittanceNode) -> str:
    robot, _ = node.configured("set_equilibrium")
    if missing := robot.missing():
        raise RobotError(f"set_equilibrium: {missing}")
    node.upkeep.planned.end("the equilibrium was set")
    position = node.arming.set_equilibrium()
    where = ", ".join(f"{1e3 * x:.1f}" for x in position)
    return f"the equilibrium is where the tool is now, at {where} mm, until this node ends"
