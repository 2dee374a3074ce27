"""Bounded least squares: optimality conditions, DAQP and SciPy, on a hundred thousand problems."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import daqp
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from tests.kernel.boxes import solve_boxes
from tests.support import arm
from ur_admittance.kernel import layout

EACH = 12_500
NEAR = 1e-8


class Problems(NamedTuple):
    """min 1/2 x^T H x + g^T x inside the box, many of them."""

    H: np.ndarray  # (N, 6, 6)
    g: np.ndarray  # (N, 6)
    low: np.ndarray
    high: np.ndarray
    J: np.ndarray  # H = J^T J + damping, g = -J^T V
    V: np.ndarray
    damping: np.ndarray  # (N,), lambda^2


def least_squares(J, V, damping, low, high) -> Problems:
    H = np.swapaxes(J, 1, 2) @ J
    damping = np.broadcast_to(np.asarray(damping, float), len(J)).copy()
    H[:, np.arange(6), np.arange(6)] += damping[:, None]
    g = -np.einsum("nij,ni->nj", J, V)
    return Problems(H, g, low, high, J, V, damping)


def boxes(rng: np.random.Generator, count: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Of every kind: around zero, to one side of it, thin, and without any room (low == high)."""
    centre = size * rng.normal(size=(count, 6)) * rng.choice([0, 0.5, 2], (count, 1))
    half = size * rng.exponential(size=(count, 6)) * rng.choice([1, 1e-3, 1e-9], (count, 6))
    half[rng.random((count, 6)) < 0.1] = 0.0
    return centre - half, centre + half


def jacobians(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.array([arm().jacobian(q) for q in rng.uniform(-3, 3, (count, 6))])


def singular_jacobians(rng: np.random.Generator, count: int) -> np.ndarray:
    """Within 1e-9 .. 0.1 rad of a stretched elbow, a straight wrist, or the wrist over the base."""
    q = rng.uniform(-3, 3, (count, 6))
    off = rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-9, -1, count)
    kind = rng.integers(0, 3, count)
    q[kind == 0, 2] = off[kind == 0]
    q[kind == 1, 4] = off[kind == 1]
    q[kind == 2, 2] = q[kind == 2, 4] = off[kind == 2]
    return np.array([arm().jacobian(row) for row in q])


@cache
def problems(kind: str) -> Problems:
    rng = np.random.default_rng(sorted(KINDS).index(kind))
    low, high = boxes(rng, EACH, 1.0)
    V = rng.normal(size=(EACH, 6))
    if kind == "random":
        return least_squares(rng.normal(size=(EACH, 6, 6)), V, 1e-3, low, high)
    if kind == "nothing holds":  # the unconstrained optimum is inside
        wide = np.full((EACH, 6), 1e3)
        return least_squares(rng.normal(size=(EACH, 6, 6)), V, 1e-2, -wide, wide)
    if kind == "everything holds":  # the box is far from the unconstrained optimum
        return least_squares(rng.normal(size=(EACH, 6, 6)), 100 * V, 1e-3, low, high)
    if kind == "no room":
        return least_squares(rng.normal(size=(EACH, 6, 6)), V, 1e-3, low, low)
    if kind == "zero is outside":
        sign = rng.choice([-1, 1], (EACH, 6))
        near, far = np.sort(rng.exponential(size=(2, EACH, 6)), axis=0)
        return least_squares(
            jacobians(rng, EACH), V, 1e-12,
            np.where(sign > 0, near, -far), np.where(sign > 0, far, -near),
        )  # fmt: skip
    if kind == "an arm":
        return least_squares(jacobians(rng, EACH), V, 1e-12, low, high)
    if kind == "an arm near a singularity":
        damping = 10.0 ** rng.uniform(-6, -2, EACH)  # lambda from 0.001 to 0.1
        return least_squares(singular_jacobians(rng, EACH), V, damping, low, high)
    assert kind == "badly scaled"
    columns = 10.0 ** rng.uniform(-2, 2, (EACH, 1, 6))
    box = boxes(rng, EACH, 1.0)
    scale = 1 / columns[:, 0]
    return least_squares(
        rng.normal(size=(EACH, 6, 6)) * columns, V, 1e-3, box[0] * scale, box[1] * scale
    )


KINDS: tuple[str, ...] = (
    "random", "nothing holds", "everything holds", "no room", "zero is outside",
    "an arm", "an arm near a singularity", "badly scaled",
)  # fmt: skip
each_kind = pytest.mark.parametrize("kind", KINDS)


@cache
def solution(kind: str) -> np.ndarray:
    p = problems(kind)
    x = np.full((len(p.H), 6), np.nan)
    failed = solve_boxes(layout.new_state(), p.H, p.g, p.low, p.high, x)
    assert failed == 0
    return x


@each_kind
def test_a_solution_is_never_outside_its_bounds(kind: str) -> None:
    p, x = problems(kind), solution(kind)
    assert (x >= p.low).all() and (x <= p.high).all()


@each_kind
def test_every_solution_meets_the_optimality_conditions(kind: str) -> None:
    """Free variables have no gradient; at a bound the objective falls only towards the outside."""
    p, x = problems(kind), solution(kind)
    terms = p.H * x[:, None, :]
    gradient = terms.sum(axis=2) + p.g
    size = np.abs(terms).sum(axis=2) + np.abs(p.g)
    slack = 1e-11 * size.max(axis=1, keepdims=True) + 1e-13
    at_low, at_high = x == p.low, x == p.high
    assert (np.abs(gradient) <= slack)[~(at_low | at_high)].all()
    assert (gradient >= -slack)[at_low & ~at_high].all()
    assert (gradient <= slack)[at_high & ~at_low].all()


@each_kind
def test_daqp_finds_the_same_solution(kind: str) -> None:
    p, x = problems(kind), solution(kind)
    nothing, sense = np.zeros((0, 6)), np.zeros(6, dtype=np.int32)
    theirs = np.empty_like(x)
    for k in range(len(x)):
        theirs[k], _, flag, _ = daqp.solve(p.H[k], p.g[k], nothing, p.high[k], p.low[k], sense)
        assert flag == 1
    near = NEAR * (1 + np.abs(theirs).max(axis=1, keepdims=True))
    assert (np.abs(x - theirs) <= near).all()


@each_kind
def test_scipy_finds_the_same_solution(kind: str) -> None:
    p, x = problems(kind), solution(kind)
    wide = np.flatnonzero((p.low < p.high - 1e-6).all(axis=1))[:40]
    assert len(wide) == 40 or kind == "no room"
    for k in wide:
        A = np.vstack([p.J[k], np.sqrt(p.damping[k]) * np.eye(6)])
        b = np.concatenate([p.V[k], np.zeros(6)])
        theirs = lsq_linear(A, b, (p.low[k], p.high[k]), method="bvls", tol=1e-14, max_iter=200)
        np.testing.assert_allclose(x[k], theirs.x, rtol=0, atol=NEAR * (1 + np.abs(x[k]).max()))


def test_a_problem_without_a_finite_solution_is_reported_and_stays_in_bounds_or_nan() -> None:
    H = np.stack([np.eye(6), np.full((6, 6), np.nan), -np.eye(6), np.eye(6)])
    g, box = np.zeros((4, 6)), np.ones((4, 6))
    g[3, 2] = np.nan
    x = np.zeros((4, 6))
    assert solve_boxes(layout.new_state(), H, g, -box, box, x) == 3
    np.testing.assert_array_equal(x[0], 0)


def test_the_same_problem_has_the_same_solution_whatever_was_solved_before() -> None:
    """The solver's memory is the state record's; nothing of one problem may reach the next."""
    p, x = problems("an arm"), solution("an arm")
    order = np.random.default_rng(9).permutation(len(x))
    again = np.empty_like(x)
    shuffled = [np.ascontiguousarray(part[order]) for part in (p.H, p.g, p.low, p.high)]
    assert solve_boxes(layout.new_state(), *shuffled, again) == 0
    np.testing.assert_array_equal(again, x[order])
