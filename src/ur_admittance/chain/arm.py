"""The robot as a chain sees it: it says more of its state, and takes what the chain sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ur_admittance.robots.base import Robot, State

if TYPE_CHECKING:
    from ur_admittance.chain.manager import ControllerManager


class Arm:
    """A robot with its joint rates and speed scaling handed to the manager.

    Which kind of command the robot gets can change with every switch, so it is the manager's to
    say, not that of the configuration the loop looks at.
    """

    def __init__(self, robot: Robot, manager: ControllerManager) -> None:
        scales = hasattr(robot, "speed_scaling")
        vars(self).update(_robot=robot, _manager=manager, _scales=scales)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._robot, name, value)

    def wait(self) -> State:
        state = self._robot.wait()
        self._manager.measured_velocity[:] = state.qd
        if self._scales:
            self._manager.speed_scaling[0] = self._robot.speed_scaling
        return state

    def send_velocity(self, *_: Any) -> None:
        """Send the chain's command, whatever its kind."""
        out = self._manager.outputs[0]
        if self._manager.sends == "position":
            self._robot.send_position(out["q_ref"])
        else:
            self._robot.send_velocity(out["qd"])

    send_position = send_trajectory = send_velocity
