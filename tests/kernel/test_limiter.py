"""Step 7: a velocity inside all limits, and as much of the wish as the way there allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from tests.kernel.plain import Records, plain, records
from tests.support import ANGULAR, LINEAR, arm, free_config
from ur_admittance.kernel import bits

limiter = plain("limiter")
T, V, W, A, ALPHA = 0.002, 0.25, 0.5, 2.5, 5.0
NEAR = 1 + 1e-9
ENVELOPE = {
    "max_linear_velocity": V,
    "max_angular_velocity": W,
    "limits.max_linear_acceleration": A,
    "limits.max_angular_acceleration": ALPHA,
}
vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(np.array)
twists = st.lists(st.floats(-1, 1), min_size=6, max_size=6).map(np.array)
CONFIG = free_config(**ENVELOPE)
FAST = free_config(**{**ENVELOPE, "max_linear_velocity": 5.0})
P_WP = arm().fk(arm().home)[:3, 3]


def inside(twist: np.ndarray) -> np.ndarray:
    """A twist that the arm may have: each part at most at its speed limit."""
    out = twist.copy()
    for part, most in ((LINEAR, V), (ANGULAR, W)):
        out[part] *= most / max(1.0, float(np.linalg.norm(twist[part])))
    return out


def limited(last: np.ndarray, wish: np.ndarray, stopping: bool = False, **changes) -> Records:
    config = free_config(**ENVELOPE, **changes) if changes else CONFIG
    r = records(config, V_prev=last, V_mem=last, V_track=wish)
    limiter.limit(r.p, r.s, stopping)
    return r


def room(**walls: float) -> dict[str, list[float]]:
    """Walls this far from the tool: below and above of each axis, m."""
    low, high = P_WP - 50, P_WP + 50
    for name, gap in walls.items():
        n = "xyz".index(name[0])
        (high if name.endswith("above") else low)[n] = P_WP[n] + (
            gap if name.endswith("above") else -gap
        )
    return {"limits.workspace_min": low.tolist(), "limits.workspace_max": high.tolist()}


@given(twists, twists, st.booleans())
def test_speed_and_acceleration_hold_for_any_wish(last, wish, stopping) -> None:
    last = inside(last)
    V_lim = limited(last, 10 * wish, stopping).s.V_lim
    for part, v, a in ((LINEAR, V, A), (ANGULAR, W, ALPHA)):
        assert np.linalg.norm(V_lim[part]) <= v * NEAR
        assert np.linalg.norm(V_lim[part] - last[part]) <= a * T * NEAR + 1e-12


@given(twists, twists)
def test_a_wish_inside_all_limits_is_granted_as_it_is(last, step) -> None:
    last = 0.5 * inside(last)
    wish = last.copy()
    wish[LINEAR] += 0.5 * A * T * step[LINEAR]
    wish[ANGULAR] += 0.5 * ALPHA * T * step[ANGULAR]
    r = limited(last, wish)
    np.testing.assert_allclose(r.s.V_lim, wish, rtol=0, atol=1e-15)
    assert not r.s.status & (bits.SPEED_LIMIT | bits.ACCELERATION_LIMIT)


@given(twists, twists)
def test_what_is_granted_lies_on_the_way_to_the_wish_and_no_more_of_it_is_allowed(last, wish):
    last, wish = inside(last), 2 * wish
    granted = limited(last, wish).s.V_lim
    for part, v, a in ((LINEAR, V, A), (ANGULAR, W, ALPHA)):
        target = wish[part] * min(1.0, v / max(1e-300, np.linalg.norm(wish[part])))
        way, done = target - last[part], granted[part] - last[part]
        if np.linalg.norm(way) < 1e-9:
            continue
        share = float(done @ way / (way @ way))
        np.testing.assert_allclose(done, share * way, rtol=0, atol=1e-12)
        if share < 1 - 1e-9:
            assert np.linalg.norm(done) == pytest.approx(a * T, rel=1e-9), "more was possible"


@settings(max_examples=10)
@given(twists)
def test_a_stop_slows_down_straight_and_reaches_zero_exactly(last) -> None:
    now = inside(last)
    r = records(CONFIG, V_prev=now)
    for _ in range(60):
        before = now
        limiter.limit(r.p, r.s, True)
        r.s.V_prev[:] = now = r.s.V_lim.copy()
        for part, a in ((LINEAR, A), (ANGULAR, ALPHA)):
            size = np.linalg.norm(before[part])
            expected = before[part] * max(0.0, 1 - a * T / size) if size else before[part]
            np.testing.assert_allclose(now[part], expected, rtol=0, atol=1e-12)
    assert not now.any()


@given(twists, st.lists(st.floats(0, 0.3), min_size=6, max_size=6).map(np.array))
def test_near_walls_the_bounds_are_a_box_and_a_tool_at_rest_may_stay(wish, gaps) -> None:
    r = records(CONFIG, V_track=10 * wish)
    r.p.workspace_min[:], r.p.workspace_max[:] = P_WP - gaps[:3], P_WP + gaps[3:]
    limiter.limit(r.p, r.s, False)
    assert (r.s.wall_low <= 0).all() and (r.s.wall_high >= 0).all()
    v = r.s.V_lim[LINEAR]
    assert (v >= r.s.wall_low).all() and (v <= r.s.wall_high).all()


@pytest.mark.parametrize("jerk", [0.0, 50.0])
@settings(max_examples=4)
@given(st.floats(0.001, 0.2), st.integers(0, 2), st.sampled_from([-1, 1]))
def test_a_tool_that_makes_for_a_wall_comes_to_rest_before_it(jerk, gap, axis, side) -> None:
    """The limiter alone: the tool does what it grants, at the granted speed for a whole tick."""
    name = "xyz"[axis] + ("_above" if side > 0 else "_below")
    config = free_config(**ENVELOPE, **room(**{name: gap}), **{"limits.max_linear_jerk": jerk})
    wish = np.zeros(6)
    wish[axis] = side * 1.0
    r = records(config, V_track=wish)
    for _ in range(600):
        limiter.limit(r.p, r.s, False)
        r.s.A_mem[:] = (r.s.V_lim - r.s.V_mem) / T
        r.s.V_prev[:] = r.s.V_mem[:] = r.s.V_lim
        r.s.p_WP[:] += r.s.V_lim[LINEAR] * T
        assert side * (r.s.p_WP[axis] - P_WP[axis]) <= gap + 5e-5
    assert abs(side * (r.s.p_WP[axis] - P_WP[axis]) - gap) < (0.03 if jerk else 2e-3)
    assert r.s.status & bits.WORKSPACE_LIMIT


def test_outside_the_walls_only_the_way_back_is_open() -> None:
    r = limited(np.zeros(6), np.array([1.0, 1, 1, 0, 0, 0]), False, **room(z_above=-0.05))
    assert r.s.status & bits.OUTSIDE_WORKSPACE
    assert r.s.wall_high[2] == 0 and r.s.wall_low[2] < -0.05


@given(vectors, vectors, st.floats(1, 100))
def test_a_limited_jerk_bounds_the_change_of_acceleration(wish, accel, jerk) -> None:
    a = A * accel / max(1.0, float(np.linalg.norm(accel)))
    r = records(FAST, V_track=np.concatenate([wish, np.zeros(3)]))
    r.s.A_mem[LINEAR] = a
    r.p.jerk_max = jerk
    limiter.limit(r.p, r.s, False)
    now = r.s.V_lim[LINEAR] / T
    if np.linalg.norm(wish) > 1e-6 * A * T and np.linalg.norm(a) <= A - jerk * T:
        assert np.linalg.norm(now - a) <= jerk * T * (1 + 1e-9) + 1e-12


@given(vectors, st.floats(0, 1))
def test_a_speed_above_a_lowered_limit_comes_down_as_fast_as_it_may(direction, above) -> None:
    size = float(np.linalg.norm(direction))
    if size < 1e-3:
        return
    last = np.zeros(6)
    last[LINEAR] = direction / size * (V + above)
    r = limited(last, last)
    speed = np.linalg.norm(r.s.V_lim[LINEAR])
    assert speed == pytest.approx(max(V, V + above - A * T), rel=1e-9)


@given(vectors, vectors, st.floats(0.01, 1))
def test_the_first_length_inside_a_ball_is_where_the_ray_enters_it(direction, centre, radius):
    size = float(np.linalg.norm(direction))
    if size < 1e-3:
        return
    d = direction / size
    found = limiter.first_inside(tuple(d), tuple(centre), radius, 0.0, 2.0)

    def outside(k: float) -> float:
        return float(np.linalg.norm(k * d - centre)) - radius

    nearest = float(np.clip(d @ centre, 0, 2))
    if outside(0.0) <= 0:
        assert found <= 1e-9
    elif 0 < nearest < 2 and outside(nearest) < -1e-6:
        assert found == pytest.approx(brentq(outside, 0, nearest, xtol=1e-14), abs=1e-9)
