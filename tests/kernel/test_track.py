"""Step 6: error, twist and lead: against SciPy and the formula; and `q_ref`, where positions go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.kernel.plain import Records, plain, records
from tests.support import ANGULAR, LINEAR, free_config

track, law = plain("track"), plain("law")
T = 0.002
seeds = st.integers(0, 2**31)


def wxyz_of(turn: Rotation) -> np.ndarray:
    return np.roll(turn.as_quat(), 1)


def rotation_of(wxyz: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(wxyz, -1))


@given(seeds)
def test_the_error_leads_from_the_measured_to_the_commanded_pose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records()
    shift, turn = rng.normal(size=3), Rotation.random(None, rng)
    r.s.p_WC[:] = r.s.p_WP + shift
    r.s.wxyz_WC[:] = rng.choice([-1, 1]) * wxyz_of(turn * rotation_of(r.s.wxyz_WP))
    track.pose_error(r.s)
    np.testing.assert_allclose(r.s.error[LINEAR], shift, atol=1e-12)
    np.testing.assert_allclose(r.s.error[ANGULAR], turn.as_rotvec(), atol=1e-9)


@given(seeds)
def test_the_twist_is_planner_rate_and_gain_times_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gain = rng.uniform(0, 10, 6)
    r = records(free_config(**{"tracking.velocity_gain": gain.tolist()}))
    r.s.V_WD[:], r.s.rate[:], r.s.error[:] = rng.normal(size=(3, 6)) * [[1], [1], [1e-3]]
    track.track(r.p, r.s)
    np.testing.assert_allclose(r.s.V_track, r.s.V_WD + r.s.rate + gain * r.s.error, atol=1e-12)


@given(st.floats(1e-4, 1), st.floats(0.5, 50))
def test_the_correction_is_never_too_fast_to_stop_at_its_target(distance, a) -> None:
    config = free_config(**{"tracking.velocity_gain": 50.0, "limits.max_linear_acceleration": a})
    r = records(config)
    r.s.error[0] = distance
    track.track(r.p, r.s)
    v = r.s.V_track[0]
    assert 0 < v <= 50 * distance * (1 + 1e-12)
    assert v * T + v * v / (2 * a) <= distance * (1 + 1e-9)


# --- the position reference ---


def reference(mode: str, rates: np.ndarray, arm_follows: float) -> tuple[np.ndarray, Records]:
    """q_ref for these joint rates, and an arm that makes so much of each step of it."""
    r = records(free_config(**{"output.mode": mode, "tracking.max_joint_lead": 0.1}))
    steps = []
    for qd in rates:
        before = r.s.q_ref.copy()
        r.s.qd[:] = qd
        track.reference(r.p, r.s)
        r.s.q[:] += arm_follows * (r.s.q_ref - before)
        steps.append(r.s.q_ref.copy())
    return np.array(steps), r


def ramp(r: Records, ticks: int, share: float = 0.3) -> np.ndarray:
    """Joint rates that rise as fast as they may to a share of the fastest, and stay there."""
    up = np.arange(1, ticks + 1)[:, None] * r.p.qdd_max * T
    return np.minimum(up, share * r.p.qd_max)


@pytest.mark.parametrize("mode", ["position", "trajectory"])
def test_an_arm_that_follows_gets_the_integral_of_the_rates(mode: str) -> None:
    rates = ramp(records(), 300)
    q_ref, _ = reference(mode, rates, 1.0)
    np.testing.assert_allclose(q_ref, records().s.q_ref + np.cumsum(rates, axis=0) * T, atol=1e-12)


@pytest.mark.parametrize("follows", [0.0, 0.3, 0.7])
def test_an_arm_that_stays_behind_is_led_by_so_much_and_the_reference_never_leaps(follows) -> None:
    """Up to the lead, there, and on again when the arm is let go: inside speed and acceleration."""
    r = records()
    rates = ramp(r, 600)
    q_ref, end = reference("position", rates, follows)
    steps = np.diff(q_ref, axis=0, prepend=[r.s.q_ref]) / T
    assert (np.abs(steps) <= r.p.qd_max * (1 + 1e-9)).all()
    changes = np.diff(steps, axis=0, prepend=np.zeros((1, 6))) / T
    assert (np.abs(changes) <= r.p.qdd_max * (1 + 1e-6)).all()
    assert (np.abs(end.s.q_ref - end.s.q) <= 0.1 + 1e-12).all()
    if follows == 0.0:
        assert (end.s.q_ref - end.s.q > 0.099).all()
    for _ in range(300):  # let go: the arm goes where it is told
        before, rate = end.s.q_ref.copy(), end.s.q_ref_rate.copy()
        end.s.q[:] = before
        track.reference(end.p, end.s)
        change = (end.s.q_ref - before) / T - rate
        assert (np.abs(change) <= r.p.qdd_max * T * (1 + 1e-6)).all()
    np.testing.assert_allclose((end.s.q_ref - before) / T, rates[-1], rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_joints_that_may_lead_only_so_far_slow_down_together(seed: int) -> None:
    """However the rates change, inside the accelerations: the tool keeps its way."""
    rng = np.random.default_rng(seed)
    r = records(free_config(**{"output.mode": "position", "tracking.max_joint_lead": 0.02}))
    slowed = 0
    for _ in range(20):
        goal = rng.uniform(-1.5, 1.5, 6)
        for _ in range(150):
            r.s.qd += np.clip(goal - r.s.qd, -0.5 * r.p.qdd_max * T, 0.5 * r.p.qdd_max * T)
            before = r.s.q_ref.copy()
            track.reference(r.p, r.s)
            rates = (r.s.q_ref - before) / T
            share = rates @ r.s.qd / (r.s.qd @ r.s.qd)
            np.testing.assert_allclose(rates, share * r.s.qd, atol=1e-9)
            assert 0 <= share <= 1 + 1e-9
            slowed += share < 0.9
            r.s.q[:] = before  # a tick behind
    assert slowed


def test_in_velocity_mode_the_reference_forgets_what_the_arm_did_not_do() -> None:
    r = records(free_config(**{"tracking.max_joint_lead": 0.1}))
    r.s.q_ref[:] = r.s.q + 0.08
    for k in range(1, 501):
        track.reference(r.p, r.s)
        np.testing.assert_allclose(r.s.q_ref - r.s.q, 0.08 * (1 - T) ** k, rtol=1e-9)
    assert math.isclose(0.08 * math.exp(-1), float(r.s.q_ref[0] - r.s.q[0]), rel_tol=2e-3)


@pytest.mark.parametrize(
    ("lead", "stops"), [(0.0, False), (5e-4, False), (0.02, False), (0.0995, True), (0.1, True)]
)
def test_an_arm_too_far_behind_for_too_long_does_not_follow(lead: float, stops: bool) -> None:
    config = {"output.mode": "position", "tracking.max_joint_lead": 0.1}
    r = records(free_config(**config, **{"safety.tracking_timeout": 0.1}))
    r.s.q_ref[5] = r.s.q[5] + lead
    said = [track.not_following(r.p, r.s) for _ in range(60)]
    assert any(said) == stops
    if stops:
        assert said.index(True) in (49, 50, 51) and all(said[51:])
    r.s.q_ref[:] = r.s.q
    assert not track.not_following(r.p, r.s) and r.s.lead_time == 0


@pytest.mark.parametrize(("part", "most"), [(LINEAR, 0.05), (ANGULAR, 0.2)])
def test_behind_is_also_what_the_tool_is_behind(part: slice, most: float) -> None:
    config = {"safety.max_tracking_error": 0.05, "safety.max_tracking_rotation": 0.2}
    r = records(free_config(**config, **{"safety.tracking_timeout": 0.1}))
    wide = np.zeros(6)
    wide[part.start + 1] = 1.0
    for share, late in ((0.9, False), (1.1, True)):
        r.s.q_ref[:] = r.s.q + np.linalg.solve(r.s.J, wide) * most * share
        assert any(track.not_following(r.p, r.s) for _ in range(60)) == late
