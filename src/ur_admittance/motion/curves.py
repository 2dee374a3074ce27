"""Polynomials of time: from rest to rest, and through points."""

from __future__ import annotations

from bisect import bisect_right
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.kernel.compile import jit

_SPEED, _ACCELERATION, _JERK = 1.875, 10.0 / 3.0**0.5, 60.0  # the greatest derivatives of s(u)


@jit
def rest_to_rest(u):
    """s(u) = 10 u^3 - 15 u^4 + 6 u^5 and its derivative: from 0 to 1 and from rest to rest, as u
    goes from 0 to 1.
    """
    return u * u * u * (10.0 + u * (6.0 * u - 15.0)), 30.0 * (u * (1.0 - u)) ** 2


def quickest(
    distance: np.ndarray, speed: np.ndarray, acceleration: np.ndarray, jerk: np.ndarray
) -> float:
    """How long, s, `rest_to_rest` takes over distances, each within its limits."""
    by_acceleration = np.sqrt(_ACCELERATION * distance / acceleration)
    by_jerk = np.cbrt(_JERK * distance / jerk)
    return float(np.max([_SPEED * distance / speed, by_acceleration, by_jerk]))


class Curve:
    """Through points: of the fifth degree between two where they have rates and second derivatives,
    of the third with rates, else a line. At rest before and after.

    Attributes:
        seconds: when it ends.
        start, goal: (m,) the first and the last point.
    """

    def __init__(
        self,
        times: ArrayLike,
        points: ArrayLike,
        rates: ArrayLike | None = None,
        turns: ArrayLike | None = None,
    ) -> None:
        """
        Args:
            times: (n,) of the points, s, rising.
            points: (n, m).
            rates: their derivatives by time.
            turns: their second derivatives; none without rates.
        """
        self._times = np.asarray(times, float)
        q = np.asarray(points, float)
        qd, qdd = (None if x is None else np.asarray(x, float) for x in (rates, turns))
        self.seconds, self.start, self.goal = float(self._times[-1]), q[0], q[-1]
        # (n - 1, powers, m). All at once: a plan of MoveIt's has hundreds of points, and comes
        # between two ticks.
        T, ends = np.diff(self._times)[:, None], (q[:-1], q[1:])
        if qd is None:
            powers = q[:-1], (q[1:] - q[:-1]) / T
        elif qdd is None:
            powers = cubic(T, *ends, qd[:-1], qd[1:])
        else:
            powers = _quintic(T, *ends, qd[:-1], qd[1:], qdd[:-1], qdd[1:])
        self._pieces = np.stack(powers, axis=1)
        self._begins = self._times.tolist()

    @classmethod
    def resting(cls, times: ArrayLike, points: ArrayLike) -> Self:
        """With a rest at every point, and `rest_to_rest` between them."""
        rest = np.zeros_like(np.asarray(points, float))
        return cls(times, points, rest, rest)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Value and rate, (m,) each, at a time, s."""
        if t >= self.seconds or not len(self._pieces):
            return self.goal, np.zeros(len(self.goal))
        if t < self._begins[0]:
            return self.start, np.zeros(len(self.start))
        k = bisect_right(self._begins, t) - 1
        piece = self._pieces[k]
        powers = (t - self._begins[k]) ** np.arange(len(piece))
        return powers @ piece, (np.arange(1, len(piece)) * powers[:-1]) @ piece[1:]

    def all(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`at` for many times (n,) on the way, at once: (n, m) each."""
        if not len(self._pieces):
            return np.tile(self.goal, (len(times), 1)), np.zeros((len(times), len(self.goal)))
        k = np.clip(np.searchsorted(self._times, times, "right"), 1, len(self._pieces)) - 1
        pieces = self._pieces[k]
        degrees = np.arange(pieces.shape[1])
        powers = (times - self._times[k])[:, None] ** degrees
        values = np.einsum("np,npj->nj", powers, pieces)
        return values, np.einsum("np,npj->nj", degrees[1:] * powers[:, :-1], pieces[:, 1:])


def cubic(
    T: float | np.ndarray, p: np.ndarray, q: np.ndarray, v: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Coefficients, of the lowest power first, from p to q, T later, with the rates v and w."""
    return p, v, (3 * (q - p) - (2 * v + w) * T) / T**2, (2 * (p - q) + (v + w) * T) / T**3


def _quintic(T, p, q, v, w, a, b) -> tuple[np.ndarray, ...]:
    """The same, with the second derivatives a and b."""
    step = q - p
    c3 = (20 * step - (8 * w + 12 * v) * T - (3 * a - b) * T**2) / (2 * T**3)
    c4 = (-30 * step + (14 * w + 16 * v) * T + (3 * a - 2 * b) * T**2) / (2 * T**4)
    c5 = (12 * step - 6 * (w + v) * T + (b - a) * T**2) / (2 * T**5)
    return p, v, 0.5 * a, c3, c4, c5
