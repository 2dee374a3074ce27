"""How two frames lie to each other, by the last transforms heard, and how old these are.

Looking it up never waits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class _Hop(NamedTuple):
    parent: str
    X: np.ndarray  # child in parent
    time: float  # s on the monotonic clock; infinite: static


class Relation:
    """The pose of frame B in frame A.

    Attributes:
        X: (4, 4) by the last transforms; None while they do not join the two frames.
    """

    def __init__(self, a: str, b: str, max_age: float) -> None:
        """
        Args:
            a: name of A.
            b: name of B.
            max_age: s, that a transform which is not static may be old.
        """
        self.X: np.ndarray | None = None
        self.names = f"from {b} to {a}"
        self._a, self._b, self._max_age = a, b, max_age
        self._hops: dict[str, _Hop] = {}
        self._between: set[str] = set()  # frames on the way from A to B; none: no way is known
        self._oldest = math.inf

    def mentioned(self, data: bytes) -> bool:
        """Whether a message may change the pose: only then is it worth reading. While no way is
        known, every message may.
        """
        return not self._between or any(name.encode() + b"\0" in data for name in self._between)

    def wanted(self, child: str) -> bool:
        """Whether a transform that says where `child` is may change the pose."""
        return not self._between or child in self._between

    def put(self, parent: str, child: str, X: np.ndarray, now: float, *, static: bool) -> None:
        """A transform that was heard at `now`, s on the monotonic clock."""
        self._hops[child] = _Hop(parent, X, math.inf if static else now)
        self._look()

    def absent(self, now: float) -> str:
        """Why there is no pose, or none that is new enough, in words; "" if there is."""
        if self.X is None:
            return f"no transform {self.names} on /tf or /tf_static"
        age = now - self._oldest
        if not age <= self._max_age:
            return (
                f"the transform {self.names} is {age:.3f} s old, at most {self._max_age:g} s is "
                "allowed; its publisher has stopped"
            )
        return ""

    def _look(self) -> None:
        """Walk up from both frames to the first they share."""
        ways = [self._way(self._a), self._way(self._b)]
        shared = next((name for name in ways[1] if name in ways[0]), None)
        self.X, self._oldest, self._between = None, math.inf, set()
        if shared is None:
            return
        poses = []
        for way in ways:
            X = np.eye(4)
            for name in way[: way.index(shared)]:
                hop = self._hops[name]
                X, self._oldest = hop.X @ X, min(self._oldest, hop.time)
                self._between.add(name)
            poses.append(X)
        self.X = np.linalg.inv(poses[0]) @ poses[1]

    def _way(self, name: str) -> list[str]:
        """The frame and all above it; a ring ends where it closes."""
        way = [name]
        while (hop := self._hops.get(way[-1])) is not None and hop.parent not in way:
            way.append(hop.parent)
        return way
