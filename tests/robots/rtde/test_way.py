"""The way to a trajectory point, against SciPy's Hermite spline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from ur_admittance.robots.rtde.way import Way

ZERO = np.zeros(6)
six = st.lists(st.floats(-3, 3), min_size=6, max_size=6).map(np.array)


@given(six, six, six, six, st.floats(0.01, 0.5), st.sampled_from([0.002, 0.008]))
def test_it_is_the_cubic_between_two_points_with_their_rates(
    start, rate, goal, goal_rate, seconds, period
) -> None:
    spline = CubicHermiteSpline([0, seconds], [start, goal], [rate, goal_rate])
    way, t = Way(start, rate, goal, goal_rate, seconds, period), 0.0
    np.testing.assert_array_equal(way.rate, rate)
    while not way.over:
        q, t = way.next(), min(t + period, seconds)
        np.testing.assert_allclose(q, spline(t), atol=1e-9)
        np.testing.assert_allclose(way.rate, spline(t, 1), atol=1e-6 / seconds)
    assert t == pytest.approx(seconds, abs=1e-8)
    np.testing.assert_array_equal(q, goal)
    np.testing.assert_allclose(way.rate, goal_rate, atol=1e-12)


def test_it_ends_in_the_first_cycle_that_is_not_before_its_time() -> None:
    for seconds, cycles in ((0.002, 1), (0.001, 1), (0.0021, 2), (0.02, 10), (0.3, 150)):
        count, way = 0, Way(ZERO, ZERO, np.ones(6), ZERO, seconds, 0.002)
        while not way.over:
            way.next()
            count += 1
        assert count == cycles


def test_after_its_end_it_stays_at_the_goal() -> None:
    way = Way(ZERO, ZERO, np.ones(6), ZERO, 0.01, 0.002)
    for _ in range(20):
        q = way.next()
    np.testing.assert_array_equal(q, 1.0)
    assert way.over and not way.rate.any()
