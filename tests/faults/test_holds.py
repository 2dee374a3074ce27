"""A hold: how it ends by itself, and what it does not forget."""

from __future__ import annotations

import numpy as np
import pytest

from tests.faults.support import NAN, UP, Loop, moving, speed
from tests.support import (
    ZERO,
    arm,
    lengths,
)
from ur_admittance.kernel import bits


@pytest.mark.parametrize("cause", ["wrench_age", "joint_age", "dt", "NaN"])
def test_a_hold_ends_after_fifty_good_cycles_from_zero_speed(cause: str) -> None:
    loop = moving()
    if cause == "dt":
        loop.run(1, dt=0.03)
    elif cause == "NaN":
        loop.run(10, np.full(6, NAN))
    else:
        loop.run(10, **{cause: 0.02})
    assert loop.mode == "holding"
    loop.run(200, UP)
    after = loop.rows[-1]
    resumed = int(np.argmax(after["mode"] == bits.ACTIVE))
    still = int(np.argmax(speed(after) == 0))
    assert resumed > 0 and speed(after)[still : resumed + 1].max() == 0
    assert resumed - still in (50, 51)
    assert loop.mode == "active" and speed(after)[-1] > 0.02, "it goes on"
    loop.judge()


def test_a_fault_that_returns_during_the_wait_begins_the_wait_anew() -> None:
    loop = moving()
    loop.run(100, wrench_age=0.02)
    loop.run(40, ZERO)
    loop.run(1, wrench_age=0.02)
    loop.run(49)
    assert loop.mode == "holding"
    loop.run(3)
    assert loop.mode == "active"
    loop.judge()


def test_a_stretched_spring_does_not_snap_back_after_a_hold() -> None:
    config = {"admittance.stiffness": [300, 300, 300, 30, 30, 30]}
    loop = Loop(config)
    loop.run(600, UP)
    stretched = loop.history["X_WP"][-1, 2, 3] - loop.history["X_WP"][0, 2, 3]
    loop.run(60, wrench_age=0.02)
    loop.run(1500, ZERO)
    assert stretched > 0.05
    after = loop.rows[-1]
    resumed = int(np.argmax(after["mode"] == bits.ACTIVE))
    assert speed(after)[resumed] == 0
    assert after["engagement"][resumed] == 0 and (np.diff(after["engagement"][resumed:]) >= 0).all()
    home = loop.history["X_WP"][0, :3, 3]
    assert lengths(after["X_WP"][-1, :3, 3] - home) < 1e-3, "the spring remembers home"
    loop.judge()


def test_a_hand_may_move_the_arm_during_a_hold() -> None:
    """Row 46: it goes on from where it was left, at zero speed, the free axes anchored there."""
    loop = moving()
    loop.run(100, wrench_age=0.02)
    loop.q = loop.q + np.array([0.2, -0.1, 0.1, 0.3, -0.2, 0.4])
    loop.run(300, ZERO)
    after = loop.rows[-1]
    assert loop.mode == "active"
    assert speed(after).max() < 1e-9
    np.testing.assert_allclose(after["X_WC"][-1], arm().fk(loop.q), atol=1e-9)
