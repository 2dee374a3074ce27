"""The hand that a page lends: a spring from the pointer to the tool, and pushes by the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from ur_admittance.kernel.spatial import LINEAR

STIFFNESS = 300.0  # N/m, from the pointer to the tool
DAMPING = 15.0  # N s/m
MOST_FORCE, MOST_TORQUE = 60.0, 6.0  # N and Nm
BEAT_SECONDS = 0.4  # on the wall's clock: a pointer not heard of for so long has let go


class Pointer:
    """A `Hand` of `robots.sim` that other calls lead."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.wrench = np.zeros(6)  # what it did to the tool last, at P in W axes, N and Nm
        self._clock = clock
        self._target: np.ndarray | None = None
        self._heard = -math.inf
        self._push, self._until, self._wanted = np.zeros(6), -math.inf, 0.0

    def drag(self, point: np.ndarray) -> None:
        """The pointer is at a point, m (3,) in W, and holds the tool there."""
        self._target, self._heard = point, self._clock()

    def release(self) -> None:
        """Let go."""
        self._target = None

    def push(self, wrench: np.ndarray, seconds: float) -> None:
        """Push with a wrench, N and Nm (6,) at P in W axes, for some seconds of simulated time."""
        self._push, self._wanted = wrench, seconds

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        wrench = np.zeros(6)
        if self._wanted:
            self._until, self._wanted = t + self._wanted, 0.0
        if t < self._until:
            wrench += self._push
        if self._target is not None:
            if self._clock() - self._heard > BEAT_SECONDS:
                self._target = None
            else:
                force = STIFFNESS * (self._target - X_WP[:3, 3]) - DAMPING * V_WP[LINEAR]
                size = float(np.linalg.norm(force))
                wrench[LINEAR] += force * min(1.0, MOST_FORCE / max(size, 1e-9))
        self.wrench = wrench
        return wrench
