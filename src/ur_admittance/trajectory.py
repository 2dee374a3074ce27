"""A planned joint trajectory as the desired motion of an arm that gives way around it.

Between two points each joint is a polynomial, as in ROS's joint trajectory controller: of the fifth
degree where points have velocities and accelerations, of the third with velocities, else a line.
Along it the time of the plan passes as fast as the arm can follow: held back, by force or by its
limits, the plan waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel

FREE = np.array([0.02, 0.1])  # m and rad off the plan, up to which its time passes unhindered
HELD = np.array([0.10, 0.5])  # likewise, from which on it stands still
GOAL = np.array([0.005, 0.02])  # m and rad off the last point, that count as there
PATIENCE = 5.0  # s that the arm may be held, or away from the goal, before it is given up
_RAMP = 4.0  # 1/s, how fast the pace changes, at most
_MOVING = 1e-3  # rad/s, that are no rest
_START = 0.1  # rad, by which a plan may begin elsewhere than the arm is


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
        self._times = np.asarray(times, float)
        points = np.atleast_2d(np.asarray(q, float))
        if not len(points):
            raise RobotError("trajectory: there must be a point at least")
        rates = None if qd is None else np.atleast_2d(np.asarray(qd, float))
        turns = None if qdd is None or rates is None else np.atleast_2d(np.asarray(qdd, float))
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
        self._pieces = [
            _piece(
                self._times[k + 1] - self._times[k],
                points[k : k + 2],
                *(None if p is None else p[k : k + 2] for p in (rates, turns)),
            )
            for k in range(len(points) - 1)
        ]

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Angles, rad, and rates, rad/s, (6,) each, at a time, s; at rest before and after."""
        if t >= self.seconds or not self._pieces:
            return self.end, np.zeros(6)
        if t < self._times[0]:
            return self._start, np.zeros(6)
        k = int(np.searchsorted(self._times, t, side="right")) - 1
        powers = (t - self._times[k]) ** np.arange(6)
        piece = self._pieces[k]
        return powers @ piece, (np.arange(1, 6) * powers[:5]) @ piece[1:]

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
        times = np.linspace(0.0, self.seconds, max(2, math.ceil(100.0 * self.seconds)))
        for t in times:
            angles, rates = self.at(float(t))
            for found, low, high, what in (
                (angles, model.q_min, model.q_max, "rad"),
                (rates, -model.qd_max, model.qd_max, "rad/s"),
            ):
                beyond = np.argwhere((found < low - 1e-6) | (found > high + 1e-6))
                if len(beyond):
                    j = int(beyond[0, 0])
                    return (
                        f"after {t:.2f} s {model.joint_names[j]} is at {found[j]:.3f} {what}, "
                        f"allowed is {low[j]:.3f} to {high[j]:.3f}"
                    )
        return ""


class PlanTime:
    """The time of a plan: it passes as fast as the arm that follows it can.

    Attributes:
        pace: share of the plan's speed, 0 to 1.
        t: time of the plan, s.
        outcome: "" while it goes on; "reached"; else why it ended before, in words.
    """

    def __init__(self, seconds: float, pace: float = 1.0) -> None:
        """
        Args:
            seconds: how long the plan takes.
            pace: to begin with.
        """
        self.pace, self.t, self.outcome = pace, 0.0, ""
        self._seconds, self._patience = seconds, PATIENCE

    def step(self, dt: float, off: np.ndarray, scaling: float = 1.0) -> None:
        """Let time pass.

        Args:
            dt: s.
            off: (2,) how far the arm is from the plan, m and rad; see `apart`.
            scaling: 0 to 1, the pace that others allow, such as the robot.
        """
        hindered = float(((off - FREE) / (HELD - FREE)).max())
        wish = scaling * min(1.0, max(0.0, 1.0 - hindered))
        self.pace += min(max(wish - self.pace, -_RAMP * dt), _RAMP * dt)
        self.t += self.pace * dt
        there = self.t >= self._seconds
        if self.outcome:
            return
        if there and (off <= GOAL).all():
            self.outcome = "reached"
        elif there or (self.pace < 0.02 and scaling > 0.02):
            self._patience -= dt
            if self._patience <= 0.0:
                what = "the goal was not reached" if there else "it was held back"
                self.outcome = (
                    f"{what}: after {PATIENCE:g} s the tool is still {1e3 * off[0]:.0f} mm and "
                    f"{off[1]:.2f} rad from {'it' if there else 'the plan'}, at "
                    f"{min(self.t, self._seconds):.1f} s of {self._seconds:.1f}"
                )
        else:
            self._patience = PATIENCE


class Follower(PlanTime):
    """Where a plan of the joints is, while an arm follows it."""

    def __init__(self, model: RobotModel, path: JointPath) -> None:
        super().__init__(path.seconds)
        self._model, self.path = model, path
        self._q, self._qd = path.at(0.0)

    def follow(self, dt: float, X_WP: np.ndarray, scaling: float = 1.0) -> None:
        """Let time pass, dt in s, for an arm whose tool is at X_WP (4, 4); see `PlanTime.step`."""
        self.step(dt, apart(X_WP, self._model.fk(self._q)), scaling)
        self._q, self._qd = self.path.at(self.t)

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


def _piece(T: float, q: np.ndarray, qd: np.ndarray | None, qdd: np.ndarray | None) -> np.ndarray:
    """Coefficients (6, 6), by power and joint, from one point to the next T s later."""
    c, step = np.zeros((6, 6)), q[1] - q[0]
    c[0] = q[0]
    if qd is None:
        c[1] = step / T
    elif qdd is None:
        c[1] = qd[0]
        c[2] = (3.0 * step - (2.0 * qd[0] + qd[1]) * T) / T**2
        c[3] = (-2.0 * step + (qd[0] + qd[1]) * T) / T**3
    else:
        c[1], c[2] = qd[0], 0.5 * qdd[0]
        c[3] = (20 * step - (8 * qd[1] + 12 * qd[0]) * T - (3 * qdd[0] - qdd[1]) * T**2) / (
            2 * T**3
        )
        c[4] = (-30 * step + (14 * qd[1] + 16 * qd[0]) * T + (3 * qdd[0] - 2 * qdd[1]) * T**2) / (
            2 * T**4
        )
        c[5] = (12 * step - 6 * (qd[1] + qd[0]) * T + (qdd[1] - qdd[0]) * T**2) / (2 * T**5)
    return c
