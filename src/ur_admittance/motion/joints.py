"""Ways of the joints, planned or straight, around which the arm gives way.

Between two points of a plan each joint is a polynomial, as in ROS's joint trajectory controller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import as_numbers
from ur_admittance.controller.packing import pack
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.motion.curves import Curve
from ur_admittance.motion.pace import PATIENCE, Paced

SHARE = 0.5  # of every limit that a straight way uses; the other half is left for braking
_MOVING = 1e-3  # rad/s, that are no rest
_START = 0.1  # rad, by which a plan may begin elsewhere than the arm is
_LOOKS = 10_000  # at most so many instants of a plan are looked at
_SHORTEST, _SAMPLES = 0.5, 201  # s that a straight way takes at least, and instants of it looked at
_ANY = np.full(6, math.inf)


class JointPath(Curve):
    """Joint angles, rad, and rates over time, through points.

    Attributes:
        rests: whether it begins and ends at rest.
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
        at = _numbers("time_from_start", times)
        points = np.atleast_2d(_numbers("positions", q))
        if not len(points) or at.ndim != 1:
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
            if given is not None and given.shape != (len(at), 6):
                raise RobotError(f"trajectory: each point must have six {name}, or none has any")
            if given is not None and not np.isfinite(given).all():
                n = int(np.argwhere(~np.isfinite(given))[0, 0]) + 1
                raise RobotError(f"trajectory: {name} of point {n} must be finite, in {unit}")
        if not (np.isfinite(at).all() and (np.diff(at, prepend=-1e-12) > 0.0).all()):
            raise RobotError(
                "trajectory: time_from_start must rise from point to point, from 0 s on; got "
                f"{', '.join(f'{t:g}' for t in at[:10])}"
            )
        if rates is not None and np.abs(rates[-1]).max() > _MOVING:
            raise RobotError("trajectory: it must end at rest; its last point has velocities")
        self.rests = rates is not None and bool(np.abs(rates[0]).max() <= _MOVING)
        super().__init__(at, points, rates, turns)

    def problem(self, model: RobotModel, q: np.ndarray) -> str:
        """Why an arm at `q` (6,) rad must not follow it, in words; or ""."""
        apart = np.abs(self.start - q)
        if not apart.max() <= _START:
            worst = int(np.argmax(apart))
            return (
                f"it begins {apart[worst]:.3f} rad from where {model.joint_names[worst]} is, at "
                f"most {_START:g} rad is allowed; plan it from here"
            )
        count = min(_LOOKS, max(2, math.ceil(100.0 * self.seconds)))
        times = np.linspace(self._times[0], self.seconds, count)
        angles, rates = self.all(times)
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

    def begun_at(self, q: np.ndarray) -> Self:
        """The straight way to the same goal, in the same time, from `q` (6,) rad."""
        return self.resting((0.0, self.seconds), (q, self.goal))


def straight(model: RobotModel, config: Config, start: ArrayLike, goal: ArrayLike) -> JointPath:
    """The straight way from `start` to `goal`, rad (6,): all joints start and arrive together, at
    rest, and use no more than half of any limit of joints, tool and configuration.

    Raises:
        ConfigError: the goal is outside the joints' range, or the tool would leave the workspace.
    """
    q0, q1 = as_numbers(start, "start", (6,)), as_numbers(goal, "home", (6,))
    limits = pack(config, model)[0]
    for joint, q, low, high in zip(model.joint_names, q1, limits.q_min, limits.q_max, strict=True):
        if not low <= q <= high:
            raise ConfigError(f"home: {joint} must be from {low:.3f} to {high:.3f} rad, got {q:g}")
    u = np.linspace(0.0, 1.0, _SAMPLES)
    q, rates = JointPath.resting((0.0, 1.0), (q0, q1)).all(u)
    twists = np.array([model.jacobian(a) @ b for a, b in zip(q, rates, strict=True)])
    points = np.array([model.fk(a)[:3, 3] for a in q])
    outside = ((points < limits.workspace_min) | (points > limits.workspace_max)).any(axis=1)
    if outside.any():
        where = ", ".join(f"{x:.3f}" for x in points[outside.argmax()])
        raise ConfigError(
            f"home: the way there leaves the workspace at [{where}] m; widen "
            "limits.workspace_min and limits.workspace_max, or bring the arm nearer by hand"
        )

    def most(joints: np.ndarray, tool: np.ndarray, *limits: ArrayLike) -> float:
        """The greatest share of the limits of joints, linear and angular motion."""
        lengths = (np.linalg.norm(tool[:, part], axis=1) for part in (LINEAR, ANGULAR))
        found = (np.abs(joints), *lengths)
        return max(float(np.max(x / y)) for x, y in zip(found, limits, strict=True))

    speed = most(rates, twists, limits.qd_max, limits.v_max, limits.w_max)
    changes = np.gradient(rates, u, axis=0), np.gradient(twists, u, axis=0)
    acceleration = most(*changes, limits.qdd_max, limits.a_max, limits.alpha_max)
    seconds = max(speed / SHARE, math.sqrt(acceleration / SHARE), _SHORTEST)
    return JointPath.resting((0.0, seconds), (q0, q1))


class Tolerances(NamedTuple):
    """What whoever asks for a plan may say of how well it is to be followed."""

    path: np.ndarray = _ANY  # (6,) rad that a joint may be off the plan, or it ends
    goal: np.ndarray | None = None  # (6,) rad that count as there; None: `pace.GOAL`, of the tool
    patience: float = PATIENCE  # s


class Follower(Paced):
    """Leads D as a plan of the joints leads the tool.

    Attributes:
        path: the plan.
    """

    def __init__(
        self, model: RobotModel, path: JointPath, tolerances: Tolerances | None = None
    ) -> None:
        self._tolerances = tolerances or Tolerances()
        super().__init__(path.seconds, gently=not path.rests, patience=self._tolerances.patience)
        self._model, self.path = model, path
        self._q, self._qd = path.at(0.0)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        self._q, self._qd = self.path.at(t)
        return self._model.fk(self._q), self._model.jacobian(self._q) @ self._qd

    def follow(self, dt: float, off: np.ndarray, q: np.ndarray | None) -> None:
        arrived, goal = None, self._tolerances.goal
        if q is not None:
            self._look_at(q)
            arrived = None if goal is None else bool((np.abs(q - self.path.goal) <= goal).all())
        self.pass_by(dt, off, arrived)

    def _look_at(self, q: np.ndarray) -> None:
        off, allowed = np.abs(q - self._q), self._tolerances.path
        if not (off <= allowed).all():
            j = int(np.argmax(off - allowed))
            self.brake(
                f"{self._model.joint_names[j]} was {off[j]:.3f} rad off the plan, at most "
                f"{allowed[j]:g} was allowed, after {self.t:.1f} s of {self.seconds:.1f}"
            )

    @property
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Angles, rad, and rates, rad/s, (6,) each, that are desired now."""
        return self._q, self.pace * self._qd


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    return as_numbers(value, f"trajectory: {name}", None, nan=True, error=RobotError)
