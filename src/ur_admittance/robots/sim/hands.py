"""Hands that push a simulated arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config.validate import six
from ur_admittance.kernel.spatial import LINEAR

Hand = Callable[[float, np.ndarray, np.ndarray], ArrayLike]
"""`hand(t, X_WP, V_WP)` -> wrench [force; torque] on the tool at P, in W axes, N and N m. `t`: s of
simulated time; `X_WP` (4, 4); `V_WP` (6,) m/s and rad/s. Called once a cycle."""


@dataclass(frozen=True)
class ScriptedPush:
    """A hand that pushes by the clock: of `pushes`, each (start s, end s, wrench), the sum of those
    for which start <= t < end. Wrenches are [force; torque] at P in W axes, N and N m.
    """

    pushes: Sequence[tuple[float, float, ArrayLike]]

    def __post_init__(self) -> None:
        checked = tuple(
            (float(start), float(end), six("ScriptedPush", "wrench", "N, N m", wrench))
            for start, end, wrench in self.pushes
        )
        object.__setattr__(self, "pushes", checked)

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        total = np.zeros(6)
        for start, end, wrench in self.pushes:
            if start <= t < end:
                total += np.asarray(wrench)
        return total


@dataclass(frozen=True)
class SpringHand:
    """A hand that holds P by a spring and leads it along a path.

    Attributes:
        stiffness: N/m.
        damping: N s/m, against the velocity of P.
        path: where the hand is: a point (3,) m in W, or a function of t [s] that gives one.
    """

    stiffness: float
    damping: float
    path: ArrayLike | Callable[[float], ArrayLike]

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        point = np.asarray(self.path(t) if callable(self.path) else self.path, dtype=np.float64)
        wrench = np.zeros(6)
        wrench[LINEAR] = self.stiffness * (point - X_WP[:3, 3]) - self.damping * V_WP[LINEAR]
        return wrench
