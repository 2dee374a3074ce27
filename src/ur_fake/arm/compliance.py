"""Force mode and freedrive: the arm gives way to what the sensor feels.

    V = gain * (wrench + F),   along the selected axes of the task frame, each within its limit

F is what the world does to the tool; a robot that pushes with `wrench` feels -wrench back. The
maker says what damping and gain scaling do, not how: this is our model of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.arm import poses
from ur_fake.arm.arm import CYCLE

_GAIN = np.array([0.002] * 3 + [0.02] * 3)  # m/s for each N, rad/s for each N m
_LAG = 0.02  # s, at no damping
_FREE = np.array([0.004] * 3 + [0.08] * 3)  # m/s for each N, rad/s for each N m, in freedrive
_FELT = np.array([2.0] * 3 + [0.3] * 3)  # N, N m: less is not felt in freedrive


class Compliance:
    """Force mode. `damping` 0 to 1, `gain` 0 to 2: as a script sets them."""

    def __init__(self) -> None:
        self.active = False
        self.damping, self.gain = 0.005, 1.0
        self._R = np.eye(3)
        self._selected = np.zeros(6, dtype=bool)
        self._wrench, self._limits = np.zeros(6), np.zeros(6)
        self._V = np.zeros(6)  # task axes

    def start(
        self,
        frame: Sequence[float],
        selected: Sequence[bool],
        wrench: Sequence[float],
        limits: Sequence[float],
    ) -> None:
        self._R[:] = np.reshape(poses.rotation(*frame[ANGULAR]), (3, 3))
        self._selected[:], self._wrench[:] = selected, wrench
        self._limits[:] = np.abs(limits)
        self.active = True

    def end(self) -> None:
        self.active = False
        self._V[:] = 0.0

    def twist(self, felt: np.ndarray) -> np.ndarray:
        """V_WP that this cycle adds, for the wrench felt at the TCP, all in base axes."""
        R = self._R
        F = np.concatenate((felt[LINEAR] @ R, felt[ANGULAR] @ R))
        wanted = self.gain * _GAIN * (self._wrench + F)
        wanted = np.where(self._selected, np.clip(wanted, -self._limits, self._limits), 0.0)
        lag = _LAG * (1.0 + 20.0 * self.damping)
        self._V += (wanted - self._V) * (CYCLE / (CYCLE + lag))
        return np.concatenate((R @ self._V[LINEAR], R @ self._V[ANGULAR]))


def led(felt: np.ndarray) -> np.ndarray:
    """V_WP of an arm in freedrive that a hand pushes with `felt`, in base axes."""
    beyond = felt - np.clip(felt, -_FELT, _FELT)
    return np.clip(_FREE * beyond, -0.5, 0.5)
