"""A link above: a planned joint trajectory, around which the admittance below it gives way."""

from __future__ import annotations

import numpy as np

from ur_admittance.chain.interfaces import Link, Ports, positions, velocities
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.motion.joints import Follower, JointPath

LEFT = "it was switched off on its way"


class TrajectoryPlayer(Link):
    """Exports `<joint>/position` and `<joint>/velocity` of a plan, which `AdmittanceLink` follows.

        manager.load(
            TrajectoryPlayer(model, path),
            AdmittanceLink(controller, joints="trajectory"),
            VelocityForward("admittance"),
        )

    The time of the plan slows down, and stands still, while the arm is held back from it. Switched
    off, it comes to rest on its way.
    """

    def __init__(self, model: RobotModel, path: JointPath, *, name: str = "trajectory") -> None:
        """
        Args:
            path: from near where the arm is when the link is activated.
        """
        super().__init__(name)
        self._model, self._path = model, path
        self._follower: Follower | None = None

    def declare(self, joints: tuple[str, ...]) -> None:
        self.reads = positions(joints)
        self.exports = (*positions(joints), *velocities(joints))

    def configure(self, ports: Ports) -> None:
        self._q, self._exports = ports.read(self.reads), ports.export()

    def activate(self) -> None:
        q = np.array(self._q)
        if problem := self._path.problem(self._model, q):
            raise RobotError(f"{self.name}: {problem}")
        self._follower = Follower(self._model, self._path)
        self._exports[:6], self._exports[6:] = self._follower.joints

    def update(self, dt: float) -> None:
        if (follower := self._follower) is not None and dt > 0.0:
            follower.advance(dt, self._model.fk(np.array(self._q)))
            self._exports[:6], self._exports[6:] = follower.joints

    def deactivate(self) -> bool:
        """Slows down along its way, then ends."""
        if self._follower is not None:
            self._follower.brake(LEFT)
        return self._follower is None or bool(self.outcome)

    @property
    def outcome(self) -> str:
        """See `Follower.outcome`; "" before it is active."""
        return "" if self._follower is None else self._follower.outcome

    def words(self) -> list[str]:
        quiet = ("", "reached", LEFT)
        return [f"{self.name}: {self.outcome}"] if self.outcome not in quiet else []
