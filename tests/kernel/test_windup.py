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


def limited(seed: int, frame: str, status: int) -> Records:
    """An arm whose law wants to go somewhere, and whose status says what holds it back."""
    rng = np.random.default_rng(seed)
    r = records(free_config(**{"admittance.frame": frame}), status=status)
    r.s.wxyz_WD[:] = wxyz_of(Rotation.random(None, rng))
    r.s.v[:] = rng.normal(size=6)
    r.s.dx[:] = r.s.v * r.s.dt
    r.s.at_goal = 1
    r.s.V_track[:] = in_world(r, frame, r.s.v)
    return r


def in_world(r: Records, frame: str, v: np.ndarray) -> np.ndarray:
    """A twist in the law's axes, in those of W."""
    turn = rotation_of(r.s.wxyz_WD) if frame == "probe" else Rotation.identity()
    return np.concatenate([turn.apply(v[:3]), turn.apply(v[3:])])


frames = pytest.mark.parametrize("frame", ["probe", "base"])


@frames
@settings(max_examples=30)
@given(seeds, st.floats(0.0, 1.0))
def test_an_arm_that_makes_a_share_of_the_motion_leaves_the_law_that_share(
    frame, seed, share
) -> None:
    r = limited(seed, frame, bits.SPEED_LIMIT)
    wished = r.s.v.copy()
    windup.hold_back(r.p, r.s, share * r.s.V_track)
    np.testing.assert_allclose(r.s.v, share * wished, atol=1e-12)
    np.testing.assert_allclose(r.s.dx, share * wished * r.s.dt, atol=1e-15)


@frames
@settings(max_examples=50)
@given(seeds)
def test_whatever_the_limits_made_of_it_no_axis_of_the_law_speeds_up_or_turns_round(
    frame, seed
) -> None:
    r = limited(seed, frame, bits.ACCELERATION_LIMIT)
    before, V_follow = r.s.v.copy(), np.random.default_rng(seed + 1).normal(size=6)
    windup.hold_back(r.p, r.s, V_follow)
    assert (np.abs(r.s.v) <= np.abs(before)).all()
    assert (r.s.v * before >= 0.0).all()


def test_an_axis_that_is_switched_off_is_left_alone() -> None:
    r = limited(1, "base", bits.SPEED_LIMIT)
    r.p.enabled[1] = 0
    before = r.s.v[1]
    windup.hold_back(r.p, r.s, np.zeros(6))
    assert r.s.v[1] == before and not r.s.v[[0, 2, 3, 4, 5]].any()


@pytest.mark.parametrize("spring", [0.0, 100.0])
def test_where_the_arm_is_pushed_back_only_axes_without_a_spring_step_back_with_it(spring) -> None:
    r = limited(2, "base", bits.SPEED_LIMIT)
    r.s.stiffness[:] = spring
    back, dt = -0.5 * r.s.V_track, r.s.dt
    windup.hold_back(r.p, r.s, back)
    assert not r.s.v.any()
    np.testing.assert_allclose(r.s.dx, 0.0 if spring else back * dt, atol=1e-15)


def test_a_limited_jerk_keeps_the_lead_that_builds_the_acceleration_up() -> None:
    r = limited(3, "base", bits.JERK_LIMIT)
    r.p.a_max, r.p.jerk_max = 2.0, 50.0
    lead = 2.0 * (r.s.dt + 2.0 / 50.0 / 2.0)  # a (T + a / (2 j))
    r.s.v[:3] = r.s.V_track[:3] = 0.5 * lead, -3.0 * lead, 0.0
    windup.hold_back(r.p, r.s, np.zeros(6))
    np.testing.assert_allclose(r.s.v[:3], [0.5 * lead, -lead, 0.0], atol=1e-12)


def test_the_lead_over_the_lag_of_the_arm_is_not_the_laws_to_give_up() -> None:
    r = limited(4, "base", bits.SPEED_LIMIT)
    wished = r.s.v.copy()
    r.s.lead[:] = 0.2 * wished[:3]
    r.s.V_track[:3] += r.s.lead
    windup.hold_back(r.p, r.s, r.s.V_track - np.r_[r.s.lead, 0, 0, 0])  # the limits took the lead
    np.testing.assert_allclose(r.s.v, wished, atol=1e-12)


@pytest.mark.parametrize(
    ("status", "left"),
    [(bits.WORKSPACE_LIMIT, 0.03), (bits.ACCELERATION_LIMIT, 0.05), (0, 0.05)],
    ids=["a wall lasts", "an acceleration ends by itself", "nothing limits"],
)
def test_an_axis_that_presses_gives_up_its_integrals_to_a_limit_that_lasts(status, left) -> None:
    r = records(status=status)
    r.p.force_axes[:] = 0, 0, 1, 0, 0, 0
    r.s.force_v[:], r.s.v[:] = 0.06, 0.04  # m/s: wished, and what the limits left of it
    r.s.force_I1[:], r.s.force_I2[:] = 0.05, 0.7
    windup.hold_back_force(r.p, r.s)
    assert r.s.force_I1[2] == pytest.approx(left)
    assert r.s.force_I2[2] == (0.0 if left < 0.05 else 0.7)
    others = [0, 1, 3, 4, 5]
    assert (r.s.force_I1[others] == 0.05).all() and (r.s.force_I2[others] == 0.7).all()
