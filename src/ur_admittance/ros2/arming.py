"""What happens before the arm moves, and when it no longer does: checks, guard, controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.faults import StopReason
from ur_admittance.kernel.spatial import quaternion_of
from ur_admittance.motion.approach import Approach, Travel, travel_of, without_equilibrium
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.driver_status import DriverStatus
from ur_admittance.robots.ros2.robot import Ros2Robot
from ur_admittance.robots.ros2.tf import Transforms
from ur_admittance.ros2 import preflight
from ur_admittance.ros2.allowed import Allowed
from ur_admittance.ros2.guard import Guard, needed
from ur_admittance.ros2.identity import Identity
from ur_admittance.run.preflight import outside

if TYPE_CHECKING:
    from ur_admittance.ros2.node import AdmittanceNode


class Arming:
    """Of one node.

    Attributes:
        guard: beside a run in velocity mode; else None.
        approach: leads the arm to an equilibrium that was far away at the start; else None.
        travel_once: whether the next activation may travel, as somebody was asked.
        play: makes what leads the arm along a path, called after every command, for a controller;
            the equilibrium of the configuration is then the path's start. None: nothing is played.
        driver: what the driver says of the robot.
    """

    def __init__(
        self,
        node: AdmittanceNode,
        io: Any,
        transforms: Transforms,
        description: wire.Description,
        allowed: Allowed,
    ) -> None:
        self.guard: Guard | None = None
        self.approach: Approach | None = None
        self.travel_once = False
        self.play: Callable[[Controller], Callable[[], None]] | None = None
        self._along: Callable[[], None] | None = None  # the path that is played
        self.driver = DriverStatus(io, node.real)
        self._node, self._io, self._transforms, self._allowed = node, io, transforms, allowed
        self._identity = Identity(description)
        self._equilibrium: np.ndarray | None = None

    def begin_guard(self, priority: int) -> None:
        """Start the guard, if the mode needs one. It is there when the arm is to move."""
        node = self._node
        robot, controller = node.configured("run")
        mode = node.parameters.config.output.mode
        if node.board is not None and needed(mode) and not self._allowed.unguarded:
            topic = robot.commands.topic(mode)
            self.guard = Guard(self._io, topic, node.board, controller.params, priority)

    def end_guard(self) -> None:
        """The run is over."""
        if self.guard is not None:
            self.guard.close()
            self.guard = None

    def obstacles(self, meanwhile: Callable[[], None] | None = None) -> list[str]:
        """What stands against moving the arm now. With nothing, the command topic is claimed, and
        the guard watches.

        Args:
            meanwhile: called now and then, as long as that takes.
        """
        node = self._node
        robot, _ = node.configured("activate")
        config, robot.meanwhile = node.parameters.config, meanwhile
        try:
            reasons = self._obstacles(robot, config)
        finally:
            robot.meanwhile = None
        if not reasons and node.parameters.config != config:
            reasons = ["parameters were changed while the arm was looked at; ask again"]
        if reasons:
            self.rest()
        return reasons

    def _obstacles(self, robot: Ros2Robot, config: Config) -> list[str]:
        self._transforms.look()
        found = self._transforms.problem() or self._node.upkeep.frames.problem()
        found = found or self.driver.problem() or self._identity.problem(robot, config)
        if found:
            return [str(found)]
        reasons = preflight.obstacles(robot, config)
        reasons = reasons or self._outside_problem(robot, config) or self._travel_problem()
        return reasons or self._guard_problem(robot)

    def begin(self) -> Controller:
        """A controller with all that was changed meanwhile, for the loop to activate."""
        node = self._node
        robot, _ = node.configured("activate")
        self._spare_the_simulated(robot)
        config, travel = self._settled(), self.travel()
        led = travel is not None or self.play is not None
        controller = Controller(robot.model, without_equilibrium(config) if led else config)
        self.approach, self.travel_once = None, False
        self._along = self.play(controller) if self.play is not None else None
        if travel and self._along is None:
            self.approach = Approach(controller, travel)
        if travel:
            node.get_logger().warning(travel.words)
        if rate := robot.slow_states:
            node.get_logger().warning(
                f"joint states come {rate:.0f} times a second, control_rate is {robot.rate:g} Hz: "
                f"in between they are predicted by their velocities, for up to {1e3 / rate:.0f} ms"
            )
        robot.keep_frame()
        if node.board is not None:
            node.board.tighten_only = not self._allowed.loosening
        return controller

    def rest(self) -> None:
        """Nothing is commanded from now on, and nobody need watch."""
        robot = self._node.robot
        if robot is not None:
            if self.guard is not None:
                self.guard.rest(robot)
            robot.release()
        if self._node.board is not None:
            self._node.board.tighten_only = False

    def step(self) -> None:
        """After a command: one step of the approach or along the path, if there is one."""
        if self._along is not None:
            self._along()
        if self.approach is not None:
            self.approach()
            self.approach = None if self.approach.over else self.approach

    def hand_over(self) -> None:
        """A planner knows where to go: nothing else leads the arm. A run that played is over."""
        self.approach = None
        if self._along is not None and self._node.controller is not None:
            self._along = None
            self._node.controller.deactivate()

    def set_equilibrium(self) -> np.ndarray:
        """Make the present pose the equilibrium, now and from then on; its position (3,), m."""
        robot, controller = self._node.configured("set_equilibrium")
        self._equilibrium = robot.model.fk(robot.look(0.0).q)
        if self._node.looping:
            self.hand_over()
            controller.set_desired(self._equilibrium)
        return self._equilibrium[:3, 3]

    def travel(self) -> Travel | None:
        """The way to the equilibrium, if it has to be asked for."""
        robot, _ = self._node.configured("activate")
        return travel_of(robot.model, self._settled(), robot.look(0.0).q)

    def stops(self, robot: Ros2Robot) -> StopReason | None:
        """What stops an arm that moves; or None. Never waits."""
        if words := self._transforms.problem(moving=True):
            return StopReason.of("robot", words)
        return self.driver.problem() or (self.guard and self.guard.problem())

    def _guard_problem(self, robot: Ros2Robot) -> list[str]:
        """Have the guard watch. It is the last to look: it tells the arm to rest, to be heard."""
        if self.guard is None or self._node.board is None:
            return []
        robot.told = self._node.board.sent
        found = self.guard.watch(robot)
        return [found] if found else []

    def _outside_problem(self, robot: Ros2Robot, config: Config) -> list[str]:
        found = outside(config, robot.model.fk(robot.look(0.0).q)[:3, 3])
        return [found] if found and not self._allowed.outside else []

    def _travel_problem(self) -> list[str]:
        travel = self.travel()
        if travel is None or self._allowed.travel or self.travel_once:
            return []
        where = self._node.real(topics.SET_EQUILIBRIUM)
        return [
            f"{travel.words}: that has to be allowed, start this node with --allow-travel; or call "
            f"{where}, or bring the arm near it first"
        ]

    def _spare_the_simulated(self, robot: Ros2Robot) -> None:
        """No watch on frozen samples where the arm is simulated, and nobody asked for it."""
        config = self._node.parameters.config
        watched = config.safety.frozen_samples and config.dynamic_parameters
        if watched and self._node.frozen_by_default and not robot.real_sensor:
            self._node.change({"safety.frozen_samples": None})

    def _settled(self) -> Config:
        """The configuration with the equilibrium that was set since."""
        if self._equilibrium is None:
            return self._node.parameters.config
        R = np.ascontiguousarray(self._equilibrium[:3, :3])
        pose = {"position": self._equilibrium[:3, 3], "orientation": list(quaternion_of(R))}
        return self._node.parameters.config.replace({"equilibrium": pose})
