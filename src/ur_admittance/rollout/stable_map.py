"""Which surfaces a configuration can touch, how fast and how hard: a map from many touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.model import RobotModel
from ur_admittance.rollout.rollout import LaggedArm, Noise
from ur_admittance.rollout.touch import ALONE, DT, Touch, Touched, touch

STIFFNESSES = tuple(np.geomspace(1e3, 1e5, 9).tolist())  # N/m
SPEEDS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)  # m/s
PUSHES = (5.0, 10.0, 15.0, 20.0, 30.0)  # N
SPEED, PUSH = 0.03, 15.0  # what is kept while the other one varies
LAG, DELAY = 0.01, 0.004  # s, where the configuration does not know its arm


@dataclass(frozen=True)
class StableMap:
    """Touches on a grid, with and without contact damping."""

    by_speed: dict[bool, list[list[Touched]]]  # results[adapt][stiffness][speed]
    by_push: dict[bool, list[list[Touched]]]  # results[adapt][stiffness][push]
    lag: float  # of the arm, s
    delay: float  # s


def stable_map(config: Config, model: RobotModel, threads: int | None = None) -> StableMap:
    """The map of a configuration, at the arm's home, straight onto surfaces below it."""
    lag, delay = config.arm.lag or LAG, config.arm.delay or DELAY
    arm = LaggedArm(lag, delay / DT, config.arm.mode_frequency)
    noise = Noise(config.contact.force_noise, 0.005, 4e-6)
    free: dict[str, Any] = {
        **ALONE,
        "contact.monitor": False,
        "admittance.engage_seconds": 0.0,  # else the springs grow while the force is judged
        "arm.lag": lag,
    }

    def grid(adapt: bool, ways: list[tuple[float, float]]) -> list[list[Touched]]:
        chosen = config.replace({**free, "contact.adapt": adapt})
        touches = [
            Touch(K, v, F, tuple(model.home), arm=arm, noise=noise)
            for K in STIFFNESSES
            for v, F in ways
        ]
        flat = touch(model, chosen, touches, threads=threads)
        return [flat[k : k + len(ways)] for k in range(0, len(flat), len(ways))]

    speeds, pushes = [(v, PUSH) for v in SPEEDS], [(SPEED, F) for F in PUSHES]
    both = (False, True)
    by_speed = {adapt: grid(adapt, speeds) for adapt in both}
    return StableMap(by_speed, {adapt: grid(adapt, pushes) for adapt in both}, lag, delay)
