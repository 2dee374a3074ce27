"""What the tests of the law share: axes, frames, timings, and wrenches in the law's axes."""

from __future__ import annotations

import numpy as np

from tests.support import (
    turned,
)
from ur_admittance import Controller

PUSH = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])  # N, Nm; 1 m/s^2 and 1 rad/s^2


def along(axis: int, size: float = 1.0) -> np.ndarray:
    """PUSH on one axis alone."""
    wrench = np.zeros(6)
    wrench[axis] = size * PUSH[axis]
    return wrench


def in_law_axes(controller: Controller, frame: str, wrench):
    """A sensor that feels `wrench` (or `wrench(k)`), given in the axes of the law.

    For a desired pose that stands where the arm started, at home.
    """
    model = controller.model
    R_WL = model.fk(model.home)[:3, :3] if frame == "probe" else np.eye(3)

    def sensed(k: int, q: np.ndarray) -> np.ndarray:
        f = wrench(k) if callable(wrench) else wrench
        return turned(model.fk(q)[:3, :3].T @ R_WL, f)

    return sensed
