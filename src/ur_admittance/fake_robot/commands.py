"""What the arm can be told to do, one class a motion command.

A command moves the target joint positions `motion.q` and speeds `motion.qd`, one cycle at a time.
`scale` is the speed scaling, 0 to 1: it slows the time of a path, and the speed of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ur_admittance.fake_robot import poses
from ur_admittance.fake_robot.arm import CYCLE
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

_AT_REST = 1e-9  # rad/s
_TURN_SPEED = 3.0  # rad/s, of the tool on a line
_NO_WAY = 1e-9  # m or rad
_TRIES = 5  # to find how far a path may go in a cycle


class Command:
    """One motion command. `done`: the program may go on."""

    done = False

    def start(self, motion: Any) -> None:
        """Begin, or begin again, from where the targets are now."""

    def advance(self, motion: Any, scale: float) -> None:
        """One cycle."""
        raise NotImplementedError

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        """Where it will end: joint positions."""
        return motion.q


class Profile:
    """Way over time with an acceleration, a speed, and rest at both ends.

    With a duration, the speed that takes just so long; if the acceleration does not allow it, a
    greater one.
    """

    def __init__(self, way: float, a: float, v: float, duration: float = 0.0) -> None:
        self.way = way
        if duration > 0.0:
            root = (a * duration) ** 2 - 4 * a * way
            if root < 0.0:
                a = 4 * way / duration**2
                root = 0.0
            v = 0.5 * (a * duration - math.sqrt(root))
        if v * v > a * way:
            v = math.sqrt(a * way)
        self.a, self.v = a, v
        self.ramp = v / a if way > 0 else 0.0
        if duration > 0.0 or not way > 0:
            self.duration = duration
        else:
            self.duration = way / v + self.ramp

    def at(self, t: float) -> float:
        """The way at time t."""
        if t >= self.duration:
            return self.way
        if t < self.ramp:
            return 0.5 * self.a * t * t
        left = self.duration - t
        if left < self.ramp:
            return self.way - 0.5 * self.a * left * left
        return self.v * (t - 0.5 * self.ramp)


class _Path(Command):
    """A command with a path and a profile on it."""

    profile: Profile

    def __init__(self) -> None:
        self._time = 0.0
        self._ready = False

    def start(self, motion: Any) -> None:
        self._ready = False

    def _plan(self, motion: Any) -> None:
        raise NotImplementedError

    def _place(self, motion: Any, s: float) -> np.ndarray | None:
        """Joint positions after the way s, or None where the arm cannot go."""
        raise NotImplementedError

    def advance(self, motion: Any, scale: float) -> None:
        if not self._ready:
            if np.abs(motion.qd).max() > _AT_REST:  # a path begins at rest
                motion.brake()
                return
            self._plan(motion)
            self._time, self._ready = 0.0, True
        slow = motion.slow_down()
        for _ in range(_TRIES):
            time = self._time + CYCLE * scale * slow
            q = self._place(motion, self.profile.at(time))
            if q is None:
                motion.refuse("The path leads through a singularity or out of reach")
                return
            share = motion.joint_share(q)
            if share <= 1.0:
                break
            slow = motion.slow_down(0.9 * slow / share)  # no joint may be faster than it can
        self._time = time
        motion.qd[:] = (q - motion.q) / CYCLE
        motion.q[:] = q
        if time >= self.profile.duration:
            self.done = True


class MoveJ(_Path):
    """Straight in joint space; acceleration and speed are the leading axis's."""

    def __init__(self, end: Sequence[float], a: float, v: float, duration: float) -> None:
        super().__init__()
        self._end, self._a, self._v = np.array(end), a, v
        self._duration = duration

    def _plan(self, motion: Any) -> None:
        self._begin = motion.q.copy()
        way = self._end - self._begin
        longest = float(np.abs(way).max())
        v = self._v
        if longest > _NO_WAY:
            share = np.abs(way) / longest
            limit = motion.joint_speed / np.maximum(share, 1e-12)
            v = min(v, float(limit.min()))
        self.profile = Profile(longest, self._a, v, self._duration)
        self._direction = way / longest if longest > _NO_WAY else way

    def _place(self, motion: Any, s: float) -> np.ndarray:
        if s >= self.profile.way:
            return self._end
        return self._begin + s * self._direction

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        return self._end


class MoveL(_Path):
    """The TCP on a straight line."""

    def __init__(self, targets: list[Sequence[float]], a: float, v: float, duration: float) -> None:
        super().__init__()
        self._end, self._a, self._v, self._duration = targets[-1], a, v, duration

    def _plan(self, motion: Any) -> None:
        self._begin = motion.pose()
        self._q = motion.q.copy()
        distance = math.dist(self._begin[0:3], self._end[0:3])
        turn = poses.rotation_vector(
            poses.multiply(
                poses.transposed(poses.rotation(*self._begin[3:6])),
                poses.rotation(*self._end[3:6]),
            )
        )
        self._set_profile(motion, distance, math.hypot(*turn))

    def _set_profile(self, motion: Any, distance: float, angle: float) -> None:
        way, v = distance, min(self._v, motion.tcp_speed)
        if distance < 1e-5:
            way, v = angle, min(self._v, _TURN_SPEED)
        elif angle > 0.0:
            v = min(v, _TURN_SPEED * distance / angle)
        self.profile = Profile(way, self._a, v, self._duration)

    def _pose(self, fraction: float) -> poses.Pose6:
        return poses.interpolate(self._begin, self._end, fraction)

    def _place(self, motion: Any, s: float) -> np.ndarray | None:
        if self.profile.way > _NO_WAY:
            pose = self._pose(s / self.profile.way)
            if not motion.follow(pose, self._q):
                return None
        return self._q

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        found = motion.joints_for(self._end)
        return motion.q if found is None else found


class MoveC(MoveL):
    """The TCP on the circle through where it is, a pose on the way, and the last one."""

    def __init__(
        self, via: Sequence[float], end: Sequence[float], a: float, v: float, *, fixed: bool
    ) -> None:
        super().__init__([end], a, v, 0.0)
        self._via, self._fixed = via, fixed

    def _plan(self, motion: Any) -> None:
        self._begin, self._q = motion.pose(), motion.q.copy()
        a, b, c = (np.array(x[0:3]) for x in (self._begin, self._via, self._end))
        normal = np.cross(b - a, c - a)
        area = float(normal @ normal)
        if area < 1e-12:  # on a line
            self._radius = 0.0
            super()._plan(motion)
            return
        ab, ac = b - a, c - a
        offset = (ab @ ab) * np.cross(ac, normal) - (ac @ ac) * np.cross(ab, normal)
        centre = a + offset / (2 * area)
        self._centre, self._x = centre, a - centre
        self._radius = float(np.linalg.norm(self._x))
        self._y = np.cross(normal / math.sqrt(area), self._x)
        end = c - centre
        self._angle = math.atan2(float(end @ self._y), float(end @ self._x)) % (2 * math.pi)
        self._set_profile(motion, self._radius * self._angle, 0.0)

    def _pose(self, fraction: float) -> poses.Pose6:
        if self._radius == 0.0:
            return super()._pose(fraction)
        angle = fraction * self._angle
        p = self._centre + math.cos(angle) * self._x + math.sin(angle) * self._y
        turn = self._begin if self._fixed else poses.interpolate(self._begin, self._end, fraction)
        return (*p.tolist(), *turn[3:6])


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
                poses.rotation(*self._pose[3:6]), poses.transposed(poses.rotation(*here[3:6]))
            )
        )
        for part, way in (
            (LINEAR, np.subtract(self._pose[0:3], here[0:3])),
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
