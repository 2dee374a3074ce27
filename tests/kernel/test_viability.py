"""Always able to stop in time: the way of a braking arm, against numbers and its real motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.plain import Records, plain, records
from tests.support import ANGULAR, LINEAR, arm, free_config, lengths

viability = plain("viability")
T, V, W = 0.002, 0.25, 0.5
CONFIG = free_config(
    **{
        "max_linear_velocity": V,
        "max_angular_velocity": W,
        "limits.max_linear_acceleration": 2.5,
        "limits.max_angular_acceleration": 5.0,
    }
)
seeds = st.integers(0, 2**31)
numbers = st.floats(-3, 3)
sizes = st.floats(0, 3)


def moving(seed: int, speed: float = 0.8) -> Records:
    """An arm anywhere, its joints at any rates up to a share of their fastest."""
    rng = np.random.default_rng(seed)
    r = records(CONFIG, q=rng.uniform(-3, 3, 6))
    r.s.qd_prev[:] = r.s.qd[:] = rng.uniform(-speed, speed, 6) * rng.choice([0.1, 0.3, 1.0])
    viability.real_motion(r.s)
    r.s.V_prev[:] = r.s.V_cmd
    return r


@given(seeds)
def test_the_real_motion_is_the_jacobian_times_the_rates(seed: int) -> None:
    r = moving(seed)
    np.testing.assert_allclose(r.s.V_cmd, r.s.J @ r.s.qd, atol=1e-13)


@settings(max_examples=50)
@given(seeds)
def test_the_bias_acceleration_is_the_derivative_of_the_motion_at_constant_rates(seed) -> None:
    r, h = moving(seed), 1e-6
    ahead, behind = (arm().jacobian(r.s.q + k * h * r.s.qd) @ r.s.qd for k in (1, -1))
    c, cw = viability.bias_acceleration(r.s, r.s.qd)
    np.testing.assert_allclose([*c, *cw], (ahead - behind) / (2 * h), rtol=0, atol=1e-7)


@given(seeds)
def test_the_joints_stop_together_in_the_time_of_the_slowest(seed: int) -> None:
    r = moving(seed)
    time = viability.stopping_time(r.p, r.s.qd)
    assert time == pytest.approx((np.abs(r.s.qd) / r.p.qdd_max).max())
    v, w = r.s.V_cmd[LINEAR], r.s.V_cmd[ANGULAR]
    gently = viability.gentle_stopping_time(r.p, r.s.qd, tuple(v), tuple(w))
    slowest = max(time, np.linalg.norm(v) / (0.7 * 2.5), np.linalg.norm(w) / (0.7 * 5.0))
    assert gently == pytest.approx(slowest)


@given(numbers, numbers, sizes, st.floats(0, 2))
def test_the_farthest_is_what_no_moment_exceeds_and_without_third_some_moment_reaches(
    v, c, b, tau
) -> None:
    t = np.linspace(0, tau, 400)
    way = v * t + c * t**2 / 2 + b * t**3 / 6
    assert way.max() <= viability.farthest(v, c, b, tau) + 1e-12
    exactly = (v * t + c * t**2 / 2).max()
    found = viability.farthest(v, c, 0.0, tau)
    assert found == pytest.approx(exactly, abs=2e-4) or (c < 0 and v <= 0 and found == 0)


@given(sizes, sizes, sizes, st.just(0.0) | st.floats(1e-3, 2), st.floats(0.01, 3))
def test_what_is_said_to_stay_slow_does(v, c, b, time, cap) -> None:
    t = np.linspace(0, time, 400)
    fastest = (v + c * t + b * t**2 / 2) * (1 - t / time if time else 1.0)
    if viability.stays_slow(v, c, b, time, cap):
        assert fastest.max() <= cap * (1 + 1e-5)
    if v > cap * (1 + 1e-5) + 1e-9:
        assert not viability.stays_slow(v, c, b, time, cap)


@settings(max_examples=60)
@given(seeds, st.floats(0.005, 0.2))
def test_an_arm_that_can_stop_stops_inside_walls_range_and_speed(seed: int, gap: float) -> None:
    """It runs on for `hold`, then all joints brake together, in steps far finer than a tick."""
    r = moving(seed, 0.5)
    p_WP = r.s.p_WP.copy()
    r.p.workspace_min[:], r.p.workspace_max[:], r.s.near_wall = p_WP - gap, p_WP + gap, 1
    if not viability.can_stop(r.p, r.s, False):
        return
    qd, time = r.s.qd.copy(), viability.stopping_time(r.p, r.s.qd)
    tau = np.linspace(0, time, 60)
    on_the_line = r.s.hold + tau - (tau**2 / (2 * time) if time else 0.0)
    q = r.s.q + on_the_line[:, None] * qd
    rates = qd * (1 - tau / time if time else np.ones(60))[:, None]
    p = np.array([arm().fk(joints)[:3, 3] for joints in q])
    assert (np.abs(p - p_WP) <= gap + 6e-5).all()
    assert (q <= r.p.q_max + 1e-9).all() and (q >= r.p.q_min - 1e-9).all()
    motion = np.array([arm().jacobian(j) @ d for j, d in zip(q, rates, strict=True)])
    slack = r.s.hold * np.abs(qd).sum() ** 2  # the speed of the run-on is judged at its start
    assert lengths(motion[:, LINEAR]).max() <= V + slack * r.p.reach
    assert lengths(motion[:, ANGULAR]).max() <= W + slack


@settings(max_examples=60)
@given(seeds)
def test_slowing_together_stays_on_the_line_and_inside_every_joints_acceleration(seed) -> None:
    r = moving(seed)
    before = r.s.qd_prev.copy()
    viability.slow_together(r.p, r.s)
    change = before - r.s.qd
    assert (np.abs(change) <= r.p.qdd_max * T * (1 + 1e-12)).all()
    time = viability.stopping_time(r.p, before)
    np.testing.assert_allclose(r.s.qd, before * max(0.0, 1 - T / time), atol=1e-15)
    if time > T:
        assert np.isclose(np.abs(change) / (r.p.qdd_max * T), 1).any(), "one brakes hard"


@settings(max_examples=60)
@given(seeds)
def test_slowing_gently_keeps_the_tools_acceleration(seed: int) -> None:
    r = moving(seed)
    r.s.low[:], r.s.high[:] = -r.p.qd_max, r.p.qd_max
    before = r.s.V_prev.copy()
    viability.slow_gently(r.p, r.s)
    change = r.s.V_cmd - before
    assert np.linalg.norm(change[LINEAR]) <= 2.5 * T * (1 + 1e-9)
    assert np.linalg.norm(change[ANGULAR]) <= 5.0 * T * (1 + 1e-9)
    assert (np.abs(r.s.qd) <= np.abs(r.s.qd_prev) + 1e-15).all()
    wrong = viability.too_hard(r.p, r.s, tuple(r.s.V_cmd[LINEAR]), tuple(r.s.V_cmd[ANGULAR]))
    assert not wrong


@given(st.floats(0, 2), st.sampled_from([(0, 2.5), (3, 5.0)]))
def test_too_hard_is_beyond_either_acceleration_limit(share: float, kind) -> None:
    first, most = kind
    r = moving(1)
    now = r.s.V_prev.copy()
    now[first] += share * most * T
    hard = viability.too_hard(r.p, r.s, tuple(now[LINEAR]), tuple(now[ANGULAR]))
    if abs(share - 1) > 1e-5:
        assert hard == (share > 1)


@settings(max_examples=40)
@given(seeds)
def test_an_arm_that_must_be_held_back_is_and_can_stop_then(seed: int) -> None:
    r = moving(seed, 0.3)
    r.p.workspace_min[:], r.p.workspace_max[:] = r.s.p_WP - 0.05, r.s.p_WP + 0.05
    r.s.near_wall = 1
    r.s.sigma = plain("jacobian").invert_jacobian(r.s)
    r.s.low[:] = r.s.qd_prev - r.p.qdd_max * T
    r.s.high[:] = r.s.qd_prev + r.p.qdd_max * T
    could = viability.can_stop(r.p, r.s, True)
    wish = r.s.qd.copy()
    held = viability.keep_able_to_stop(r.p, r.s)
    if could:
        assert not held and (r.s.qd == wish).all(), "nobody is held back without need"
    np.testing.assert_allclose(r.s.V_cmd, r.s.J @ r.s.qd, atol=1e-9)
    assert (r.s.qd >= r.s.low - 1e-12).all() and (r.s.qd <= r.s.high + 1e-12).all()
