"""A lifecycle node that leaves the active state at rest, and sets parameters all or none."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from lifecycle_msgs.msg import Transition
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter
from rclpy.task import Future

_ENTERING = Transition.TRANSITION_ACTIVATE
_LEAVING = {Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVE_SHUTDOWN}


class ManagedNode(LifecycleNode):
    """rclpy's, but for two of its answers. Its owner spins it, a request at a time.

    Attributes:
        waiting: how many have asked to be active, or for a reset, and have no answer yet.
        patient: group of the services that may wait while others are answered.
        found: what stood against it when that was looked at, for who decides now; else None.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True)
        self.waiting = 0
        self.patient = ReentrantCallbackGroup()
        self.found: list[str] | None = None
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        self._change_state_now = self._answer("change_state", self._change_state)
        self._answer("set_parameters", self._set_parameters_whole)

    @property
    def state(self) -> str:
        """'unconfigured', 'inactive', 'active' or 'finalized'."""
        return self._state_machine.current_state[1]

    def spin(self, seconds: float) -> None:
        """Answer one request, waiting for it for at most `seconds`. One that cannot be answered is
        logged, and ends nothing.
        """
        try:
            if self.waiting:  # the executor looks at who waits first, and then returns
                self._executor.spin_once(timeout_sec=seconds)
            self._executor.spin_once(timeout_sec=seconds)
        except Exception:
            self.get_logger().error(f"a request failed: {traceback.format_exc()}")

    def leave(self) -> Future | None:
        """Begin to leave the active state. Returns what is done when that may happen; None: now."""
        return None

    def enter(self) -> Future | None:
        """Begin to go active. Returns what has, when done, what stands against it; None: go now."""
        return None

    async def _change_state(self, request: Any, response: Any) -> Any:
        transition = request.transition
        if transition.id in _LEAVING or transition.label in ("deactivate", "shutdown"):
            ready = self.leave()
            if ready is not None:
                await ready
        elif transition.id == _ENTERING or transition.label == "activate":
            self.waiting += 1
            try:
                ready = self.enter()
                self.found = None if ready is None else await ready
                return self._changed_state(request, response)
            finally:
                self.found = None
                self.waiting -= 1
        return self._changed_state(request, response)

    def _changed_state(self, request: Any, response: Any) -> Any:
        try:
            return self._change_state_now(request, response)
        except rclpy_implementation.RCLError as error:  # rclpy of Jazzy; later ones answer
            self.get_logger().error(f"change_state: {error}")
            response.success = False
            return response

    def _set_parameters_whole(self, request: Any, response: Any) -> Any:
        """rclpy would set them one by one, and leave half of them set."""
        result = self.set_parameters_atomically(
            [Parameter.from_parameter_msg(message) for message in request.parameters]
        )
        response.results = [result] * len(request.parameters)
        return response

    def _answer(self, service: str, callback: Callable) -> Callable:
        """Let `callback` answer a service that rclpy offers. Returns how rclpy does it."""
        offered = next(s for s in self.services if s.service_name.endswith(f"/{service}"))
        before, offered.callback = offered.callback, callback
        self.patient.add_entity(offered)
        offered.callback_group = self.patient
        return before
