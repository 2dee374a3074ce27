"""Anti-windup: the commanded pose stays near the arm, and the law gives up what limits took."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.kernel.plain import Records, plain, records
from tests.support import free_config
from ur_admittance.kernel import bits

law, windup = plain("law"), plain("windup")
seeds = st.integers(0, 2**31)


def wxyz_of(turn: Rotation) -> np.ndarray:
    return np.roll(turn.as_quat(), 1)


def rotation_of(wxyz: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(wxyz, -1))


def led(seed: int, frame: str, enabled: list[bool]) -> tuple[Records, Rotation]:
    """C ahead of the arm by a random pose, and everything that makes it C."""
    rng = np.random.default_rng(seed)
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.enabled_axes": enabled,
            "safety.max_tracking_error": 0.05,
            "safety.max_tracking_rotation": 0.2,
        }
    )
    r = records(config)
    lead = Rotation.from_rotvec(rng.normal(size=3) * 0.3)
    offset = Rotation.from_rotvec(rng.normal(size=3) * (0.5 if any(enabled[3:]) else 0.0))
    r.s.x[:] = rng.normal(size=3) * 0.1 * np.array(enabled[:3])
    r.s.wxyz_offset[:] = wxyz_of(offset)
    wxyz_WC = lead * rotation_of(r.s.wxyz_WP)
    R_WD = wxyz_WC * offset.inv() if frame == "probe" else offset.inv() * wxyz_WC
    r.s.wxyz_WD[:] = wxyz_of(R_WD)
    shift = R_WD.apply(r.s.x) if frame == "probe" else r.s.x
    r.s.p_WD[:] = r.s.p_WP + rng.normal(size=3) * 0.05 - shift
    law.command_pose(r.p, r.s)
    return r, lead


@pytest.mark.parametrize("frame", ["probe", "base"])
@pytest.mark.parametrize(
    "enabled", [[True] * 6, [False] * 6, [True] * 3 + [False] * 3], ids=["all", "none", "linear"]
)
@settings(max_examples=30)
@given(seeds)
def test_on_the_leash_the_commanded_pose_is_within_reach_and_still_that_of_d_and_offset(
    frame, enabled, seed
) -> None:
    r, lead = led(seed, frame, enabled)
    before = r.s.p_WC - r.s.p_WP
    windup.leash(r.p, r.s)
    after = r.s.p_WC - r.s.p_WP
    far = np.linalg.norm(before)
    np.testing.assert_allclose(after, before * min(1, 0.05 / far), atol=1e-12)
    turned = rotation_of(r.s.wxyz_WC) * rotation_of(r.s.wxyz_WP).inv()
    size = lead.magnitude()
    np.testing.assert_allclose(turned.as_rotvec(), lead.as_rotvec() * min(1, 0.2 / size), atol=1e-9)
    assert bool(r.s.status & bits.LEAD_LIMIT) == (far > 0.05 or size > 0.2)
    p_WC, wxyz_WC = r.s.p_WC.copy(), rotation_of(r.s.wxyz_WC)
    if not any(enabled[3:]) or all(enabled):
        law.command_pose(r.p, r.s)
        np.testing.assert_allclose(r.s.p_WC, p_WC, atol=1e-9)
        assert (rotation_of(r.s.wxyz_WC) * wxyz_WC.inv()).magnitude() < 1e-8
    assert not (r.s.x * (1 - np.array(enabled[:3]))).any(), "a disabled axis has no offset"


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_what_is_given_up_is_at_most_all_there_is_and_never_turns_round(value, excess) -> None:
    left = windup.shortened(value, excess)
    assert abs(left) <= abs(value) and left * value >= 0.0
    if not (min(value, excess) > 0.0 or max(value, excess) < 0.0):
        assert left == value
    elif abs(excess) < abs(value):
        assert left == pytest.approx(value - excess)
