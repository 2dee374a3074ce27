"""An arm that follows a motion, told tick by tick in an outputs record; and the motions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ur_admittance import Config, RobotModel
from ur_admittance.config.validate import transform
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.spatial import exp3, quaternion_of
from ur_admittance.motion.base import Goal, Motion
from ur_admittance.motion.joints import Follower, JointPath, straight
from ur_admittance.motion.straight import Straight
from ur_admittance.motion.taught import Path, Playing

MODEL, CONFIG = RobotModel.ur("ur5e"), Config.preset("pose-law")
HOME = MODEL.fk(MODEL.home)
DT = 0.002


class Arm:
    """Is where D is, unless it is held off.

    Attributes:
        out: the outputs record of the last tick.
        goals: that the motion gave, None where it gave none.
        off: (3,) m, from D to the tool.
    """

    def __init__(self, motion: Motion, X: np.ndarray = HOME) -> None:
        self.motion, self.out, self.off = motion, layout.new_outputs()[0], np.zeros(3)
        self.out["mode"], self.out["dt"] = bits.ACTIVE, DT
        self.out["X_WD"] = self.out["X_WP"] = X
        self.out["q"] = MODEL.home
        self.goals: list[Goal | None] = []

    def tick(self, n: int = 1) -> Goal | None:
        for _ in range(n):
            goal = self.motion.step(self.out)
            self.goals.append(goal)
            if goal is not None:
                self.out["X_WD"] = self.out["X_WP"] = goal.X_WD
                self.out["X_WP"][:3, 3] += self.off
        return self.goals[-1]

    def to_the_end(self) -> None:
        while not self.motion.outcome:
            self.tick()

    @property
    def poses(self) -> np.ndarray:
        return np.array([goal.X_WD for goal in self.goals if goal is not None])

    @property
    def twists(self) -> np.ndarray:
        return np.array([goal.V_WD for goal in self.goals if goal is not None])


def plan(rates: bool = True) -> JointPath:
    """Two seconds, from home, 0.2 rad about the base and back half of it."""
    turns = np.array([[0.0], [0.2], [0.1]]) * np.eye(6)[0]
    return JointPath([0.0, 1.0, 2.0], MODEL.home + turns, np.zeros((3, 6)) if rates else None)


def arc() -> Path:
    """Two seconds from near home, 0.1 m along an arc, turning."""
    u = np.linspace(0.0, 1.0, 30)
    s = u * u * (3.0 - 2.0 * u)
    rows = []
    for share in s:
        wxyz = exp3((0.0, 0.0, 0.3 * share))
        X = HOME @ transform((0.1 * np.sin(share), 0.1 - 0.1 * np.cos(share), 0.02), wxyz)
        rows.append([*X[:3, 3], *quaternion_of(X)])
    return Path(2.0 * u, np.array(rows))


def away() -> np.ndarray:
    """0.1 m and 0.3 rad from home."""
    return HOME @ transform((0.06, 0.0, -0.08), exp3((0.0, 0.3, 0.0)))


MOTIONS: dict[str, Callable[[], Motion]] = {
    "straight in space": lambda: Straight(away()),
    "straight in the joints": lambda: Follower(
        MODEL, straight(MODEL, CONFIG, MODEL.home, MODEL.home + 0.3)
    ),
    "taught": lambda: Playing(arc(), MODEL, CONFIG, 0.9, late=0.0),
    "planned": lambda: Follower(MODEL, plan()),
    "planned by positions alone": lambda: Follower(MODEL, plan(rates=False)),
}
