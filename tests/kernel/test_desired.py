"""The desired pose on its way to its goal: inside the limits, without overshoot, and arriving."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.kernel.plain import Records, plain, records
from tests.support import ANGULAR, LINEAR, lengths
from ur_admittance import Config
from ur_admittance.kernel import bits

desired = plain("desired")
T = 0.002
CONFIG = Config()
V_MAX, W_MAX = CONFIG.max_linear_velocity, CONFIG.max_angular_velocity
A_MAX, ALPHA_MAX = CONFIG.limits.max_linear_acceleration, CONFIG.limits.max_angular_acceleration

vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(np.array)
spans = st.floats(1e-4, 10)


def give(r: Records, p=(0, 0, 0), turn=(0, 0, 0), V=(0,) * 6) -> None:
    x, y, z, w = Rotation.from_rotvec(turn).as_quat()
    r.i.goal_p[:], r.i.goal_wxyz[:], r.i.goal_V[:] = p, (w, x, y, z), V
    r.i.goal_count += 1


def go(r: Records, ticks: int) -> tuple[np.ndarray, np.ndarray]:
    """Twists of D, and how far it is from G: m and rad."""
    V, off = [], []
    for _ in range(ticks):
        desired.take_goal(r.s, r.i)
        desired.desired(r.p, r.s)
        V.append(r.s.V_WD.copy())
        wxyz = np.roll(r.s.wxyz_WG, -1), np.roll(r.s.wxyz_WD, -1)
        turn = Rotation.from_quat(wxyz[0]) * Rotation.from_quat(wxyz[1]).inv()
        off.append((np.linalg.norm(r.s.p_WG - r.s.p_WD), turn.magnitude()))
    return np.array(V), np.array(off)


@given(vectors, vectors, vectors, spans, spans, st.floats(1e-4, 0.1))
def test_the_approach_keeps_both_limits_whatever_it_is_asked(error, goal, last, v, a, dt) -> None:
    last = last * v / max(1.0, float(np.linalg.norm(last)))
    now = np.array(desired.approach(tuple(error), tuple(3 * v * goal), tuple(last), v, a, dt))
    assert np.linalg.norm(now) <= v * (1 + 1e-9)
    assert np.linalg.norm(now - last) <= a * dt * (1 + 1e-9)


@given(vectors, vectors, spans, spans)
def test_at_the_goal_with_the_goals_own_motion_nothing_changes(goal, nothing, v, a) -> None:
    goal = goal * v / max(1.0, float(np.linalg.norm(goal)))
    now = desired.approach((0.0, 0.0, 0.0), tuple(goal), tuple(goal), v, a, T)
    np.testing.assert_allclose(now, goal, atol=1e-12 * v)


@settings(max_examples=4)
@given(vectors, vectors)
def test_a_goal_is_reached_in_about_the_shortest_time_without_overshoot(p, turn) -> None:
    r = records(CONFIG)
    give(r, 0.4 * p, 1.5 * turn)
    V, off = go(r, 1500)
    assert lengths(V[:, LINEAR]).max() <= V_MAX * (1 + 1e-9)
    assert lengths(V[:, ANGULAR]).max() <= W_MAX * (1 + 1e-9)
    change = np.diff(V, axis=0, prepend=np.zeros((1, 6)))
    assert lengths(change[:, LINEAR]).max() <= A_MAX * T * (1 + 1e-6)
    assert lengths(change[:, ANGULAR]).max() <= ALPHA_MAX * T * (1 + 1e-6)
    assert (np.diff(off, axis=0) <= 1e-12).all(), "it never goes away from the goal"
    assert r.s.at_goal and not V[-1].any(), "arrived, exactly"
    np.testing.assert_array_equal(r.s.p_WD, r.s.p_WG)


def test_the_way_of_a_turn_is_the_short_one() -> None:
    r = records(CONFIG)
    give(r, turn=(0, 0, 3.0))
    r.i.goal_wxyz[:] *= -1  # the same pose
    V, _ = go(r, 50)
    assert V[-1, 5] > 0 and abs(V[-1, 3:5]).max() < 1e-12


def test_a_goal_that_moves_is_followed_without_lag() -> None:
    r = records(CONFIG)
    V_WG = np.array([0.1, -0.05, 0.02, 0.05, 0.1, -0.1])
    for k in range(700):
        give(r, V_WG[LINEAR] * k * T, V_WG[ANGULAR] * k * T, V_WG)
        V, off = go(r, 1)
    np.testing.assert_allclose(V[-1], V_WG, atol=2e-3)
    assert off[-1].max() < 1e-4


def test_a_moving_goal_of_which_nothing_is_heard_stands_still_after_a_tenth_of_a_second() -> None:
    r = records(CONFIG)
    give(r, V=(0.1, 0, 0, 0, 0, 0.2))
    go(r, 45)
    assert not r.s.status
    where = r.s.p_WG.copy()
    go(r, 8)
    assert r.s.status & bits.DESIRED_STALE and r.s.p_WG[0] > where[0]
    where = r.s.p_WG.copy()
    V, off = go(r, 500)
    np.testing.assert_array_equal(r.s.p_WG, where)
    assert off[-1].max() < 1e-6 and abs(V[-1]).max() < 1e-6


@pytest.mark.parametrize("step", [0.0, 0.0499, 0.0501, 2.0])
def test_a_goal_that_leaps_is_told(step: float) -> None:
    r = records(CONFIG)
    give(r)
    go(r, 2)
    give(r, (step, 0, 0))
    desired.take_goal(r.s, r.i)
    assert r.s.goal_step == pytest.approx(step)
    assert bool(r.s.status & bits.DESIRED_STEP) == (step > 0.05)


def test_the_goal_of_a_fresh_start_is_no_leap_and_an_old_one_is_not_taken_again() -> None:
    r = records(CONFIG, seeding=1)
    give(r, (1.0, 0, 0))
    desired.take_goal(r.s, r.i)
    assert not r.s.status and r.s.goal_age == 0
    r.s.p_WG[:] = 7.0
    desired.take_goal(r.s, r.i)
    assert r.s.goal_age == T and (r.s.p_WG == 7).all()
