"""The fit: its model against statics, its slopes, its robustness, and how sure it says it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.calibration_cases import Bench, G, measure, orientations, wrench
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.calibration.measured import Readings, read
from ur_admittance.calibration.payload_fit import (
    NAMES,
    exponential,
    fit,
    logarithm,
    nearest_rotation,
    predict,
    slopes,
    straight,
)

seeds = st.integers(0, 2**32 - 1)


def parameters(bench: Bench, lean: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    moment = bench.mass * np.array(bench.com)
    return np.array([bench.mass, *moment, *bench.bias, *bench.mounting, *lean])


def readings_of(bench: Bench, seed: int = 0, poses: int = 12) -> Readings:
    rng = np.random.default_rng(seed)
    return read(measure(bench, rng, R_WS=orientations(rng, poses)))


@given(seeds)
def test_what_is_foretold_is_the_statics_of_a_weight_on_a_sensor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bench = replace(Bench(), mounting=tuple(rng.uniform(-0.3, 0.3, 3)))
    lean, R_WS = rng.uniform(-0.3, 0.3, 2), orientations(rng, 8)
    g = Rotation.from_rotvec([*lean, 0]).apply(G)
    expected = [wrench(bench, R, g) for R in R_WS]
    found = predict(parameters(bench, tuple(lean)), R_WS, G)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=30)
@given(seeds)
def test_its_slopes_are_its_derivative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, R_WS = rng.normal(size=15) * ([1.0] * 10 + [0.2] * 5), orientations(rng, 5)
    for n, step in enumerate(1e-6 * np.eye(15)):
        numeric = (predict(x + step, R_WS, G) - predict(x - step, R_WS, G)) / 2e-6
        np.testing.assert_allclose(slopes(x, R_WS, G)[:, :, n], numeric, atol=1e-6)


@settings(max_examples=20)
@given(seeds)
def test_without_noise_all_that_is_asked_for_is_found_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench(
        rng.uniform(0.2, 5.0), tuple(rng.uniform(-0.1, 0.1, 3)), tuple(rng.uniform(-5, 5, 6)),
        noise=(0.0, 0.0), mounting=tuple(rng.uniform(-0.1, 0.1, 3)),
    )  # fmt: skip
    rows = read(measure(bench, rng, 14), real=False)
    np.testing.assert_allclose(fit(rows, G, mounting=True).x, parameters(bench), atol=1e-6)
    level = replace(bench, mounting=(0.0, 0.0, 0.0))
    rows = read(measure(level, rng, 14), real=False)
    np.testing.assert_allclose(straight(rows, G), parameters(level)[:10], atol=1e-9)
    lean = Rotation.from_rotvec([0.08, -0.05, 0]).as_matrix()
    tilted = replace(rows, R_WS=lean.T @ rows.R_WS)
    found = fit(tilted, G, tilt=True)
    np.testing.assert_allclose(found.gravity(G), lean.T @ G, atol=1e-6)
    np.testing.assert_allclose(found.x[:10], parameters(level)[:10], atol=1e-6)


def test_a_pose_that_was_touched_hardly_bends_it() -> None:
    """By a tenth of what it does to plain least squares, at most."""
    for seed in range(5):
        rows = readings_of(Bench(), seed)
        truth, touched = parameters(Bench())[:10], rows.wrench.copy()
        touched[seed] += [8.0, -6.0, 5.0, 0.5, 0.4, -0.3]
        bad = replace(rows, wrench=touched)
        robust = np.abs(fit(bad, G).x[:10] - truth)
        plain = np.abs(straight(bad, G) - truth)
        assert robust[0] < 0.1 * plain[0] + 0.005
        assert np.linalg.norm(robust[4:7]) < 0.1 * np.linalg.norm(plain[4:7]) + 0.05


def test_the_errors_of_the_centre_are_those_of_a_quotient() -> None:
    """Of moment over mass, by drawing both ten thousand times."""
    rng, found = np.random.default_rng(1), fit(readings_of(Bench()), G)
    mixed = rng.normal(size=(15, 15)) * 0.01  # all of them hang together
    x = np.array([1.5, 1.0, -2.0, 3.0, *found.x[4:]])
    found = replace(found, x=x, covariance=mixed @ mixed.T)
    draws = rng.multivariate_normal(found.x, found.covariance, 10_000)
    spread = (draws[:, 1:4] / draws[:, :1]).std(axis=0)
    np.testing.assert_allclose(found.errors()[1:4], spread, rtol=0.05)
    np.testing.assert_allclose(found.errors()[0], draws[:, 0].std(), rtol=0.05)


def test_what_was_not_asked_for_stays_zero_and_is_not_sure_of_anything() -> None:
    found = fit(readings_of(Bench()), G)
    assert not found.x[10:].any() and not found.covariance[10:].any()
    assert not found.free[10:].any() and found.free[:10].all()


def test_from_the_same_readings_it_ends_where_it_started() -> None:
    rows = readings_of(Bench())
    once = fit(rows, G, mounting=True)
    again = fit(rows, G, start=once)
    np.testing.assert_allclose(again.x, once.x, atol=1e-6)
    np.testing.assert_array_equal(again.free, once.free)


def test_what_the_poses_do_not_tell_apart_is_named() -> None:
    """Turned about the sensor's z, upright: neither the force bias along z nor the mass is seen."""
    R_WS = Rotation.from_euler("z", np.linspace(0, 5, 12)[:, None]).as_matrix()
    rows = read(measure(replace(Bench(), noise=(0.1, 0.005)), np.random.default_rng(0), R_WS=R_WS))
    found = fit(rows, G)
    assert found.condition > 100
    assert any("mass" in words and "force_bias z" in words for words in found.unseen)
    assert fit(readings_of(Bench()), G).unseen == ()
    assert len(NAMES) == 15


@given(seeds)
def test_the_nearest_rotation_is_scipys_whatever_the_constant_and_the_scale(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pull, R = rng.normal(size=(9, 3)), Rotation.random(None, rng)
    force = (
        rng.uniform(0.5, 5) * R.apply(pull * [rng.choice([1, -1]), 1, 1])
        + rng.normal(size=3)
        + 0.1 * rng.normal(size=(9, 3))
    )
    best = Rotation.align_vectors(force - force.mean(axis=0), pull - pull.mean(axis=0))[0]
    np.testing.assert_allclose(nearest_rotation(force, pull), best.as_matrix(), atol=1e-6)


def test_rotation_vectors_there_and_back() -> None:
    for phi in Rotation.from_matrix(orientations(np.random.default_rng(), 20)).as_rotvec():
        R = Rotation.from_rotvec(phi).as_matrix()
        assert exponential(phi) == pytest.approx(R, abs=1e-12)
        assert exponential(logarithm(R)) == pytest.approx(R, abs=1e-9)
    half = Rotation.from_euler("x", np.pi).as_matrix()
    assert exponential(logarithm(half)) == pytest.approx(half, abs=1e-6)
    tiny = Rotation.from_rotvec([1e-10, -2e-10, 3e-10]).as_matrix()
    assert logarithm(tiny) == pytest.approx([1e-10, -2e-10, 3e-10], abs=1e-15)
