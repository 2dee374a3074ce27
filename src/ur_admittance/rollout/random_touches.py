"""Random ways to touch things: what the promise of contact damping is about."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ur_admittance.rollout.rollout import LaggedArm, Noise
from ur_admittance.rollout.touch import DT, Touch

POSES = (
    (0.0, -1.57, 1.57, -1.57, -1.57, 0.0),
    (0.5, -1.2, 1.9, -2.2, -1.4, 0.3),
    (-0.8, -1.9, 2.2, -1.2, -1.2, 1.0),
    (1.2, -0.9, 1.2, -1.9, -1.57, -0.5),
    (0.0, -2.0, 1.4, -0.9, -1.8, 0.0),
    (-0.4, -1.4, 2.3, -2.5, -1.2, 0.8),
)
Range = tuple[float, float]


def random_touches(
    count: int,
    flexible: bool = False,
    seed: int | Sequence[int] = 0,
    *,
    stiffness: Range = (1e3, 1e5),
    push: Range = (10.0, 30.0),
    lag: Range = (0.005, 0.02),
    delay: Range = (0.002, 0.006),
    mode: Range = (10.0, 25.0),
) -> list[Touch]:
    """Any surface, speed (10 to 100 mm/s), push, pose, way, friction and arm.

    Args:
        count: how many; the first of more are the same.
        flexible: arms with a structural mode.
        seed: of all of it.
        stiffness: of the surface, N/m, evenly by its logarithm.
        push: of the hand, N.
        lag: of the arm, s.
        delay: of the arm, s.
        mode: first structural mode of a flexible arm, Hz.
    """
    rng = np.random.default_rng(seed)
    touches = []
    for number in range(count):
        surface = math.exp(rng.uniform(math.log(stiffness[0]), math.log(stiffness[1])))
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        late, delayed, swing = rng.uniform(*lag), rng.uniform(*delay), rng.uniform(*mode)
        touches.append(
            Touch(
                stiffness=surface,
                speed=rng.uniform(0.01, 0.1),
                push=rng.uniform(*push),
                q=POSES[rng.integers(len(POSES))],
                normal=(normal[0], normal[1], normal[2]),
                angle=math.radians(rng.uniform(0, 70)),
                azimuth=rng.uniform(0, math.tau),
                friction=rng.uniform(0, 0.3),
                damping=rng.uniform(0, 0.2) * math.sqrt(surface),
                arm=LaggedArm(late, delayed / DT, swing if flexible else 0.0),
                noise=Noise(rng.uniform(0.1, 0.3), 0.005, 4e-6, seed=number),
            )
        )
    return touches


def in_words(touch: Touch) -> str:
    """One line that names a case."""
    mode = f", mode {touch.arm.mode_frequency:.0f} Hz" if touch.arm.mode_frequency else ""
    return (
        f"{touch.stiffness / 1e3:.3g} kN/m, {touch.speed * 1e3:.0f} mm/s, {touch.push:.0f} N, "
        f"{math.degrees(touch.angle):.0f} deg, friction {touch.friction:.2f}, "
        f"{touch.arm.delay * DT * 1e3:.1f} + {touch.arm.time_constant * 1e3:.0f} ms{mode}"
    )
