"""A start that would travel: how far the equilibrium is, and going there slowly.

An arm that is started, or goes on after a stop, far from its equilibrium would set off for it by
itself. So whoever starts it is asked first, and the desired pose is led there from where the arm
stands, in a straight line and slowly. The arm gives way to force all the while.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import quaternion_of, transform
from ur_admittance.controller import Controller
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel

FAR, FAR_TURN = 0.05, 0.2  # m and rad that need no asking
SLOW, SLOW_TURN = 0.05, 0.1  # m/s and rad/s, at most, on the way there
_PEAK = 1.5  # of the speed over its mean, where s(u) = u^2 (3 - 2 u)


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
    """The way from one pose to another (4, 4), which is called `goal`, if it is far; or None."""
    metres = float(np.linalg.norm(X_WD[:3, 3] - X_WP[:3, 3]))
    radians = float(np.linalg.norm(_turn(X_WP, X_WD)))
    if metres <= FAR and radians <= FAR_TURN:
        return None
    return Travel(metres, radians, X_WD, goal)


class Approach:
    """Leads the desired pose to where a travel ends: call it after every tick.

    Attributes:
        over: whether it is there.
        outcome: none: the run goes on there.
    """

    outcome = ""

    def __init__(self, controller: Controller, travel: Travel) -> None:
        self.over = False
        self._controller, self._X_to = controller, travel.X_WD
        self._period = 1.0 / controller.config.control_rate
        self._start: np.ndarray | None = None
        self._t = self._seconds = 0.0

    def __call__(self) -> None:
        controller = self._controller
        if self.over or controller.mode != "active":  # a hold: wait where it is
            return
        if self._start is None:
            self._begin(np.array(controller.outputs["X_WD"][0]))
        X, V = self._at(self._t)
        controller.set_desired(X, V)
        self.over = self._t >= self._seconds
        self._t += self._period

    def _begin(self, X: np.ndarray) -> None:
        self._start, self._way = X, self._X_to[:3, 3] - X[:3, 3]
        self._turn = _turn(X, self._X_to)
        far = max(np.linalg.norm(self._way) / SLOW, np.linalg.norm(self._turn) / SLOW_TURN)
        self._seconds = _PEAK * float(far) + self._period

    def _at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and twist, m/s and rad/s (6,), after t, s."""
        u = min(t / self._seconds, 1.0)
        s, ds = u * u * (3.0 - 2.0 * u), 6.0 * u * (1.0 - u) / self._seconds
        start = np.eye(4) if self._start is None else self._start
        X = transform(start[:3, 3] + s * self._way, _wxyz(s * self._turn))
        X[:3, :3] = X[:3, :3] @ start[:3, :3]
        V = np.zeros(6)
        V[LINEAR], V[ANGULAR] = ds * self._way, ds * self._turn
        return X, V


def _turn(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The rotation vector, rad (3,) in W, that turns X into Y on the shorter way."""
    wxyz = np.array(quaternion_of(Y[:3, :3] @ X[:3, :3].T))
    wxyz = -wxyz if wxyz[0] < 0.0 else wxyz
    size = float(np.linalg.norm(wxyz[1:]))
    return wxyz[1:] * (2.0 * math.atan2(size, wxyz[0]) / size if size > 1e-12 else 2.0)


def _wxyz(turn: np.ndarray) -> list[float]:
    """The quaternion of a rotation vector, rad (3,)."""
    angle = float(np.linalg.norm(turn))
    k = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    w, (x, y, z) = math.cos(0.5 * angle), k * turn
    size = math.sqrt(w * w + x * x + y * y + z * z)
    return [w / size, x / size, y / size, z / size]
