"""Singularities of wrist, elbow and shoulder: an arm is held back near them, and can leave."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.faults.support import HOME, Loop
from tests.support import ANGULAR, LINEAR, arm, names_in

WRIST, ELBOW = 4, 2
NEAR = 0.2  # rad, from where it is pushed


def shoulder() -> float:
    """The angle of the second joint at which the wrist is above the first, else at home; rad."""
    angles = np.linspace(-2.6, -1.6, 10_001)
    q = np.repeat([HOME], len(angles), axis=0)
    q[:, 1] = angles
    return float(angles[np.argmin([abs(np.linalg.det(arm().jacobian(each))) for each in q])])


def singular(which: str) -> tuple[np.ndarray, int]:
    """Joints, rad (6,), and the joint by which it is left."""
    q, joint = HOME.copy(), {"wrist": WRIST, "elbow": ELBOW, "shoulder": 1}[which]
    q[joint] = shoulder() if which == "shoulder" else 0.0
    assert abs(np.linalg.det(arm().jacobian(q))) < 1e-3
    return q, joint


@pytest.mark.parametrize("speed", [0.05, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("which", ["wrist", "elbow", "shoulder"])
def test_an_arm_is_pushed_into_a_singularity_and_out_again_inside_its_limits(
    which: str, speed: float
) -> None:
    """Row 31: at four speeds, by a hand that leads the tool as that joint alone would turn it."""
    there, joint = singular(which)
    side = np.sign(HOME[joint] - there[joint])
    q = there.copy()
    q[joint] += NEAR * side
    loop = Loop({"max_linear_velocity": speed, "max_angular_velocity": 4 * speed}, q)
    loop.run(3)
    damping = loop.controller.params["damping"][0]

    def pushed(way: float, over: Callable[[np.ndarray], bool]) -> None:
        """Until sigma, the distance from the singularity, has been as it should be."""

        def felt(_: int, q: np.ndarray) -> np.ndarray:
            V = way * arm().jacobian(q)[:, joint]
            V *= speed / max(np.linalg.norm(V[LINEAR]), np.linalg.norm(V[ANGULAR]) / 4)
            R_PW = arm().fk(q)[:3, :3].T
            return 2.0 * damping * np.r_[R_PW @ V[LINEAR], R_PW @ V[ANGULAR]]

        for _ in range(200):
            if over(loop.run(20, felt)["sigma"]):
                return
        raise AssertionError("it does not get there")

    pushed(-side, lambda sigma: sigma.min() < 2e-3)
    assert "singularity" in names_in(loop.rows[-1])
    pushed(side, lambda sigma: sigma[-1] > 0.03)
    assert loop.mode == "active"
    loop.judge()
