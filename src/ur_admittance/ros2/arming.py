"""What happens before the arm moves, and when it no longer does: checks, guard, controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.faults import StopReason
from ur_admittance.kernel.spatial import quaternion_of
from ur_admittance.model import RobotModel
from ur_admittance.motion.base import Goal, Motion
from ur_admittance.motion.straight import Straight, Travel, travel_of
from ur_admittance.motion.taught import Played, Playing
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.driver_status import DriverStatus
from ur_admittance.robots.ros2.robot import Ros2Robot
from ur_admittance.robots.ros2.tf import Transforms
from ur_admittance.ros2 import preflight
from ur_admittance.ros2.guard import Guard, needed
from ur_admittance.ros2.identity import Identity
from ur_admittance.run.assent import BY_NAME, Assent
from ur_admittance.run.owner import pressing
from ur_admittance.run.preflight import outside

if TYPE_CHECKING:
    from ur_admittance.ros2.node import AdmittanceNode


class Arming:
    """Of one node.

    Attributes:
        guard: beside a run in velocity mode; else None.
        agreed: acts that somebody at the terminal has agreed to, for the next activation.
        played: a path along which the arm is led, or None.
        driver: what the driver says of the robot.
    """

    def __init__(
        self,
        node: AdmittanceNode,
        io: Any,
        transforms: Transforms,
        description: wire.Description,
        assent: Assent,
    ) -> None:
        self.guard: Guard | None = None
        self.agreed: set[str] = set()
        self.played: Played | None = None
        self._motion: Motion | None = None
        self.driver = DriverStatus(io, node.real)
        self._node, self._io, self._transforms, self._assent = node, io, transforms, assent
        self._identity = Identity(description)
        self._equilibrium: np.ndarray | None = None

    def agree(self, assent: Assent, played: Played | None) -> None:
        """Have somebody at the terminal agree to what the arm will do by itself at its start.

        Args:
            played: a path to be played.

        Raises:
            NotPermitted: nobody does; nothing has moved.
        """
        robot, _ = self._node.configured("run")
        if played is not None:
            X_WP = robot.model.fk(robot.look(0.0).q)
            assent.require("play", played.words(robot.name, X_WP))
            self.played = played
        for act, words in self._by_itself():
            assent.require(act, words)
            self.agreed.add(act)

    def begin_guard(self, priority: int) -> None:
        """Start the guard, if the mode needs one. It is there when the arm is to move."""
        node = self._node
        robot, controller = node.configured("run")
        mode = controller.sends
        if node.board is not None and needed(mode) and not self._assent.permits("unguarded"):
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
        reasons = reasons or self._outside_problem(robot, config) or self._not_agreed()
        return reasons or self._guard_problem(robot)

    def begin(self) -> Controller:
        """A controller with all that was changed meanwhile, for the loop to activate."""
        node = self._node
        robot, _ = node.configured("activate")
        self._spare_the_simulated(robot)
        config, travel = self._settled(), self.travel()
        controller = self.controller_of(robot.model, config)
        self.agreed, self._motion = set(), None
        if (played := self.played) is not None:
            path, speed, late = played.path, played.speed, played.late
            self._motion = Playing(path, robot.model, config, speed, late=late)
        elif travel:
            self._motion = Straight(travel.X_WD)
        if travel:
            node.get_logger().warning(travel.words)
        if rate := robot.slow_states:
            node.get_logger().warning(
                f"joint states come {rate:.0f} times a second, control_rate is {robot.rate:g} Hz: "
                f"in between they are predicted by their velocities, for up to {1e3 / rate:.0f} ms"
            )
        robot.keep_frame()
        return controller

    def controller_of(self, model: RobotModel, config: Config) -> Controller:
        """A controller with a configuration, and with all that was changed on the blackboard."""
        controller = Controller(model, config)
        if self._node.board is not None:
            self._node.board.drive(controller.live)
        return controller

    def rest(self) -> None:
        """Nothing is commanded from now on, and nobody need watch."""
        robot = self._node.robot
        if robot is not None:
            if self.guard is not None:
                self.guard.rest(robot)
            robot.release()

    # --- as a `Motion`, until a planner knows better ---

    @property
    def leads(self) -> bool:
        """Whether the arm is led, along a path or to an equilibrium that is far."""
        return self._motion is not None

    @property
    def outcome(self) -> str:
        """How a path that is played ended; "" while it goes on, and without one."""
        return self._motion.outcome if self._motion is not None and self.played else ""

    def step(self, out: np.void) -> Goal | None:
        """See `Motion`."""
        return self._motion.step(out) if self._motion is not None else None

    def brake(self, why: str) -> None:
        """See `Motion`."""
        if self._motion is not None:
            self._motion.brake(why)

    def hand_over(self) -> None:
        """A planner knows where to go: nothing else leads the arm. A run that played is over."""
        if self._motion is not None and self.played and self._node.controller is not None:
            self._node.controller.deactivate()
        self._motion = None

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
        if self.played is not None:
            return None
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
        return [found] if found and not self._assent.permits("outside") else []

    def _by_itself(self) -> list[tuple[str, str]]:
        """What the arm would do by itself once it is activated: acts, and words about each."""
        travel, press = self.travel(), pressing(self._settled())
        acts = [("travel", travel.words if travel else ""), ("force", press)]
        return [(act, words) for act, words in acts if words]

    def _not_agreed(self) -> list[str]:
        """What the arm would do by itself, and nobody agreed to."""
        found = []
        for act, words in self._by_itself():
            if not self._assent.permits(act) and act not in self.agreed:
                ways = [f"start this node with {BY_NAME[act].option}"]
                if act == "travel":
                    ways.append(f"call {self._node.real(topics.SET_EQUILIBRIUM)}")
                ways.append(BY_NAME[act].instead)
                found.append(f"{words}: that has to be allowed, {'; or '.join(ways)}")
        return found

    def _spare_the_simulated(self, robot: Ros2Robot) -> None:
        """No watch on frozen samples where the arm is simulated, and nobody asked for it."""
        config = self._node.parameters.config
        watched = config.safety.frozen_samples and config.dynamic_parameters
        if watched and self._node.frozen_by_default and not robot.real_sensor:
            self._node.parameters.change({"safety.frozen_samples": None})

    def _settled(self) -> Config:
        """The configuration with the equilibrium that was set since."""
        if self._equilibrium is None:
            return self._node.parameters.config
        R = np.ascontiguousarray(self._equilibrium[:3, :3])
        pose = {"position": self._equilibrium[:3, 3], "orientation": list(quaternion_of(R))}
        return self._node.parameters.config.replace({"equilibrium": pose})
