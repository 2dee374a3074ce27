"""Contact damping with the simulated arm (MuJoCo): late, lagging and noisy."""

from __future__ import annotations

import pytest
from benchmarks.contact_mujoco import press, straight


@pytest.mark.parametrize("stiffness", [20e3, 100e3])
def test_a_light_arm_leans_on_a_stiff_table_without_chatter(stiffness: float) -> None:
    pressed = press(straight(stiffness), adapt=True)
    assert pressed.ripple < 0.5  # 0.2 of it is the sensor's noise
    assert pressed.least > 10
    assert pressed.mean == pytest.approx(15, abs=3.5)


def test_the_same_arm_with_fixed_gains_bounces_on_it() -> None:
    assert press(straight(100e3), adapt=False).ripple > 20
