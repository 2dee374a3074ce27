"""Step 8: joint rates: NumPy's where nothing bounds them, DAQP's where the joints do."""

from __future__ import annotations

import daqp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.plain import Records, plain, records
from tests.support import LINEAR, arm, free_config
from ur_admittance.kernel import bits

ik, limiter = plain("ik"), plain("limiter")
T = 0.002
seeds = st.integers(0, 2**31)
WIDE = free_config(
    **{"limits.max_linear_acceleration": 50.0, "limits.max_angular_acceleration": 100.0}
)
JOINT_BITS = bits.JOINT_POSITION_LIMIT | bits.JOINT_VELOCITY_LIMIT | bits.JOINT_ACCELERATION_LIMIT


def bent(rng: np.random.Generator) -> np.ndarray:
    """Joints away from the ends of their range and from every singularity."""
    q = rng.uniform(-2, 2, 6)
    q[[2, 4]] = rng.choice([-1, 1], 2) * rng.uniform(0.7, 2.0, 2)
    return q


def wished(r: Records, V: np.ndarray) -> bool:
    """Through the limiter, as in a tick, and then to the joints."""
    r.s.V_track[:] = V
    limiter.limit(r.p, r.s, False)
    return ik.inverse_kinematics(r.p, r.s)


@settings(max_examples=60)
@given(seeds)
def test_without_bounds_in_the_way_the_rates_are_those_of_the_inverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records(WIDE, q=bent(rng))
    qd = rng.uniform(-1, 1, 6) * r.p.qdd_max * T * 0.9
    V = r.s.J @ qd
    assert wished(r, V)
    if np.linalg.svd(r.s.J, compute_uv=False)[-1] > 2.5 * r.p.singularity_threshold:
        np.testing.assert_allclose(r.s.qd, np.linalg.solve(r.s.J, V), rtol=0, atol=1e-10)
        np.testing.assert_allclose(r.s.V_cmd, V, rtol=0, atol=1e-12)
        assert not r.s.status & (JOINT_BITS | bits.SINGULARITY)


def test_a_wish_faster_than_this_tick_allows_is_not_taken_for_one_inside_the_limits() -> None:
    """As when the speed limit has just fallen: `V_lim` is no end of a way that keeps it."""
    r = records(WIDE, q=bent(np.random.default_rng(0)))
    r.s.V_prev[:] = r.s.V_lim[:] = [0.2, 0.0, 0.0, 0.0, 0.0, 0.0]
    r.s.J_inverse[:] = np.linalg.inv(r.s.J)
    r.s.start[:] = r.s.J_inverse @ r.s.V_lim
    r.s.low[:], r.s.high[:] = -10.0, 10.0
    assert ik.share_of_wish(r.p, r.s) == 1.0
    r.s.v_cap = 0.1
    assert ik.share_of_wish(r.p, r.s) == 0.0


@settings(max_examples=60)
@given(seeds)
def test_where_joints_are_the_bound_the_rates_are_the_least_squares_of_daqp(seed: int) -> None:
    """The tool's own limits are far away, so nothing is brought back inside them."""
    rng = np.random.default_rng(seed)
    r = records(WIDE, q=bent(rng))
    r.p.a_max = r.p.alpha_max = r.p.v_max = r.p.w_max = 1e6
    r.s.v_cap = r.s.w_cap = 1e6
    V = r.s.J @ (rng.normal(size=6) * 3 * r.p.qdd_max * T)
    assert wished(r, V)
    if r.s.sigma < r.p.singularity_threshold:
        return
    H, g = r.s.J.T @ r.s.J, -r.s.J.T @ V
    nothing, sense = np.zeros((0, 6)), np.zeros(6, dtype=np.int32)
    low, high = r.s.low.copy(), r.s.high.copy()
    theirs, _, flag, _ = daqp.solve(H, g, nothing, high, low, sense)
    assert flag == 1
    np.testing.assert_allclose(r.s.qd, theirs, rtol=0, atol=1e-7)


@settings(max_examples=80)
@given(seeds)
def test_whatever_is_wished_the_rates_are_inside_their_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records(q=rng.uniform(-3, 3, 6))
    r.s.qd_prev[:] = rng.uniform(-0.2, 0.2, 6)
    r.s.V_prev[:] = r.s.V_mem[:] = r.s.J @ r.s.qd_prev
    assert wished(r, 10.0 ** rng.uniform(-3, 2) * rng.normal(size=6))
    assert (np.abs(r.s.qd - r.s.qd_prev) <= r.p.qdd_max * T * (1 + 1e-9)).all()
    assert (np.abs(r.s.qd) <= r.p.qd_max).all()
    np.testing.assert_allclose(r.s.V_cmd, r.s.J @ r.s.qd, rtol=0, atol=1e-9)


@settings(max_examples=80)
@given(seeds)
def test_bounds_are_speed_acceleration_and_the_room_to_stop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records(q=rng.uniform(arm().q_min, arm().q_max))
    n = rng.integers(6)
    r.s.q[n] = rng.choice([r.p.q_min[n], r.p.q_max[n]]) + rng.uniform(-0.3, 0.3)
    r.s.qd_prev[:] = rng.uniform(-1, 1, 6) * r.p.qd_max
    ik.joint_bounds(r.p, r.s)
    reach = r.p.qdd_max * T
    assert (r.s.low <= r.s.high).all()
    assert (r.s.low >= r.s.qd_prev - reach - 1e-12).all()
    assert (r.s.high <= r.s.qd_prev + reach + 1e-12).all()
    for room, fast in (
        (r.p.q_max - r.s.q, np.minimum(r.p.qd_max, r.s.high)),
        (r.s.q - r.p.q_min, np.minimum(r.p.qd_max, -r.s.low)),
    ):
        # unless it brakes as hard as it may, it has room for a late next tick and the way to rest
        free = fast > np.maximum(-r.s.low, r.s.high) - 2 * reach
        needed = fast * r.s.hold + fast**2 / (2 * r.p.qdd_max)
        braking = np.isclose(fast, np.abs(r.s.qd_prev) - reach) | (fast <= 0)
        assert (braking | (needed <= np.maximum(room, 0) + 1e-9) | ~free).all()
    outside = bool(((r.s.q > r.p.q_max) | (r.s.q < r.p.q_min)).any())
    assert bool(r.s.status & bits.JOINT_OUTSIDE) == outside


@given(st.integers(0, 5), st.sampled_from([-1, 1]), st.floats(0.01, 1.0))
@settings(max_examples=8)
def test_a_joint_driven_at_its_end_stops_there_inside_its_acceleration(n, side, gap) -> None:
    r = records()
    end = (r.p.q_max if side > 0 else r.p.q_min)[n]
    r.s.q[n], before = end - side * gap, 0.0
    for _ in range(800):
        ik.joint_bounds(r.p, r.s)
        fastest = float((r.s.high if side > 0 else r.s.low)[n])
        assert abs(fastest - before) <= r.p.qdd_max[n] * T * (1 + 1e-9)
        r.s.q[n] += fastest * T
        r.s.qd_prev[n] = before = fastest
        assert side * (r.s.q[n] - end) <= 1e-12
    assert abs(r.s.q[n] - end) < 0.02


@settings(max_examples=40)
@given(seeds)
def test_near_a_singularity_the_rates_are_damped_and_stay_small(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = bent(rng)
    q[rng.choice([2, 4])] = 10.0 ** rng.uniform(-9, -3)
    r = records(WIDE, q=q)
    assert wished(r, rng.normal(size=6) * 0.01)
    assert r.s.status & bits.SINGULARITY
    assert (np.abs(r.s.qd) <= r.p.qdd_max * T * (1 + 1e-9)).all()


@given(seeds, st.floats(0, 0.1))
def test_the_normal_equations_are_those_of_damped_least_squares(seed: int, damping: float) -> None:
    rng = np.random.default_rng(seed)
    r = records(q=rng.uniform(-3, 3, 6))
    r.s.V_aim[:] = rng.normal(size=6)
    ik.normal_matrix(r.s, damping**2)
    ik.aim(r.s)
    expected = r.s.J.T @ r.s.J + (damping**2 + 1e-12) * np.eye(6)
    np.testing.assert_allclose(r.s.H, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(r.s.g, -r.s.J.T @ r.s.V_aim, rtol=0, atol=1e-13)


@settings(max_examples=40)
@given(seeds)
def test_where_the_tool_will_be_is_where_the_model_puts_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records(q=rng.uniform(-3, 3, 6))
    r.s.qd[:] = rng.uniform(-2, 2, 6)
    p_after = arm().fk(r.s.q + r.s.qd * r.s.hold)[:3, 3]
    np.testing.assert_allclose(ik.tool_after(r.p, r.s), p_after, rtol=0, atol=1e-13)
    r.s.V_cmd[:] = r.s.J @ r.s.qd
    mean = (p_after - r.s.p_WP) / r.s.hold
    sag = ik.wall_sag(r.p, r.s)
    np.testing.assert_allclose(r.s.V_cmd[LINEAR] + sag, mean, rtol=0, atol=1e-10)


@pytest.mark.parametrize("what", ["nan damping", "nan wish"])
def test_without_a_finite_answer_it_says_so(what: str) -> None:
    q = arm().home.copy()
    q[4] = 0.0
    r = records(q=q)
    if what == "nan damping":
        r.p.ik_damping = np.nan
    r.s.V_lim[:] = np.nan if what == "nan wish" else 0.01
    assert not ik.inverse_kinematics(r.p, r.s)


@pytest.mark.parametrize(
    ("qd", "low", "said"),
    [
        (0.1, 0.0, 0),
        (0.1, 0.1, bits.JOINT_POSITION_LIMIT),
        (-0.2, -0.2, bits.JOINT_POSITION_LIMIT),
    ],
)
def test_the_bound_that_holds_is_named(qd: float, low: float, said: int) -> None:
    r = records()
    r.s.low[:], r.s.high[:] = -1.0, 1.0
    r.s.qd[2], r.s.qd_prev[2], r.s.low[2] = qd, qd, low
    r.s.V_prev[:] = r.s.V_cmd[:] = r.s.J @ r.s.qd
    ik.report_bounds(r.p, r.s)
    assert r.s.status == said
    r.s.status, r.s.qd_prev[2] = 0, qd - r.p.qdd_max[2] * T
    ik.report_bounds(r.p, r.s)
    assert bool(r.s.status & bits.JOINT_ACCELERATION_LIMIT) == bool(said)
