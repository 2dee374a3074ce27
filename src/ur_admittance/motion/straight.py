"""A straight way in space: slowly to a pose, such as an equilibrium that is far at the start.

An arm that is started, or goes on after a stop, far from its equilibrium would set off for it by
itself. So whoever starts it is asked first, and the desired pose is led there from where the arm
stands, in a straight line and slowly. The arm gives way to force all the while.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import transform
from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    exp3,
    linear,
    multiply,
    normalised,
    quaternion,
    quaternion_of,
    scale,
    write_pose,
)
from ur_admittance.model import RobotModel
from ur_admittance.motion.base import Goal
from ur_admittance.motion.curves import quickest, rest_to_rest
from ur_admittance.motion.pace import Paced, apart, between

FAR, FAR_TURN = 0.05, 0.2  # m and rad that need no asking
SLOW, SLOW_TURN = 0.05, 0.1  # m/s and rad/s, at most, on the way there
_ROOM = 0.99  # of these; the rest is for an arm that catches up
_ANY = np.full(2, math.inf)


@jit
def along(segment, seconds, t):
    """Position and orientation on a straight way with one axis of turning, t s after its start, and
    the two parts of its twist. All in scalars and tuples.

    Args:
        segment: (13,) start position m, start orientation wxyz, way m, turn in W axes rad.
        seconds: that the way takes, from rest to rest.
    """
    s, rate = 1.0, 0.0
    if t < seconds:
        s, rate = rest_to_rest(t / seconds)
        rate /= seconds
    way, turn = linear(segment[7:10]), linear(segment[10:13])
    wxyz = normalised(multiply(exp3(scale(turn, s)), quaternion(segment[3:7])))
    return add(linear(segment), scale(way, s)), wxyz, scale(way, rate), scale(turn, rate)


class StraightWay:
    """From pose to pose (4, 4), in a line and about one axis, from rest to rest.

    Attributes:
        seconds: how long it takes.
        segment: it, for `along`.
    """

    def __init__(
        self,
        start: np.ndarray,
        end: np.ndarray,
        speed: np.ndarray,
        acceleration: np.ndarray = _ANY,
        jerk: np.ndarray = _ANY,
        *,
        seconds: float = 0.0,
    ) -> None:
        """
        Args:
            speed: at most, linear and angular, m/s and rad/s (2,).
            acceleration: likewise.
            jerk: likewise.
            seconds: that it takes at least.
        """
        lengths = apart(start, end)
        self.seconds = max(float(seconds), quickest(lengths, speed, acceleration, jerk))
        self.segment = np.array([*start[:3, 3], *quaternion_of(start), *between(start, end)])

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and twist (6,) after t, s."""
        X = np.empty((4, 4))
        p, wxyz, v, w = along(self.segment.tolist(), self.seconds, t)
        write_pose(X, p, wxyz)
        return X, np.array([*v, *w])


class Straight(Paced):
    """Slowly from where D is to a pose."""

    def __init__(self, X_WD: np.ndarray, *, patience: float = math.inf) -> None:
        """
        Args:
            X_WD: where it leads.
            patience: s that the arm may be held back.
        """
        super().__init__(math.inf, patience=patience)
        self._to, self._way = X_WD, StraightWay(X_WD, X_WD, _ANY)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        return self._way.at(t)

    def step(self, out: np.void) -> Goal | None:
        if out["mode"] == bits.ACTIVE and self.seconds == math.inf:
            self._way = StraightWay(out["X_WD"], self._to, _ROOM * np.array([SLOW, SLOW_TURN]))
            self.seconds = self._way.seconds
        return super().step(out)

    def follow(self, dt: float, off: np.ndarray, q: np.ndarray | None) -> None:
        self.pass_by(dt, off, arrived=True)


class Travel(NamedTuple):
    """A way to the equilibrium that has to be asked for."""

    metres: float
    radians: float
    X_WD: np.ndarray  # where it leads
    goal: str = "the equilibrium"

    @property
    def words(self) -> str:
        """What to tell whoever is asked."""
        return (
            f"{self.goal} is {1e3 * self.metres:.0f} mm and {self.radians:.2f} rad from where "
            f"the arm stands; it goes there, at most {1e3 * SLOW:g} mm/s and {SLOW_TURN:g} rad/s"
        )


def travel_of(model: RobotModel, config: Config, q: np.ndarray) -> Travel | None:
    """The way from joint angles q, rad (6,), to the configured equilibrium, if it is far; or None.

    Up to 50 mm and 0.2 rad it is not.
    """
    pose = config.equilibrium_pose()
    if pose is None:
        return None
    return travel_to(transform(pose.position, pose.orientation), model.fk(q))


def travel_to(X_WD: np.ndarray, X_WP: np.ndarray, goal: str = "the equilibrium") -> Travel | None:
    """The way from X_WP to X_WD (4, 4), which is called `goal`, if it is far; or None."""
    metres, radians = apart(X_WP, X_WD).tolist()
    if metres <= FAR and radians <= FAR_TURN:
        return None
    return Travel(metres, radians, X_WD, goal)
