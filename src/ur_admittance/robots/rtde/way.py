"""A way in joint space from where the arm is to a trajectory point: one position a cycle."""

from __future__ import annotations

import numpy as np


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
        self.rate, self.over = rate, False
        self._points = (start, seconds * rate, goal, seconds * goal_rate)
        self._seconds, self._period, self._t = seconds, period, 0.0

    def next(self) -> list[float]:
        """The position a cycle later, rad; at the end, the goal."""
        self._t += self._period
        s = min(1.0, self._t / self._seconds)
        self.over = s >= 1.0 - 1e-9
        p, v, p_end, v_end = self._points
        if self.over:
            self.rate = v_end / self._seconds
            return p_end.tolist()
        h = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        d = 6 * s * (s - 1), (1 - s) * (1 - 3 * s), 6 * s * (1 - s), s * (3 * s - 2)
        self.rate = (d[0] * p + d[1] * v + d[2] * p_end + d[3] * v_end) / self._seconds
        return (h[0] * p + h[1] * v + h[2] * p_end + h[3] * v_end).tolist()
