"""What the arm can be told to do, one class a motion command; those with a path are in `paths`.

A command moves the target joint positions `motion.q` and speeds `motion.qd`, one cycle at a time.
`scale` is the speed scaling, 0 to 1: it slows the time of a path, and the speed of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.arm import poses
from ur_fake.arm.arm import CYCLE

_NO_WAY = 1e-9  # m or rad


class Command:
    """One motion command.

    Attributes:
        done: the program may go on.
        blends: whether it can begin while the path before it still comes to its end.
    """

    done = False
    blends = False

    def start(self, motion: Any) -> None:
        """Begin, or begin again, from where the targets are now."""

    def advance(self, motion: Any, scale: float) -> None:
        """One cycle."""
        raise NotImplementedError

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        """Where it will end: joint positions."""
        return motion.q


class _Timed(Command):
    """A command that lasts for a time, or until it is where it should be."""

    def __init__(self, seconds: float) -> None:
        self._cycles = math.ceil(seconds / CYCLE - 1e-9) if seconds > 0 else 0

    def _count(self, reached: bool) -> None:
        if self._cycles == 0:
            self.done = reached
        else:
            self._cycles -= 1
            self.done = self._cycles == 0


class SpeedJ(_Timed):
    """Joint speeds, approached with an acceleration of the leading axis."""

    def __init__(self, qd: Sequence[float], a: float, seconds: float) -> None:
        super().__init__(seconds)
        self._qd, self._a = np.array(qd), a

    def advance(self, motion: Any, scale: float) -> None:
        reached = motion.approach(self._qd * scale, self._a)
        self._count(reached)


class SpeedL(_Timed):
    """A twist of the TCP in base axes, approached with accelerations [m/s^2, rad/s^2]."""

    def __init__(
        self, twist: Sequence[float], a: float, seconds: float, turn: float | None
    ) -> None:
        super().__init__(seconds)
        self._twist, self._a, self._turn = np.array(twist), a, a if turn is None else turn
        self._V = np.zeros(6)

    def start(self, motion: Any) -> None:
        self._V = motion.twist()

    def advance(self, motion: Any, scale: float) -> None:
        goal = self._twist * scale
        change = goal - self._V
        linear = math.hypot(*change[LINEAR].tolist())
        angular = math.hypot(*change[ANGULAR].tolist())
        share = 1.0
        if linear > 0.0:
            share = min(share, self._a * CYCLE / linear)
        if angular > 0.0:
            share = min(share, self._turn * CYCLE / angular)
        self._V += share * change
        if share >= 1.0 and not goal.any():  # at rest: joints to rest, singular or not
            self._count(motion.approach(goal, motion.brake_rate))
            return
        if not motion.move_tcp(self._V):
            motion.refuse("The tool cannot move so in a singularity")
            return
        self._count(share >= 1.0)


class ServoJ(_Timed):
    """Follow joint positions through a critically damped second-order lag.

    On a ramp the arm is `lookahead` s late at a gain of 300, less at a higher gain:

        qdd = w^2 (q_ref - q) - 2 w qd,    w = 2 / lookahead * sqrt(gain / 300)

    The maker says what the two numbers do, not how: this is our model of it.
    """

    def __init__(self, q: Sequence[float], seconds: float, lookahead: float, gain: float) -> None:
        super().__init__(max(seconds, CYCLE))
        self._q = np.array(q)
        w = 2.0 / lookahead * math.sqrt(gain / 300.0)
        fade = math.exp(-w * CYCLE)
        self._coefficients = (
            fade * (1.0 + w * CYCLE), fade * CYCLE, -fade * w * w * CYCLE, fade * (1.0 - w * CYCLE)
        )  # fmt: skip

    def advance(self, motion: Any, scale: float) -> None:
        a, b, c, d = self._coefficients
        q, qd = motion.q, motion.qd
        behind = q - self._q
        new = self._q + a * behind + b * qd
        if scale >= 1.0:
            qd[:] = c * behind + d * qd
            q[:] = new
        else:
            qd[:] = scale * (c * behind + d * qd)
            q += scale * (new - q)
        self._count(True)

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        return self._q


class ServoC(_Timed):
    """The TCP towards a pose at a bounded speed, for one cycle."""

    def __init__(self, pose: Sequence[float], a: float, v: float) -> None:
        super().__init__(CYCLE)
        self._pose, self._a, self._v = pose, a, v

    def advance(self, motion: Any, scale: float) -> None:
        here = motion.pose()
        V = motion.twist()
        turn = poses.rotation_vector(
            poses.multiply(
                poses.rotation(*self._pose[ANGULAR]),
                poses.transposed(poses.rotation(*here[ANGULAR])),
            )
        )
        for part, way in (
            (LINEAR, np.subtract(self._pose[LINEAR], here[LINEAR])),
            (ANGULAR, np.array(turn)),
        ):
            left = float(np.linalg.norm(way))
            speed = min(self._v * scale, math.sqrt(self._a * left), left / (4 * CYCLE))
            change = (way * (speed / left) if left > _NO_WAY else 0.0) - V[part]
            size = float(np.linalg.norm(change))
            V[part] += change * min(1.0, self._a * CYCLE / size) if size > 0 else 0.0
        if not motion.move_tcp(V):
            motion.refuse("The tool cannot move so in a singularity")
            return
        self._count(True)


class Torque(_Timed):
    """Joint torques on joints of a plausible inertia and friction, for one cycle."""

    _INERTIA, _FRICTION = 0.012, 0.06  # kg m^2 and N m s/rad for each N m of the joint's greatest

    def __init__(self, torque: Sequence[float]) -> None:
        super().__init__(CYCLE)
        self._torque = np.array(torque)

    def advance(self, motion: Any, scale: float) -> None:
        greatest = motion.torque_limit
        torque = np.clip(self._torque, -greatest, greatest) - self._FRICTION * greatest * motion.qd
        motion.qd += torque / (self._INERTIA * greatest) * CYCLE
        motion.q += motion.qd * CYCLE
        self._count(True)
