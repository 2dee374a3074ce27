"""A way in joint space from where the arm is to a trajectory point: one position a cycle."""

from __future__ import annotations

import numpy as np

from ur_admittance.motion.curves import cubic


class Way:
    """The cubic that begins and ends with given positions and rates.

    Attributes:
        rate: (6,) rad/s at the position that was given last.
        over: whether that was the end.
    """

    def __init__(
        self,
        start: np.ndarray,
        rate: np.ndarray,
        goal: np.ndarray,
        goal_rate: np.ndarray,
        seconds: float,
        period: float,
    ) -> None:
        self.rate, self.over, self._goal_rate = rate, False, goal_rate
        self._powers = cubic(seconds, start, goal, rate, goal_rate)
        self._goal, self._seconds, self._period, self._t = goal, seconds, period, 0.0

    def next(self) -> list[float]:
        """The position a cycle later, rad; at the end, the goal."""
        self._t += self._period
        self.over = self._t >= self._seconds * (1.0 - 1e-9)
        if self.over:
            self.rate = self._goal_rate
            return self._goal.tolist()
        t, (a, b, c, d) = self._t, self._powers
        self.rate = b + t * (2.0 * c + t * 3.0 * d)
        return (a + t * (b + t * (c + t * d))).tolist()
