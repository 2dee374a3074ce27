"""The inverse of the Jacobian: NumPy's, both ways of getting it, and the distance from none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.plain import plain, records

jacobian = plain("jacobian")
seeds = st.integers(0, 2**31)


def near_singularity(rng: np.random.Generator) -> np.ndarray:
    """1e-6 to 0.1 rad from a straight elbow or wrist, or nowhere near."""
    q = rng.uniform(-3, 3, 6)
    q[rng.choice([2, 4, 5])] = 10.0 ** rng.uniform(-6, -1)
    return q


@settings(max_examples=150)
@given(seeds)
def test_the_inverse_is_that_of_numpy_as_far_as_the_condition_lets_it(seed: int) -> None:
    r = records(q=near_singularity(np.random.default_rng(seed)))
    sigma = jacobian.invert_jacobian(r.s)
    values = np.linalg.svd(r.s.J, compute_uv=False)
    assert sigma > 0
    atol = 1e-13 * values[0] / values[-1] ** 2
    np.testing.assert_allclose(r.s.J_inverse, np.linalg.inv(r.s.J), rtol=0, atol=atol)


@settings(max_examples=150)
@given(seeds)
def test_the_smallest_singular_value_lies_between_sigma_and_sigma_times_root_six(seed) -> None:
    r = records(q=near_singularity(np.random.default_rng(seed)))
    sigma = jacobian.invert_jacobian(r.s)
    smallest = np.linalg.svd(r.s.J, compute_uv=False)[-1]
    slack = 1e-9 + 1e-14 / smallest**2
    assert sigma <= smallest * (1 + slack) and smallest <= math.sqrt(6) * sigma * (1 + slack)


@settings(max_examples=80)
@given(seeds)
def test_blocks_and_elimination_agree(seed: int) -> None:
    r = records(q=np.random.default_rng(seed).uniform(-3, 3, 6))
    by_blocks = jacobian.invert_jacobian(r.s)
    inverse = r.s.J_inverse.copy()
    by_elimination = jacobian.eliminate(r.s)
    assert by_blocks == pytest.approx(by_elimination, rel=1e-6)
    np.testing.assert_allclose(inverse, r.s.J_inverse, rtol=1e-6, atol=1e-6 / by_blocks)


@settings(max_examples=80)
@given(seeds)
def test_elimination_inverts_any_matrix_whatever_rows_it_must_exchange(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records()
    r.s.J[:] = rng.normal(size=(6, 6))[rng.permutation(6)] * (rng.random((6, 6)) < 0.7)
    r.s.J[np.arange(6), rng.permutation(6)] += 3.0
    size = jacobian.eliminate(r.s)
    expected = np.linalg.inv(r.s.J)
    np.testing.assert_allclose(r.s.J_inverse, expected, rtol=1e-9, atol=1e-9)
    assert size == pytest.approx(1 / np.linalg.norm(expected))


@pytest.mark.parametrize("joint", [2, 4])
def test_where_there_is_no_inverse_the_distance_is_nothing(joint: int) -> None:
    q = np.array([0.3, -1.2, 1.1, 0.4, -1.3, 0.2])
    q[joint] = 0.0
    r = records(q=q)
    assert jacobian.invert_jacobian(r.s) < 1e-10
    r.s.J[:, 1] = 0.0
    assert jacobian.eliminate(r.s) == 0.0


@given(seeds)
def test_three_by_three_is_what_numpy_makes_of_it(seed: int) -> None:
    A, B = np.random.default_rng(seed).normal(size=(2, 3, 3))
    a, b = tuple(A.ravel()), tuple(B.ravel())
    np.testing.assert_allclose(jacobian.multiply3(a, b), (A @ B).ravel(), atol=1e-13)
    np.testing.assert_allclose(jacobian.subtract3(a, b), (A - B).ravel(), atol=0)
    inverse, volume = jacobian.inverse3(a)
    assert volume == pytest.approx(np.linalg.det(A), abs=1e-12)
    product = np.reshape(inverse, (3, 3)) @ A
    np.testing.assert_allclose(product * volume, volume * np.eye(3), atol=1e-11)
    np.testing.assert_array_equal(
        jacobian.block(np.arange(36.0).reshape(6, 6), 3, 1), [19, 20, 21, 25, 26, 27, 31, 32, 33]
    )
