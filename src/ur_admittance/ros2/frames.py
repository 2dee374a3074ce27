"""Where the sensor is, when only the transforms on the graph say so: the last ones, and their age.

Looking it up never waits. A transform that no longer arrives is used while it is fresh enough; what
is older is a reason to stop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MAX_AGE = 0.1  # s, that a transform which is not static may be old


class _Hop(NamedTuple):
    parent: str
    X: np.ndarray  # child in parent
    time: float  # s on the monotonic clock; infinite: static


class SensorFrame:
    """The pose of the sensor frame S in the flange E, from the transforms heard so far.

    Attributes:
        X_ES: (4, 4) as last known; None while there is none.
    """

    def __init__(self, tip: str, sensor: str, max_age: float = MAX_AGE) -> None:
        """
        Args:
            tip: name of E.
            sensor: name of S.
            max_age: s.
        """
        self.X_ES: np.ndarray | None = None
        self._tip, self._sensor, self._max_age = tip, sensor, max_age
        self._hops: dict[str, _Hop] = {}
        self._wanted = {sensor, tip}
        self._oldest = np.inf

    def mentioned(self, data: bytes) -> bool:
        """Whether a message names a frame that may matter: only then is it worth reading."""
        return any(name.encode() in data for name in self._wanted)

    def put(self, parent: str, child: str, X: np.ndarray, now: float, *, static: bool) -> None:
        """A transform that was heard at `now`, s on the monotonic clock."""
        self._hops[child] = _Hop(parent, X, np.inf if static else now)
        self._look()

    def problem(self, now: float) -> str:
        """Why the pose cannot be relied on now, in words; "" if it can."""
        if self.X_ES is None:
            return f"no transform from {self._sensor} to {self._tip} on /tf or /tf_static yet"
        age = now - self._oldest
        if age > self._max_age:
            return (
                f"the transform from {self._sensor} to {self._tip} is {age:.3f} s old, at most "
                f"{self._max_age:g} s is allowed; its publisher has stopped"
            )
        return ""

    def _look(self) -> None:
        """Walk up from both frames to the first they share."""
        ways = [self._way(self._tip), self._way(self._sensor)]
        shared = next((name for name in ways[1] if name in ways[0]), None)
        if shared is None:
            self._wanted = {*ways[0], *ways[1]}
            return
        oldest, poses = np.inf, []
        self._wanted = set()
        for way in ways:
            X = np.eye(4)
            for name in way[: way.index(shared)]:
                hop = self._hops[name]
                X, oldest = hop.X @ X, min(oldest, hop.time)
                self._wanted.add(name)
            poses.append(X)
        self.X_ES, self._oldest = np.linalg.inv(poses[0]) @ poses[1], oldest

    def _way(self, name: str) -> list[str]:
        """The frame and all above it; a ring ends where it closes."""
        way = [name]
        while (hop := self._hops.get(way[-1])) is not None and hop.parent not in way:
            way.append(hop.parent)
        return way


def at(X_AB: np.ndarray, F_B: np.ndarray) -> np.ndarray:
    """A wrench (6,) given in frame B, in frame A: f_A = R f_B, tau_A = R tau_B + p x f_A."""
    R, p = X_AB[:3, :3], X_AB[:3, 3]
    force = R @ F_B[:3]
    return np.concatenate([force, R @ F_B[3:] + np.cross(p, force)])
