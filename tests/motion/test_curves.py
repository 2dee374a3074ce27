"""Polynomials through points, against those of SciPy, and the quickest way from rest to rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline

from ur_admittance.motion.curves import Curve, quickest, rest_to_rest

TIMES = [0.0, 0.7, 1.1, 2.5]


@pytest.fixture
def points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.normal(size=(4, 6)) for _ in range(3))
    return q, qd, qdd


def test_points_are_joined_as_by_other_peoples_splines(points):
    q, qd, qdd = points
    rest = np.zeros_like(q)
    quintic = BPoly.from_derivatives(TIMES, np.stack([q, qd, qdd], axis=1))
    resting = BPoly.from_derivatives(TIMES, np.stack([q, rest, rest], axis=1))
    instants = np.linspace(0.0, 2.4999, 60)
    for curve, oracle in (
        (Curve(TIMES, q, qd), CubicHermiteSpline(TIMES, q, qd)),
        (Curve(TIMES, q, qd, qdd), quintic),
        (Curve.resting(TIMES, q), resting),
    ):
        values, rates = curve.all(instants)
        np.testing.assert_allclose(values, oracle(instants), atol=1e-9)
        np.testing.assert_allclose(rates, oracle.derivative()(instants), atol=1e-8)
        for t, value, rate in zip(instants, values, rates, strict=True):
            np.testing.assert_allclose(curve.at(t), (value, rate), atol=1e-12)
    lines, _ = Curve(TIMES, q).all(instants)
    np.testing.assert_allclose(lines.T, [np.interp(instants, TIMES, column) for column in q.T])


def test_before_and_after_it_stands(points):
    curve = Curve([0.5, 1.0, 2.0, 3.0], *points)
    for t, k in ((0.2, 0), (3.0, 3), (9.0, 3)):
        value, rate = curve.at(t)
        assert np.array_equal(value, points[0][k]) and not rate.any()
    value, rate = Curve([0.0], points[0][:1]).at(0.0)
    assert np.array_equal(value, points[0][0]) and not rate.any()


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_quickest_way_keeps_every_limit_and_reaches_one(which: int):
    limits = [np.array([0.2, 1.0]) * 1e3] * 3
    limits[which] = np.array([0.2, 1.0])
    distance = np.array([0.1, 0.3])
    seconds = quickest(distance, *limits)
    curve = Curve.resting((0.0, seconds), (np.zeros(2), distance))
    times = np.linspace(0.0, seconds, 20_001)
    derivative = curve.all(times)[1]
    for limit in limits:
        share = np.abs(derivative[1:-1] / limit).max()
        assert share <= 1.001 and (limit[0] > 1.0 or share > 0.998)
        derivative = np.gradient(derivative, times, axis=0)
    u = np.linspace(0.0, 1.0, 9)
    np.testing.assert_allclose(
        Curve.resting((0.0, 1.0), np.eye(2)[:, :1][::-1]).all(u)[0][:, 0], rest_to_rest(u)[0]
    )
