"""Moves with a path: joints or tool on a way that is known before, with rest at both ends.

A move with a blend radius lets the next one begin before it is at rest: as soon as it brakes and
its tool is within the radius of its end. Both then go on at once, each as it would alone,

    q(t) = q_next(t) + (q_this(t) - q_end),

so that speeds are continuous, the corner is cut by no more than the radius, and a narrow radius
means a slower corner. The maker says what a blend does, not how: this is our model of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.arm import poses
from ur_fake.arm.arm import CYCLE
from ur_fake.arm.commands import Command

_AT_REST = 1e-9  # rad/s
_TURN_SPEED = 3.0  # rad/s, of the tool on a line
_NO_WAY = 1e-9  # m or rad
_TRIES = 5  # to find how far a path may go in a cycle


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


class Path(Command):
    """A command with a path and a profile on it.

    Attributes:
        profile: the way over time.
        last: (6,) joint positions at its end, once a blend has begun.
    """

    blends = True
    profile: Profile
    last: np.ndarray

    def __init__(self, radius: float) -> None:
        self._radius = radius  # m; 0: no blend
        self._time = 0.0
        self._ready = False

    def start(self, motion: Any) -> None:
        self._ready = False

    def _plan(self, motion: Any, q: np.ndarray) -> None:
        """Lay the path from joint positions `q`."""
        raise NotImplementedError

    def _place(self, motion: Any, s: float) -> np.ndarray | None:
        """Joint positions after the way s, or None where the arm cannot go."""
        raise NotImplementedError

    def advance(self, motion: Any, scale: float) -> None:
        before = None if motion.blended is self else motion.blended
        if not self._ready:
            if before is None and np.abs(motion.qd).max() > _AT_REST:  # a path begins at rest
                motion.brake()
                return
            self._plan(motion, motion.q if before is None else before.last)
            self._time, self._ready = 0.0, True
        slow = motion.slow_down()
        for _ in range(_TRIES):
            step = CYCLE * scale * slow
            q = self._place(motion, self.profile.at(self._time + step))
            if q is not None and before is not None:
                left = before.left(motion, step)
                q = None if left is None else q + left
            if q is None:
                motion.refuse("The path leads through a singularity or out of reach")
                return
            share = motion.joint_share(q)
            if share <= 1.0:
                break
            slow = motion.slow_down(0.9 * slow / share)  # no joint may be faster than it can
        motion.qd[:] = (q - motion.q) / CYCLE
        motion.q[:] = q
        if before is not None:
            before.go_on(motion, step)
        self.go_on(motion, step)
        if self._radius > 0.0 and not self.done and motion.blended is None:
            self._begin_blend(motion)

    def go_on(self, motion: Any, step: float) -> None:
        """So much of its time has passed, s."""
        self._time += step
        if self._time >= self.profile.duration and motion.blended in (None, self):
            self.done, motion.blended = True, None

    def left(self, motion: Any, step: float) -> np.ndarray | None:
        """(6,) joint positions less those at the end, `step` s from now."""
        q = self._place(motion, self.profile.at(self._time + step))
        return None if q is None else q - self.last

    def _begin_blend(self, motion: Any) -> None:
        """Let the program go on if the arm brakes and is near enough to the end."""
        if self._time < self.profile.duration - self.profile.ramp:
            return
        last = self._last(motion)
        if last is not None and motion.distance(last) <= self._radius:
            self.last = last
            self.done, motion.blended = True, self

    def _last(self, motion: Any) -> np.ndarray | None:
        """Joint positions at the end, if the arm is near enough to tell."""
        raise NotImplementedError


class MoveJ(Path):
    """Straight in joint space; acceleration and speed are the leading axis's."""

    def __init__(
        self, end: Sequence[float], a: float, v: float, duration: float, radius: float
    ) -> None:
        super().__init__(radius)
        self._end, self._a, self._v = np.array(end), a, v
        self._duration = duration

    def _plan(self, motion: Any, q: np.ndarray) -> None:
        self._begin = q.copy()
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

    def _last(self, motion: Any) -> np.ndarray:
        return self._end

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        return self._end


class MoveL(Path):
    """The TCP on a straight line."""

    def __init__(
        self, end: Sequence[float], a: float, v: float, duration: float, radius: float
    ) -> None:
        super().__init__(radius)
        self._end, self._a, self._v, self._duration = end, a, v, duration

    def _plan(self, motion: Any, q: np.ndarray) -> None:
        self._begin = motion.pose(q)
        self._q = q.copy()
        distance = math.dist(self._begin[LINEAR], self._end[LINEAR])
        turn = poses.rotation_vector(
            poses.multiply(
                poses.transposed(poses.rotation(*self._begin[ANGULAR])),
                poses.rotation(*self._end[ANGULAR]),
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

    def _last(self, motion: Any) -> np.ndarray | None:
        q = self._q.copy()
        return q if motion.follow(self._pose(1.0), q, steps=20) else None

    def end(self, motion: Any) -> Sequence[float] | np.ndarray:
        found = motion.joints_for(self._end)
        return motion.q if found is None else found


class MoveC(MoveL):
    """The TCP on the circle through where it is, a pose on the way, and the last one."""

    def __init__(
        self,
        via: Sequence[float],
        end: Sequence[float],
        a: float,
        v: float,
        radius: float,
        *,
        fixed: bool,
    ) -> None:
        super().__init__(end, a, v, 0.0, radius)
        self._via, self._fixed = via, fixed

    def _plan(self, motion: Any, q: np.ndarray) -> None:
        self._begin, self._q = motion.pose(q), q.copy()
        a, b, c = (np.array(x[LINEAR]) for x in (self._begin, self._via, self._end))
        normal = np.cross(b - a, c - a)
        area = float(normal @ normal)
        if area < 1e-12:  # on a line
            self._circle = 0.0
            super()._plan(motion, q)
            return
        ab, ac = b - a, c - a
        offset = (ab @ ab) * np.cross(ac, normal) - (ac @ ac) * np.cross(ab, normal)
        centre = a + offset / (2 * area)
        self._centre, self._x = centre, a - centre
        self._circle = float(np.linalg.norm(self._x))
        self._y = np.cross(normal / math.sqrt(area), self._x)
        end = c - centre
        self._angle = math.atan2(float(end @ self._y), float(end @ self._x)) % (2 * math.pi)
        self._set_profile(motion, self._circle * self._angle, 0.0)

    def _pose(self, fraction: float) -> poses.Pose6:
        if self._circle == 0.0:
            return super()._pose(fraction)
        angle = fraction * self._angle
        p = self._centre + math.cos(angle) * self._x + math.sin(angle) * self._y
        turn = self._begin if self._fixed else poses.interpolate(self._begin, self._end, fraction)
        return (*p.tolist(), *turn[ANGULAR])
