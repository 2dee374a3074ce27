"""The guard of a chain: what is really sent to the robot, what is shown of it, and the last 2 s."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.chain import compiled as places
from ur_admittance.chain.compiled import compiled
from ur_admittance.chain.interfaces import Interfaces, Link
from ur_admittance.chain.switching import Rest
from ur_admittance.config.validate import as_numbers
from ur_admittance.controller import TRACE_SECONDS
from ur_admittance.kernel import layout
from ur_admittance.model import RobotModel


class Guard:
    """Makes the robot's command of what links wrote, inside the joint limits (`compiled.guard`).

    Attributes:
        finish: called at the end of a cycle with its length, s. Returns 0, or n + 1 if the command
            of joint n was not finite.
        outputs: one record, for whoever watches: the law's, with the command that is sent.
        qd: (6,) the last command, rad/s.
    """

    def __init__(
        self,
        interfaces: Interfaces,
        model: RobotModel,
        rate: float,
        joint_velocity: ArrayLike | None,
        joint_acceleration: ArrayLike | None,
    ) -> None:
        self._interfaces = interfaces
        qd_max = model.qd_max if joint_velocity is None else joint_velocity
        qdd_max = model.qdd_max if joint_acceleration is None else joint_acceleration
        self._limits = np.array(
            [
                as_numbers(qd_max, "joint_velocity", (6,)),
                as_numbers(qdd_max, "joint_acceleration", (6,)),
                model.q_min,
                model.q_max,
            ]
        )
        self._claimed = np.zeros(6, np.int64)
        self._memory = np.zeros((3, 6))
        self.qd = self._memory[0]
        self._flags = np.zeros(places.FLAGS, np.int64)
        self._ring = np.zeros((max(2, round(TRACE_SECONDS * rate)), places.OWN))
        self.outputs, self._bare = np.zeros(1, layout.OUTPUTS), np.zeros(1, layout.OUTPUTS)
        self._law = self._bare
        self.wire([], None)

    def begin(self, q: np.ndarray) -> None:
        """Start at rest at `q`, rad."""
        self._memory[:] = np.zeros(6), q, q
        self._bare["time"] = self._bare["tick"] = 0
        self._flags[places.TICKS] = self._flags[places.LIMITED] = 0
        self._flags[places.AT_REST] = 1

    def wire(self, active: Sequence[Link], law: np.ndarray | None) -> None:
        """Take the commands of these links from now on; the other joints brake.

        `law`: the outputs of the admittance, if there is one.
        """
        commands = [name.rpartition("/") for link in active for name in link.commands]
        commanded = {joint for joint, _, _ in commands}
        self._claimed[:] = [joint in commanded for joint in self._interfaces.joints]
        self._rest, self._hold = Rest(np.flatnonzero(self._claimed == 0).tolist()), None
        if commands and (commands[0][2] == "position") != self.by_position:
            self._flags[places.BY_POSITION] = not self.by_position
            self._memory[1:] = self._interfaces.values[places.Q : places.QD]
        if law is not None or (active and not self.halted):  # what has failed or left stays in view
            self._law = self._bare if law is None else law
            self._flags[places.BARE] = law is None
        width = len(self._interfaces.names)
        if width != self._ring.shape[1]:
            self._ring = np.zeros((len(self._ring), width))
            self._flags[places.TICKS] = 0
        self.finish = partial(
            compiled().guard, self._interfaces.values, self._limits, self._claimed, self._memory,
            self._flags, self._ring, self.outputs, self._law,
        )  # fmt: skip

    @property
    def at_rest(self) -> bool:
        """Whether the last command was exactly zero speed."""
        return bool(self._flags[places.AT_REST])

    @property
    def by_position(self) -> bool:
        """Whether the robot is commanded by position, else by velocity."""
        return bool(self._flags[places.BY_POSITION])

    @property
    def limited(self) -> int:
        """In how many cycles a command was cut to the joint limits."""
        return int(self._flags[places.LIMITED])

    def trace(self) -> np.ndarray:
        """All interfaces of the last two seconds, one row a cycle, oldest first."""
        count, size = int(self._flags[places.TICKS]), len(self._ring)
        return self._ring[np.arange(max(0, count - size) + 1, count + 1) % size]

    # --- after a failure ---

    @property
    def halted(self) -> bool:
        """Whether the chain has failed and was not recovered."""
        return bool(self._flags[places.HALTED])

    @halted.setter
    def halted(self, value: bool) -> None:
        self._flags[places.HALTED] = value

    def hold_measured(self, seconds: float) -> None:
        """Joints commanded by position that were braked go to where they were measured once they
        stand: an obstacle between command and arm is pressed no longer.
        """
        values, joints = self._interfaces.values, np.array(self._rest.joints, int)
        if not (self.by_position and len(joints)):
            return
        q, qd = values[places.Q : places.QD], values[places.QD : places.WRENCH]
        if self._hold is None:
            if not self._rest.settled(seconds, self.qd, qd, q):
                return
            self._hold = q[joints]
        self._claimed[joints] = 1
        values[places.Q_CMD + joints] = self._hold
