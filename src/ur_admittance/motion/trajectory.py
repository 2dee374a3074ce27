"""A planned joint trajectory as the desired motion of an arm that gives way around it.

Between two points each joint is a polynomial, as in ROS's joint trajectory controller: of the fifth
degree where points have velocities and accelerations, of the third with velocities, else a line.
Along it the time of the plan passes as fast as the arm can follow: held back, by force or by its
limits, the plan waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config.validate import as_numbers
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel

FREE = np.array([0.02, 0.1])  # m and rad off the plan, up to which its time passes unhindered
HELD = np.array([0.10, 0.5])  # likewise, from which on it stands still
GOAL = np.array([0.005, 0.02])  # m and rad off the last point, that count as there
PATIENCE = 5.0  # s that the arm may be held, or away from the goal, before it is given up
_RAMP = 4.0  # 1/s, how fast the pace changes, at most
_MOVING = 1e-3  # rad/s, that are no rest
_START = 0.1  # rad, by which a plan may begin elsewhere than the arm is
_LOOKS = 10_000  # at most so many instants of a plan are looked at
_ANY = np.full(6, math.inf)


class JointPath:
    """Joint angles and rates over time, through points.

    Attributes:
        seconds: how long it takes.
        end: (6,) the last point, rad.
    """

    def __init__(
        self,
        times: Sequence[float],
        q: ArrayLike,
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
    ) -> None:
        """
        Args:
            times: of the points, s, rising.
            q: (n, 6) rad.
            qd: (n, 6) rad/s; None: straight from point to point.
            qdd: (n, 6) rad/s^2; None: whatever they come to.

        Raises:
            RobotError: that is no trajectory; the message says what of it.
        """
        self._times = _numbers("time_from_start", times)
        points = np.atleast_2d(_numbers("positions", q))
        if not len(points) or self._times.ndim != 1:
            raise RobotError("trajectory: there must be a point at least, and a time for each")
        rates = None if qd is None else np.atleast_2d(_numbers("velocities", qd))
        turns = None
        if qdd is not None and rates is not None:
            turns = np.atleast_2d(_numbers("accelerations", qdd))
        for name, unit, given in (
            ("positions", "rad", points),
            ("velocities", "rad/s", rates),
            ("accelerations", "rad/s^2", turns),
        ):
            if given is not None and given.shape != (len(self._times), 6):
                raise RobotError(f"trajectory: each point must have six {name}, or none has any")
            if given is not None and not np.isfinite(given).all():
                n = int(np.argwhere(~np.isfinite(given))[0, 0]) + 1
                raise RobotError(f"trajectory: {name} of point {n} must be finite, in {unit}")
        rising = np.diff(self._times, prepend=-1e-12) > 0.0
        if not (np.isfinite(self._times).all() and rising.all()):
            raise RobotError(
                "trajectory: time_from_start must rise from point to point, from 0 s on; got "
                f"{', '.join(f'{t:g}' for t in self._times[:10])}"
            )
        if rates is not None and np.abs(rates[-1]).max() > _MOVING:
            raise RobotError("trajectory: it must end at rest; its last point has velocities")
        self.seconds, self.end = float(self._times[-1]), points[-1].copy()
        self._start = points[0].copy()
        self._pieces = _pieces(np.diff(self._times)[:, None], points, rates, turns)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Angles, rad, and rates, rad/s, (6,) each, at a time, s; at rest before and after."""
        if t >= self.seconds or not len(self._pieces):
            return self.end, np.zeros(6)
        if t < self._times[0]:
            return self._start, np.zeros(6)
        k = int(np.searchsorted(self._times, t, side="right")) - 1
        powers = (t - self._times[k]) ** np.arange(6)
        piece = self._pieces[k]
        return powers @ piece, (np.arange(1, 6) * powers[:5]) @ piece[1:]

    def _all(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`at` for many times (n,) on the way, at once: (n, 6) each. It is asked for between two
        ticks.
        """
        k = np.clip(np.searchsorted(self._times, times, side="right"), 1, len(self._pieces)) - 1
        powers = (times - self._times[k])[:, None] ** np.arange(6)
        pieces = self._pieces[k]
        angles = np.einsum("np,npj->nj", powers, pieces)
        return angles, np.einsum("np,npj->nj", np.arange(1, 6) * powers[:, :5], pieces[:, 1:])

    def problem(self, model: RobotModel, q: np.ndarray) -> str:
        """Why an arm at `q` (6,) rad must not follow it, in words; or ""."""
        q_start, _ = self.at(0.0)
        apart = np.abs(q_start - q)
        if not apart.max() <= _START:
            worst = int(np.argmax(apart))
            return (
                f"it begins {apart[worst]:.3f} rad from where {model.joint_names[worst]} is, at "
                f"most {_START:g} rad is allowed; plan it from here"
            )
        times, angles, rates = np.zeros(1), self.end[None], np.zeros((1, 6))
        if len(self._pieces):
            count = min(_LOOKS, max(2, math.ceil(100.0 * self.seconds)))
            times = np.linspace(self._times[0], self.seconds, count)
            angles, rates = self._all(times)
        for found, low, high, what in (
            (angles, model.q_min, model.q_max, "rad"),
            (rates, -model.qd_max, model.qd_max, "rad/s"),
        ):
            beyond = np.argwhere((found < low - 1e-6) | (found > high + 1e-6))
            if len(beyond):
                k, j = map(int, beyond[0])
                return (
                    f"after {times[k]:.2f} s {model.joint_names[j]} is at {found[k, j]:.3f} "
                    f"{what}, allowed is {low[j]:.3f} to {high[j]:.3f}"
                )
        return ""


class PlanTime:
    """The time of a plan: it passes as fast as the arm that follows it can.

    Attributes:
        pace: share of the plan's speed, 0 to 1.
        t: time of the plan, s.
        outcome: "" while it goes on; "reached"; else why it ended before, in words.
    """

    def __init__(self, seconds: float, pace: float = 1.0, patience: float = PATIENCE) -> None:
        """
        Args:
            seconds: how long the plan takes.
            pace: to begin with.
            patience: s that the arm may be held, or away from the goal.
        """
        self.pace, self.t, self.outcome = pace, 0.0, ""
        self._seconds, self._patience, self._left = seconds, patience, patience

    def step(
        self, dt: float, off: np.ndarray, scaling: float = 1.0, arrived: bool | None = None
    ) -> None:
        """Let time pass.

        Args:
            dt: s.
            off: (2,) how far the arm is from the plan, m and rad; see `apart`.
            scaling: 0 to 1, the pace that others allow, such as the robot.
            arrived: whether the arm is where it would count as there; default: off by `GOAL`.
        """
        hindered = float(((off - FREE) / (HELD - FREE)).max())
        wish = scaling * min(1.0, max(0.0, 1.0 - hindered))
        self.pace += min(max(wish - self.pace, -_RAMP * dt), _RAMP * dt)
        self.t += self.pace * dt
        there = self.t >= self._seconds
        if self.outcome:
            return
        if there and ((off <= GOAL).all() if arrived is None else arrived):
            self.outcome = "reached"
        elif there or (self.pace < 0.02 and scaling > 0.02):
            self._left -= dt
            if self._left <= 0.0:
                what = "the goal was not reached" if there else "it was held back"
                self.outcome = (
                    f"{what}: after {self._patience:g} s the tool is still {1e3 * off[0]:.0f} mm "
                    f"and {off[1]:.2f} rad from {'it' if there else 'the plan'}, at "
                    f"{min(self.t, self._seconds):.1f} s of {self._seconds:.1f}"
                )
        else:
            self._left = self._patience


class Tolerances(NamedTuple):
    """What whoever asks for a plan may say of how well it is to be followed."""

    path: np.ndarray = _ANY  # (6,) rad that a joint may be off the plan, or it ends
    goal: np.ndarray | None = None  # (6,) rad that count as there; None: `GOAL`, of the tool
    patience: float = PATIENCE  # s


class Follower(PlanTime):
    """Where a plan of the joints is, while an arm follows it."""

    def __init__(
        self, model: RobotModel, path: JointPath, tolerances: Tolerances | None = None
    ) -> None:
        self._tolerances = tolerances or Tolerances()
        super().__init__(path.seconds, patience=self._tolerances.patience)
        self._model, self.path, self._why = model, path, ""
        self._q, self._qd = path.at(0.0)

    def brake(self, why: str) -> None:
        """Slow down along the way to rest there; then the outcome is `why`."""
        self._why = self._why or why

    def follow(
        self, dt: float, X_WP: np.ndarray, scaling: float = 1.0, q: np.ndarray | None = None
    ) -> None:
        """Let time pass, dt in s, for an arm whose tool is at X_WP (4, 4) and its joints at q (6,)
        rad, for the tolerances; see `PlanTime.step`.
        """
        arrived, goal = None, self._tolerances.goal
        if q is not None:
            self._look_at(q)
            arrived = None if goal is None else bool((np.abs(q - self.path.end) <= goal).all())
        off = apart(X_WP, self._model.fk(self._q))
        self.step(dt, off, 0.0 if self._why else scaling, arrived)
        if self._why and not self.outcome and self.pace == 0.0:
            self.outcome = self._why
        self._q, self._qd = self.path.at(self.t)

    def _look_at(self, q: np.ndarray) -> None:
        off, allowed = np.abs(q - self._q), self._tolerances.path
        if not (off <= allowed).all():
            j = int(np.argmax(off - allowed))
            self.brake(
                f"{self._model.joint_names[j]} was {off[j]:.3f} rad off the plan, at most "
                f"{allowed[j]:g} was allowed, after {self.t:.1f} s of {self.path.seconds:.1f}"
            )

    @property
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Angles, rad, and rates, rad/s, (6,) each, that are desired now."""
        return self._q, self.pace * self._qd

    @property
    def desired(self) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and twist (6,), m/s and rad/s, that are desired now."""
        q, qd = self.joints
        return self._model.fk(q), self._model.jacobian(q) @ qd


def apart(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """How far two poses are apart: m, rad."""
    cosine = 0.5 * (float(np.trace(X[:3, :3].T @ Y[:3, :3])) - 1.0)
    turned = math.acos(max(-1.0, min(1.0, cosine)))
    return np.array([np.linalg.norm(X[:3, 3] - Y[:3, 3]), turned])


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    return as_numbers(value, f"trajectory: {name}", None, nan=True, error=RobotError)


def _pieces(
    T: np.ndarray, q: np.ndarray, qd: np.ndarray | None, qdd: np.ndarray | None
) -> np.ndarray:
    """Coefficients (n - 1, 6, 6), by piece, power and joint, from each point (n, 6) to the next,
    T (n - 1, 1) s later. All at once: a plan of MoveIt's has hundreds of points, and comes between
    two ticks.
    """
    c, step = np.zeros((len(T), 6, 6)), q[1:] - q[:-1]
    c[:, 0] = q[:-1]
    if qd is None:
        c[:, 1] = step / T
        return c
    v, w = qd[:-1], qd[1:]
    c[:, 1] = v
    if qdd is None:
        c[:, 2] = (3.0 * step - (2.0 * v + w) * T) / T**2
        c[:, 3] = (-2.0 * step + (v + w) * T) / T**3
        return c
    a, b = qdd[:-1], qdd[1:]
    c[:, 2] = 0.5 * a
    c[:, 3] = (20 * step - (8 * w + 12 * v) * T - (3 * a - b) * T**2) / (2 * T**3)
    c[:, 4] = (-30 * step + (14 * w + 16 * v) * T + (3 * a - 2 * b) * T**2) / (2 * T**4)
    c[:, 5] = (12 * step - 6 * (w + v) * T + (b - a) * T**2) / (2 * T**5)
    return c
