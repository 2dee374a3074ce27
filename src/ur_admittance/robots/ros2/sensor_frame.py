"""Where the sensor is, when only the transforms on the graph say so.

The sensor is fixed to the flange: its pose is taken over once, into the model, and what is heard
later is held against it. A transform that no longer arrives is good while it is fresh enough; one
that is older, or a sensor that has moved, is a reason to stop.
"""

from __future__ import annotations

import math

import numpy as np

from ur_admittance.motion.pace import apart
from ur_admittance.robots.ros2.relation import Relation

MAX_AGE = 0.1  # s, that a transform which is not static may be old
MOVED, TURNED = 1e-3, 5e-3  # m and rad, by which the sensor may be off its place on the flange


class SensorFrame(Relation):
    """The pose of the sensor frame S in the flange E, from the transforms heard so far."""

    def __init__(self, tip: str, sensor: str, max_age: float = MAX_AGE) -> None:
        """
        Args:
            tip: name of E.
            sensor: name of S.
            max_age: s.
        """
        super().__init__(tip, sensor, max_age)
        self._X_used: np.ndarray | None = None

    def fixed(self) -> np.ndarray | None:
        """X_ES (4, 4) for the model, the same at every call: the first there is; or None."""
        if self._X_used is None:
            self._X_used = self.X
        return self._X_used

    def problem(self, now: float, *, moving: bool = False) -> str:
        """Why the pose cannot be relied on now, in words; "" if it can.

        While the arm is moving, only static transforms are held against the pose in use: two others
        may be of different instants.
        """
        found = self.absent(now)
        if found or self.X is None or (moving and math.isfinite(self._oldest)):
            return found
        moved, turned = apart(self.X, self.X if self._X_used is None else self._X_used)
        if not (moved <= MOVED and turned <= TURNED):
            return (
                f"the transform {self.names} has changed by {1e3 * moved:.1f} mm and "
                f"{math.degrees(turned):.1f} degrees, at most {1e3 * MOVED:g} mm and "
                f"{math.degrees(TURNED):.1f} degrees is allowed: the sensor must be fixed to the "
                "flange; if it was mounted anew, start the node anew"
            )
        return ""
