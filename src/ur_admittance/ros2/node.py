"""The admittance node: a lifecycle node around the control loop, in one thread.

    unconfigured --configure--> inactive --activate--> active --deactivate--> inactive

Inactive, it listens and publishes no command. Active, the loop drives the arm (`driving.py`), and
everything else (services, parameters, desired poses, monitoring) happens in the loop's own thread,
after a command has gone out and before the next joint state is waited for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.task import Future

from ur_admittance.blackboard import Blackboard
from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.controller.packing import pack
from ur_admittance.errors import AdmittanceError, ConfigError, ModelError, RobotError
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel
from ur_admittance.realtime import RealTime, prepare, restore
from ur_admittance.robots.base import watched
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.hearing import Hearing
from ur_admittance.robots.ros2.robot import Ros2Robot
from ur_admittance.robots.ros2.tf import Transforms
from ur_admittance.ros2 import follow_action, services
from ur_admittance.ros2.arming import Arming
from ur_admittance.ros2.driving import Driving, come_up
from ur_admittance.ros2.managed import ManagedNode
from ur_admittance.ros2.monitor import Monitor
from ur_admittance.ros2.parameters import (
    COMPENSATED,
    NO_SIM_TIME,
    SIM_TIME,
    Parameters,
    given_to,
)
from ur_admittance.ros2.upkeep import Upkeep
from ur_admittance.run import Run
from ur_admittance.run.assent import Assent
from ur_admittance.run.loop import tell_refused
from ur_admittance.run.summary import Summary


class AdmittanceNode(ManagedNode):
    """The arm behind `/joint_states` gives way to the wrench on its topic.

        with wire.started():
            node = AdmittanceNode(Config.preset("hand-guiding"))
            node.come_up("inactive", asked)
            with Run(node.robot, controller=node.controller) as run:
                node.run(run, asked)

    Attributes:
        robot, controller: while it is configured; else None.
        looping: whether the loop drives the arm.
        stopped: why the arm was stopped, while it waits for reset; else None.
        refused: why it did not come up at the last attempt.
        at_rest: done when the arm has come to rest, for who waits to leave the active state.
        look_asked: done when all has been looked at that may stand against moving the arm, for who
            waits to activate or reset; its result is what was found.
        arming: what happens before the arm moves.
        assent: what those on the graph may do.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        model: str | RobotModel | None = None,
        wrench: str = topics.WRIST_FT,
        sign: int = 1,
        permit: Iterable[str] = (),
        real_sensor: bool = False,
        task_frame: str = "",
    ) -> None:
        """
        Args:
            config: the parameters, unless ROS gives others (`--ros-args -p name:=value`).
            model: see `Ros2Robot`.
            wrench: see `Ros2Robot`.
            sign: see `Ros2Robot`.
            permit: acts that those on the graph may do, see `run.assent.ACTS`; default: the least.
            real_sensor: unless the arm turns out to be simulated, samples that never change are
                watched for, where the parameters do not say.
            task_frame: of the transforms, whose axes the law has; default: as configured.
        """
        super().__init__(topics.NODE)
        if self.get_parameter(SIM_TIME).value:
            self.destroy_node()
            raise ConfigError(NO_SIM_TIME)
        self.robot: Ros2Robot | None = None
        self.controller: Controller | None = None
        self.board: Blackboard | None = None
        self.looping, self.refused = False, [""]
        self.stopped: StopReason | None = None
        given = given_to(self)
        config = (config or Config()).replace(given)
        self.frozen_by_default = real_sensor and config.safety.frozen_samples is None
        config = watched(config, real=real_sensor)
        self._wrench, self._sign, fixed = wrench, sign, {}
        if wrench == topics.NETFT_PROC_PROBE:
            config = config.replace(COMPENSATED)
            fixed = dict.fromkeys(COMPENSATED, f"has been applied to {wrench} already")
        config.equilibrium_pose()
        self._model = wire.model_named(model, config) if isinstance(model, str) else model
        self.parameters = Parameters(self, config, fixed)
        self._arm: RobotModel | None = None
        self._left: list[Ros2Robot] = []
        self.at_rest: Future | None = None
        self.look_asked: Future | None = None
        self._trying = False
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
        listened = (topics.ROBOT_DESCRIPTION, topics.JOINT_STATES, wrench)
        self._hearing = Hearing(self, *map(self.real, listened))
        self.monitor = Monitor(self, config)
        self.assent = Assent("ros", permit)
        self.arming = Arming(self, self._io, self._transforms, self._description, self.assent)
        self.upkeep = Upkeep(self, self._io, self._transforms, self.monitor, task_frame)
        services.offer(self)
        self._follow = follow_action.offered(self)

    # --- what ROS calls ---

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make robot and controller of the arm's description."""
        return self._answer_to(self._configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give way to force from now on, if nothing stands against it."""
        return self._answer_to(self._activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Watch only, once the arm is at rest."""
        if self.assent.permits("clear"):
            self.stopped = None
        if self.robot is not None and self.controller is not None:
            self.arming.rest()
            if self.controller.mode == "stopped":  # one that only watches, and can be tared
                config = self.parameters.config
                self.controller = self.arming.controller_of(self.robot.model, config)
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Unconfigured again."""
        self._forget()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Unconfigured for good."""
        self._forget()
        return TransitionCallbackReturn.SUCCESS

    def set_parameters_atomically(self, parameter_list: list) -> Any:
        """Check the values as a whole; take over all of them, or none."""
        wanted = self.parameters.without_repetitions(parameter_list)
        if parameter_list and not wanted:
            return SetParametersResult(successful=True)
        return self.parameters.refusal(wanted) or super().set_parameters_atomically(wanted)

    def leave(self) -> Future | None:
        if not self.looping or self.controller is None:
            return None
        self.controller.deactivate()
        self.at_rest = Future()
        return self.at_rest

    def enter(self) -> Future | None:
        if self.state != "inactive" or self.stopped or self.robot is None:
            return None
        return self.look()

    def look(self) -> Future:
        """Ask for a look at what stands against moving the arm: the loop's thread takes it as soon
        as it has served this request, and serves others meanwhile.
        """
        self.look_asked = self.look_asked or Future()
        return self.look_asked

    # --- what the process calls ---

    def come_up(self, state: str, asked: list[int], patience: float = math.inf) -> None:
        """Serve until the node is configured, and, if `state` is 'active', has its first joint
        state and wrench. It configures itself, unless `state` is 'unconfigured'; then somebody else
        has to ask for it. Ends early if `asked`.

        Raises:
            RobotError: that took longer than `patience`, s.
            Deaf: nothing is heard, though there is something to hear: make the node anew.
        """
        come_up(self, state, asked, patience)

    def listen_well(self) -> None:
        """While nothing has been heard yet: see that this is not for being deaf, or raise Deaf."""
        heard = {self.real(topics.ROBOT_DESCRIPTION): bool(self._description.look())}
        if (robot := self.robot) is not None:
            heard[self.real(topics.JOINT_STATES)] = robot.joints.count > 0
            heard[robot.wrench_topic] = robot.wrenches.count > 0
        self._hearing.check(heard)

    def run(
        self,
        run: Run,
        asked: list[int],
        *,
        state: str = "active",
        keep_trying: bool = False,
        seconds: float | None = None,
        real_time: RealTime | None = None,
    ) -> Summary:
        """Serve and, while active, drive the arm, until `asked`, or shut down through ROS.

        Args:
            run: of the configured robot.
            asked: grows when a signal comes, see `signals`.
            state: 'active' to go there.
            keep_trying: try again each second, whoever is there by then, if that is refused.
            seconds: how long to go on from the first activation, s.
            real_time: see `Run`. It is asked for here, once, since that takes a third of a
                second, which must not pass between the last look at the arm and the first tick.

        Returns:
            The summary of all times that the loop ran; how it ended is that of the last.

        Raises:
            RobotError: something stands against going active, and nothing has moved.
        """
        if isinstance(run.board, Blackboard):
            self.board = run.board
            self.board.tighten_only = not self.assent.permits("loosen")  # also while inactive
        self.arming.begin_guard(real_time.priority if real_time else 0)
        refused = prepare(real_time) if real_time else []
        try:
            tell_refused(refused, real_time, run.tell)
            run.summary.refused = refused
            Driving(self, run).serve(asked, state, seconds, keep_trying)
        finally:
            self.arming.end_guard()
            if real_time:
                restore()
        return run.summary

    def close(self) -> None:
        """Leave the graph."""
        self._forget()
        self.close_left()
        self._hearing.close()
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

    # --- life cycle ---

    def _answer_to(self, do: Callable[[], list[str]]) -> TransitionCallbackReturn:
        reasons = _reasons(do)
        if reasons and not (self._trying and reasons == self.refused):
            self.get_logger().warning(f"not yet: {'; '.join(reasons)}")
        self.refused = reasons
        success, failure = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
        return failure if reasons else success

    def attempt(self, transition: Callable[[], Any]) -> None:
        """A transition, if it leads on from here; what stands against it is told once."""
        if self.state == {"trigger_configure": "unconfigured"}.get(transition.__name__, "inactive"):
            self._trying = True
            if transition.__name__ == "trigger_activate":
                self.found = self.look_around()
            transition()
            self._trying, self.found = False, None

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
        self.controller = self.arming.controller_of(model, config)
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
        return []

    def _activate(self) -> list[str]:
        if self.stopped:
            return [f"the arm was stopped: {self.stopped}; {self.how_to_go_on}"]
        found = self.arming.obstacles() if self.found is None else self.found
        if not found:
            self.begin()
        return found

    def look_around(self) -> list[str]:
        """What stands against moving the arm now. Takes a third of a second, at least, in which
        requests are served.
        """
        if self.looping or self.robot is None:
            return []
        return _reasons(lambda: self.arming.obstacles(lambda: self.spin(0.0)))

    def begin(self) -> None:
        """Nothing stands against moving the arm: let the loop do so."""
        self.controller = self.arming.begin()
        self.stopped = None
        self.upkeep.diagnose()  # the first time takes longer, and must not delay a tick

    @property
    def how_to_go_on(self) -> str:
        """What to do after a stop, in words."""
        if self.assent.permits("clear"):
            return f"call {self.real(topics.RESET)}"
        return "start this node again (with --remote-reset stops can be cleared from the graph)"

    def _forget(self) -> None:
        """Unconfigured again. The robot may be waiting at this moment, and is closed later."""
        self.arming.rest()
        self._left += [] if self.robot is None else [self.robot]
        self.robot = self.controller = None
        self.refused = [""]

    def close_left(self) -> None:
        """Close the robots that were left while somebody may have waited for them."""
        while self._left:
            self._left.pop().close()


def _reasons(do: Callable[[], list[str]]) -> list[str]:
    """What `do` returns; an error is a reason, too, of which rclpy would say nothing."""
    try:
        return do()
    except Exception as error:
        known = isinstance(error, AdmittanceError)
        return [str(error) if known else f"{type(error).__name__}: {error}"]
