"""Where the sensor is, when only the transforms on the graph say so: the last ones, and their age.

Looking it up never waits. The sensor is fixed to the flange: its pose is taken over once, into the
model, and what is heard later is held against it. A transform that no longer arrives is good while
it is fresh enough; one that is older, or a sensor that has moved, is a reason to stop.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

MAX_AGE = 0.1  # s, that a transform which is not static may be old
MOVED, TURNED = 1e-3, 5e-3  # m and rad, by which the sensor may be off its place on the flange


class _Hop(NamedTuple):
    parent: str
    X: np.ndarray  # child in parent
    time: float  # s on the monotonic clock; infinite: static


class SensorFrame:
    """The pose of the sensor frame S in the flange E, from the transforms heard so far.

    Attributes:
        X_ES: (4, 4) by the last transforms; None while they do not join the two frames.
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
        self._between: set[str] = set()  # frames on the way from E to S; none: no way is known
        self._oldest = math.inf
        self._X_used: np.ndarray | None = None

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

    def fixed(self) -> np.ndarray | None:
        """X_ES (4, 4) for the model, the same at every call: the first there is; or None."""
        if self._X_used is None:
            self._X_used = self.X_ES
        return self._X_used

    def problem(self, now: float, *, moving: bool = False) -> str:
        """Why the pose cannot be relied on now, in words; "" if it can.

        While the arm is moving, only static transforms are held against the pose in use: two others
        may be of different instants.
        """
        names = f"from {self._sensor} to {self._tip}"
        if self.X_ES is None:
            return f"no transform {names} on /tf or /tf_static"
        age = now - self._oldest
        if not age <= self._max_age:
            return (
                f"the transform {names} is {age:.3f} s old, at most {self._max_age:g} s is "
                "allowed; its publisher has stopped"
            )
        if moving and math.isfinite(self._oldest):
            return ""
        moved, turned = _apart(self.X_ES, self.X_ES if self._X_used is None else self._X_used)
        if not (moved <= MOVED and turned <= TURNED):
            return (
                f"the transform {names} has changed by {1e3 * moved:.1f} mm and "
                f"{math.degrees(turned):.1f} degrees, at most {1e3 * MOVED:g} mm and "
                f"{math.degrees(TURNED):.1f} degrees is allowed: the sensor must be fixed to the "
                "flange; if it was mounted anew, start the node anew"
            )
        return ""

    def _look(self) -> None:
        """Walk up from both frames to the first they share."""
        ways = [self._way(self._tip), self._way(self._sensor)]
        shared = next((name for name in ways[1] if name in ways[0]), None)
        self.X_ES, self._oldest, self._between = None, math.inf, set()
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
        self.X_ES = np.linalg.inv(poses[0]) @ poses[1]

    def _way(self, name: str) -> list[str]:
        """The frame and all above it; a ring ends where it closes."""
        way = [name]
        while (hop := self._hops.get(way[-1])) is not None and hop.parent not in way:
            way.append(hop.parent)
        return way


def _apart(X: np.ndarray, Y: np.ndarray) -> tuple[float, float]:
    """How far two poses are apart: m, rad."""
    cosine = 0.5 * (float(np.trace(X[:3, :3].T @ Y[:3, :3])) - 1.0)
    return float(np.linalg.norm(X[:3, 3] - Y[:3, 3])), math.acos(max(-1.0, min(1.0, cosine)))
