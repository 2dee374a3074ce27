"""The admittance node: a lifecycle node around the control loop, in one thread.

    unconfigured --configure--> inactive --activate--> active --deactivate--> inactive

Inactive, it listens and publishes no command. Active, `loop.run` drives the arm, and everything
else (services, parameters, desired poses, monitoring) happens in the loop's own thread, after a
command has gone out and before the next joint state is waited for.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.task import Future

from ur_admittance import loop
from ur_admittance.blackboard import Blackboard
from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, ModelError, RobotError
from ur_admittance.kernel.spatial import quaternion_of
from ur_admittance.model import RobotModel
from ur_admittance.packing import pack
from ur_admittance.realtime import RealTime, prepare, restore
from ur_admittance.robots.ros2 import Ros2Robot
from ur_admittance.ros2 import activation, services, topics, wire
from ur_admittance.ros2.beside import Beside
from ur_admittance.ros2.managed import ManagedNode
from ur_admittance.ros2.monitor import Monitor
from ur_admittance.ros2.parameters import Parameters, given_to
from ur_admittance.ros2.transforms import Transforms

STATES = ("unconfigured", "inactive", "active")
_RETRY = 1.0  # s between two attempts to come up
# What whoever publishes a compensated wrench has done already, and must not be done twice.
_COMPENSATED = {
    "payload.mass": 0.0,
    "payload.center_of_mass": (0.0,) * 3,
    "payload.inertia": (0.0,) * 6,
    "payload.force_bias": (0.0,) * 3,
    "payload.torque_bias": (0.0,) * 3,
    "payload.compensate_inertia": False,
    "admittance.filter_cutoff_hz": None,
    "admittance.filter_coefficient": 1.0,
    "admittance.min_motion_threshold": None,
    "admittance.deadband_force": 0.0,
    "admittance.deadband_torque": 0.0,
    "safety.frozen_samples": 0,
}


class AdmittanceNode(ManagedNode):
    """The arm behind `/joint_states` gives way to the wrench on its topic.

    >>> with wire.started():
    ...     node = AdmittanceNode(Config.preset("hand-guiding"))
    ...     node.come_up("inactive", asked)
    ...     with Blackboard.create(...) as board:
    ...         node.run(board, asked)

    Attributes:
        robot, controller: while it is configured; else None.
        looping: whether the loop drives the arm.
        stopped: why the arm was stopped, in words, while it waits for reset; else "".
        refused: why it did not come up at the last attempt.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        model: str | RobotModel | None = None,
        wrench: str = topics.WRIST_FT,
        sign: int = 1,
    ) -> None:
        """
        Args:
            config: the parameters, unless ROS gives others (`--ros-args -p name:=value`).
            model, wrench, sign: see `Ros2Robot`.
        """
        super().__init__(topics.NODE)
        self.robot: Ros2Robot | None = None
        self.controller: Controller | None = None
        self.board: Blackboard | None = None
        self.looping, self.stopped, self.refused = False, "", [""]
        config = (config or Config()).replace(given_to(self))
        self._wrench, self._sign, fixed = wrench, sign, {}
        if wrench == topics.NETFT_PROC_PROBE:
            config = config.replace(_COMPENSATED)
            fixed = dict.fromkeys(_COMPENSATED, f"has been applied to {wrench} already")
        config.equilibrium_pose()
        self._model = wire.model_named(model, config) if isinstance(model, str) else model
        self.parameters = Parameters(self, config, self._changed, fixed)
        self._arm: RobotModel | None = None
        self._left: list[Ros2Robot] = []
        self._equilibrium: np.ndarray | None = None
        self._at_rest: Future | None = None
        self._cycle, self._before, self._trying = -1, 0.0, False
        # What the loop takes itself belongs to no executor, hence to a node of its own.
        self._io = wire.rclpy.create_node(
            f"_{self.get_name()}_io",
            namespace=self.get_namespace(),
            use_global_arguments=False,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._description = wire.Description(self._io, self.real(topics.ROBOT_DESCRIPTION))
        self._transforms = Transforms(self._io, self.real, self.get_logger())
        self._monitor = Monitor(self, config.control_rate)
        self._beside = Beside(self, self._io, self._transforms, self._monitor)
        services.offer(self)

    # --- what ROS calls ---

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._attempt(self._configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._attempt(self._activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.stopped = ""
        if self.robot is not None and self.controller is not None:
            self.robot.release()
            if self.controller.mode == "stopped":  # one that only watches, and can be tared
                self.controller = Controller(self.robot.model, self.parameters.config)
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._forget()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._forget()
        return TransitionCallbackReturn.SUCCESS

    def set_parameters_atomically(self, parameter_list: list) -> Any:
        wanted = self.parameters.without_repetitions(parameter_list)
        return self.parameters.refusal(wanted) or super().set_parameters_atomically(wanted)

    def leave(self) -> Future | None:
        if not self.looping or self.controller is None:
            return None
        self.controller.deactivate()
        self._at_rest = Future()
        return self._at_rest

    # --- what the process calls ---

    def come_up(self, state: str, asked: list[int]) -> None:
        """Serve until the node is configured. It configures itself, unless `state` is
        'unconfigured'; then somebody else has to ask for it. Ends early if `asked`.
        """
        while not asked and self.state == "unconfigured":
            if state != "unconfigured":
                self._try(self.trigger_configure)
            end = time.monotonic() + _RETRY
            while not asked and self.state == "unconfigured" and time.monotonic() < end:
                self.spin(0.05)
                self._beside.diagnose_each(1.0)

    def run(
        self,
        board: Blackboard,
        asked: list[int],
        *,
        state: str = "active",
        seconds: float | None = None,
        real_time: RealTime | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> loop.Summary:
        """Serve and, while active, drive the arm, until `asked`, or shut down through ROS.

        Args:
            board: of the configured robot.
            asked: grows when a signal comes, see `loop.signals`.
            state: 'active' to go there as soon as nothing stands against it.
            seconds: how long to go on from the first activation, s.
            real_time, tell: see `loop.run`. It is asked for here, once, since that takes a third of
                a second, which must not pass between the last look at the arm and the first tick.

        Returns the summary of the last time that the loop ran.
        """
        self.board = board
        refused = prepare(real_time) if real_time else []
        try:
            if tell is not None:
                for line in refused:
                    tell(line)
            summary = self._serve(asked, state, seconds)
        finally:
            if real_time:
                restore()
        summary.refused = refused
        return summary

    def close(self) -> None:
        """Leave the graph."""
        self._forget()
        self._close_left()
        self._io.destroy_node()
        self.destroy_node()

    @property
    def address(self) -> str:
        """What to call the robot: 'ros2', and the node's full name if it has another than usual."""
        name = self.get_fully_qualified_name()
        return "ros2" if name == f"/{topics.NODE}" else f"ros2:{name.lstrip('/')}"

    def real(self, topic: str) -> str:
        """The name of a topic on this graph, remapped and expanded."""
        return self.resolve_topic_name(topic)

    # --- what the services call ---

    def configured(self, service: str) -> tuple[Ros2Robot, Controller]:
        """Robot and controller, or a RobotError."""
        if self.robot is None or self.controller is None:
            raise RobotError(f"{service}: the node is {self.state}; configure it first")
        return self.robot, self.controller

    def obstacles(self) -> list[str]:
        """What stands against moving the arm now."""
        robot, _ = self.configured("activate")
        self._transforms.look()
        if problem := self._transforms.problem():
            return [problem]
        return activation.obstacles(robot, self.parameters.config)

    def change(self, changes: Mapping[str, Any]) -> None:
        """Put parameters in force, and show them."""
        self.parameters.follow(self._changed(changes))

    def set_equilibrium(self) -> np.ndarray:
        """Make the present pose the equilibrium, now and from then on; its position (3,), m."""
        robot, controller = self.configured("set_equilibrium")
        self._equilibrium = robot.model.fk(robot.look(0.0).q)
        if self.looping:
            controller.set_desired(self._equilibrium)
        return self._equilibrium[:3, 3]

    # --- life cycle ---

    def _attempt(self, do: Callable[[], list[str]]) -> TransitionCallbackReturn:
        try:
            reasons = do()
        except Exception as error:  # rclpy would say nothing
            known = isinstance(error, AdmittanceError)
            reasons = [str(error) if known else f"{type(error).__name__}: {error}"]
        if reasons and not (self._trying and reasons == self.refused):
            self.get_logger().warning(f"not yet: {'; '.join(reasons)}")
        self.refused = reasons
        success, failure = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
        return failure if reasons else success

    def _try(self, transition: Callable[[], Any]) -> None:
        """A transition, if it leads on from here; what stands against it is told once."""
        if self.state == {"trigger_configure": "unconfigured"}.get(transition.__name__, "inactive"):
            self._trying = True
            transition()
            self._trying = False

    def _configure(self) -> list[str]:
        config = self.parameters.config
        config.equilibrium_pose()
        model, topic = self._model, self.real(topics.ROBOT_DESCRIPTION)
        if model is None:
            text = self._description.look()
            if not text:
                return [f"nothing on {topic} yet; a model may be given instead (--model)"]
            at_probe = {"ft_frame": config.tip} if self._wrench == topics.NETFT_PROC_PROBE else {}
            try:
                model = self._transforms.model_from(text, config.replace(at_probe))
            except ModelError as error:
                return [f"{topic}: {error}"]
        if self._wrench == topics.NETFT_PROC_PROBE:
            model = dataclasses.replace(model, X_ES=model.X_EP)
        if self._arm is not None and pack(config, model) != pack(config, self._arm):
            return ["the arm is not the one this node was first configured for; start it anew"]
        self._arm = model
        self.controller = Controller(model, config)
        self.robot = Ros2Robot(
            model=model,
            config=config,
            wrench=self._wrench,
            sign=self._sign,
            node=self._io,
            resolve=self.real,
            name=self.address,
        )
        self.robot.listen()
        self.robot.between = self._beside
        return []

    def _activate(self) -> list[str]:
        found = self.obstacles()
        if not found:
            self.begin()
        return found

    def begin(self) -> None:
        """A controller with all that was changed meanwhile, for the loop to activate."""
        robot, _ = self.configured("activate")
        config = self.parameters.config
        if self._equilibrium is not None:
            R = np.ascontiguousarray(self._equilibrium[:3, :3])
            pose = {"position": self._equilibrium[:3, 3], "orientation": list(quaternion_of(R))}
            config = config.replace({"equilibrium": pose})
        self.controller = Controller(robot.model, config)
        self.stopped = ""
        self._beside.diagnose()  # the first time takes longer, and must not delay a tick

    def _forget(self) -> None:
        """Unconfigured again. The robot may be waiting at this moment, and is closed later."""
        self._left += [] if self.robot is None else [self.robot]
        self.robot = self.controller = None
        self.refused = [""]

    def _close_left(self) -> None:
        while self._left:
            self._left.pop().close()

    # --- while it runs ---

    def _serve(self, asked: list[int], state: str, seconds: float | None) -> loop.Summary:
        summary, end, next_try = loop.Summary(), math.inf, 0.0
        while not asked and self.state in STATES and time.monotonic() < end:
            self._close_left()
            if self.state == "active" and not self.stopped:
                if seconds is not None:
                    end = min(end, time.monotonic() + seconds)
                left = end - time.monotonic()
                summary = self._drive(None if end == math.inf else left)
                asked += [0] * summary.asked
            elif state == "active" and not self.stopped and time.monotonic() > next_try:
                next_try = time.monotonic() + _RETRY
                self._try(self.trigger_configure)
                self._try(self.trigger_activate)
                state = "inactive" if self.state == "active" else state
            else:
                self._idle()
        return summary

    def _drive(self, seconds: float | None) -> loop.Summary:
        robot, controller = self.configured("run")
        around: dict[str, Any] = {"board": self.board, "each": self._monitor}
        self.looping = True
        try:
            summary = loop.run(robot, controller, seconds=seconds, looked=True, **around)
        finally:
            self.looping = False
        if summary.faulted:
            self.stopped = "; ".join(controller.status_words()) or "stopped"
            self.get_logger().error(f"the arm was stopped: {self.stopped}")
        if self._at_rest is not None:
            self._at_rest.set_result(None)
            self._at_rest = None
            while self.state == "active":
                self.spin(0.05)
        elif not summary.faulted:
            self.trigger_deactivate()
        return summary

    def _idle(self) -> None:
        """One joint state, or a while, of being there. The tick runs, for taring and diagnostics,
        and commands nothing.
        """
        if self.robot is None or self.controller is None or self.robot.missing():
            if self.robot is not None:
                self.robot.look(0.0)
            self.spin(0.02)
            self._beside.diagnose_each(1.0)
            return
        state = self.robot.wait()
        now, controller = time.monotonic(), self.controller
        if controller is None or state.cycle == self._cycle:  # cleaned up meanwhile, or silent
            return
        if self.board is not None:
            self.board.take_params(controller.params)
        dt = state.joint_time - self._before
        self._cycle, self._before = state.cycle, state.joint_time
        if controller.mode == "inactive":
            controller.update(
                state.q, state.wrench, dt, now - state.wrench_time, now - state.joint_time
            )

    def _changed(self, changes: Mapping[str, Any]) -> Config:
        if self.board is None:
            return self.parameters.config.replace(changes, live=True)
        self.board.set(changes)
        return self.board.config()
