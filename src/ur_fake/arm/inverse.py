"""Inverse kinematics by Newton's method, from the joint positions it should stay near."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_fake.arm import poses
from ur_fake.arm.arm import Kinematics
from ur_fake.arm.measure import approach_pose

_CLOSE = 1e-9  # m and rad: done
_ENOUGH = 1e-6  # m and rad: good enough after the last step
_STEPS, _RESTARTS = 40, 12
_LONGEST_STEP = 0.5  # rad


class Inverse:
    """Joint positions for poses, of one arm."""

    def __init__(self, model: RobotModel) -> None:
        self._kinematics = Kinematics(model)
        self._q_min, self._q_max = model.q_min, model.q_max
        self._scratch = np.zeros((6, 6)), np.zeros(6)
        ends = [float(np.linalg.norm(X[:3, 3])) for X in model.X_chain]
        self._reach = sum(ends)
        random = np.random.default_rng(0)
        self._elsewhere = random.uniform(-1.5, 1.5, (_RESTARTS, 6))

    def forward(self, q: Sequence[float] | np.ndarray, tcp: Sequence[float]) -> poses.Pose6:
        """The pose of `tcp` at `q`."""
        self._use(tcp)
        return self._kinematics.pose(q)

    def solve(
        self, pose: Sequence[float], near: Sequence[float] | np.ndarray, tcp: Sequence[float]
    ) -> poses.Pose6 | None:
        """Joint positions that bring `tcp` to `pose`, if there are any near `near` or elsewhere."""
        self._use(tcp)
        if math.hypot(*pose[LINEAR]) > self._reach + math.hypot(*tcp[LINEAR]):
            return None
        start = np.array(near, dtype=np.float64)
        p, R = np.array(pose[LINEAR]), np.array(poses.rotation(*pose[ANGULAR]))
        for offset in (None, *self._elsewhere):
            q = start.copy() if offset is None else start + offset
            if not self._approach(q, p, R, _STEPS) < _ENOUGH:
                continue
            if offset is not None:  # the turn nearest to where it should be
                q -= 2 * np.pi * np.round((q - start) / (2 * np.pi))
            if ((q >= self._q_min) & (q <= self._q_max)).all():
                return tuple(q.tolist())
        return None

    def follow(
        self, pose: Sequence[float], q: np.ndarray, tcp: Sequence[float], steps: int = 4
    ) -> bool:
        """Move `q` to where `tcp` is at `pose`, a little way off. False: a singularity."""
        self._use(tcp)
        p, R = np.array(pose[LINEAR]), np.array(poses.rotation(*pose[ANGULAR]))
        return self._approach(q, p, R, steps) < 1e-5

    def _use(self, tcp: Sequence[float]) -> None:
        if self._kinematics.tcp != tuple(tcp):
            self._kinematics.tcp = tcp

    def _approach(self, q: np.ndarray, p: np.ndarray, R: np.ndarray, steps: int) -> float:
        """Move `q` towards the pose; the error that is left, m or rad."""
        return approach_pose(
            *self._kinematics.records, q, p, R, steps, _CLOSE, _LONGEST_STEP, *self._scratch
        )
