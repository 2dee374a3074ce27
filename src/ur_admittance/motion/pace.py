"""How fast a motion goes: slower where the arm is held back from it, and to rest where it brakes.

Each motion has a time of its own, which passes at a pace from 0 to 1. Held back, by force or by its
limits, the arm is waited for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import (
    ANGULAR,
    LINEAR,
    braking_speed,
    log3,
    quaternion_of,
    shortest,
)
from ur_admittance.motion.base import Goal

FREE = np.array([0.02, 0.1])  # m and rad off the way, up to which its time passes unhindered
HELD = np.array([0.10, 0.5])  # likewise, from which on it stands still
GOAL = np.array([0.005, 0.02])  # m and rad off its end, that count as there
PATIENCE = 5.0  # s that the arm may be held, or away from the goal, before it is given up
_NOT = np.zeros(2)
_RAMP = 4.0  # 1/s, how fast the pace changes, at most
_ENDING = 0.625  # 1/s, likewise where the end is near: from 0.8 s before it on


def between(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The way from one pose to another (6,) in W axes: m, and the shorter turn as a rotation
    vector, rad.
    """
    turn = log3(shortest(quaternion_of(Y[:3, :3] @ X[:3, :3].T)))
    return np.array([*(Y[:3, 3] - X[:3, 3]), *turn])


def apart(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """How far two poses are apart: m, rad."""
    way = between(X, Y)
    return np.array([np.linalg.norm(way[LINEAR]), np.linalg.norm(way[ANGULAR])])


class MotionTime:
    """The time of a motion: it passes as fast as the arm that follows it can.

    Attributes:
        seconds: how long the motion takes at full pace.
        pace: share of its speed, 0 to 1.
        t: its time, s.
        outcome: as `base.Motion` has it.
    """

    def __init__(self, seconds: float, *, gently: bool = False, patience: float = PATIENCE) -> None:
        """
        Args:
            gently: begin and end slowly, where the motion itself does not begin and end at rest.
            patience: s that the arm may be held, or away from the goal.
        """
        self.seconds, self.t, self.outcome = seconds, 0.0, ""
        self.pace = 0.0 if gently else 1.0
        self._gently, self._patience, self._left, self._why = gently, patience, patience, ""

    def brake(self, why: str) -> None:
        """As `base.Motion` has it."""
        self._why = self._why or why

    def pass_by(self, dt: float, off: np.ndarray = _NOT, arrived: bool | None = None) -> None:
        """Let time pass.

        Args:
            dt: s.
            off: (2,) how far the arm is from the way, m and rad; see `apart`. Default: not at all.
            arrived: whether the arm is where it would count as there; default: off by `GOAL`.
        """
        if self.outcome:
            return
        wish = 1.0
        if off is not _NOT:
            wish = max(0.0, 1.0 - float(((off - FREE) / (HELD - FREE)).max()))
        if self._gently:
            wish = min(wish, braking_speed(self.seconds - self.t, _ENDING, dt))
        wish = 0.0 if self._why else min(1.0, wish)
        self.pace += min(max(wish - self.pace, -_RAMP * dt), _RAMP * dt)
        self.t += self.pace * dt
        there = self.t >= self.seconds - 1e-6
        if there:
            self.t = self.seconds
        if there and ((off <= GOAL).all() if arrived is None else arrived):
            self._end("reached")
        elif self._why:
            self._end_at_rest()
        elif there or self.pace < 0.02:
            self._left -= dt
            if self._left <= 0.0:
                what = "the goal was not reached" if there else "it was held back"
                self._end(
                    f"{what}: after {self._patience:g} s the tool is still {1e3 * off[0]:.0f} mm "
                    f"and {off[1]:.2f} rad from {'it' if there else 'the plan'}, at {self.t:.1f} s "
                    f"of {self.seconds:.1f}"
                )
        else:
            self._left = self._patience

    def rest(self) -> None:
        """Stand still where it is, and go on from rest."""
        self.pace = 0.0
        self._end_at_rest()

    def _end_at_rest(self) -> None:
        if self._why and self.pace == 0.0:
            self._end(self._why)

    def _end(self, outcome: str) -> None:
        self.outcome, self.pace = self.outcome or outcome, 0.0


class Paced(MotionTime, ABC):
    """A motion along a way that is known as poses over time."""

    _X: np.ndarray | None = None  # where on the way it is

    @abstractmethod
    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and twist, m/s and rad/s (6,), in W, at its time t, s, and at full pace."""

    def step(self, out: np.void) -> Goal | None:
        """As `base.Motion` has it."""
        if out["mode"] != bits.ACTIVE:
            self.rest()
        elif not self.outcome:
            return self.advance(float(out["dt"]), out["X_WP"], out["q"])
        return None

    def advance(self, dt: float, X_WP: np.ndarray, q: np.ndarray | None = None) -> Goal:
        """Where D goes, dt, s, later, for an arm whose tool is at X_WP (4, 4), and whose joints,
        rad (6,), may count for some.
        """
        self.follow(dt, apart(X_WP, self.at(self.t)[0] if self._X is None else self._X), q)
        self._X, V = self.at(self.t)
        return Goal(self._X, self.pace * V)

    def follow(self, dt: float, off: np.ndarray, q: np.ndarray | None) -> None:
        """Let time pass for an arm that is so far off; see `pass_by`."""
        self.pass_by(dt, off)
