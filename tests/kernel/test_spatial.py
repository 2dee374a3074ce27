"""Rotations, poses and the braking rule: group axioms, bijections, and SciPy and Pinocchio."""
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from types import SimpleNamespace

import numba
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.kernel import spatial as kernel_spatial

# Called from Python its functions would run as Python: here they are compiled, as in the tick.
spatial = SimpleNamespace(
    **{
        name: numba.njit(error_model="numpy")(value.py_func) if hasattr(value, "py_func") else value
        for name, value in vars(kernel_spatial).items()
    }
)

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def directions(rng: np.random.Generator, count: int) -> np.ndarray:
    u = rng.normal(size=(count, 3))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def rotation_vectors() -> dict[str, np.ndarray]:
    """Rotation vectors no longer than half a turn, by how they were sampled."""
    rng = np.random.default_rng(0)
    u = directions(rng, 200)
    normal = rng.normal(size=(200, 3))
    return {
        "uniform": Rotation.random(200, rng).as_rotvec(),
        "normal": normal[np.linalg.norm(normal, axis=1) < math.pi],
        "near the identity": u * rng.uniform(0, 1e-7, (200, 1)),
        "near the change to the series": u * 1e-4 * rng.uniform(0.5, 2.0, (200, 1)),
        "near half a turn": u * (math.pi - rng.uniform(0, 1e-7, (200, 1))),
        "special": np.array(
            [[0, 0, 0], [1e-300, 0, 0], [0, 1e-30, 0], *(math.pi * np.eye(3)), *(-3.1 * np.eye(3))]
        ),
    }


SAMPLES = rotation_vectors()
each_sample = pytest.mark.parametrize("name", SAMPLES)


def scipy_of(wxyz) -> Rotation:
    w, x, y, z = wxyz
    return Rotation.from_quat([x, y, z, w])


def wxyz_of(rotation: Rotation) -> tuple[float, ...]:
    x, y, z, w = rotation.as_quat()
    return w, x, y, z


def quaternions(name: str) -> list[tuple[float, ...]]:
    return [spatial.exp3(tuple(a)) for a in SAMPLES[name]]


def same_rotation(a, b, atol: float = 1e-14) -> None:
    """Equal up to the common sign of a quaternion."""
    a, b = np.asarray(a), np.asarray(b)
    np.testing.assert_allclose(a, b if a @ b > 0 else -b, rtol=0, atol=atol)


# --- the exponential and the logarithm ---


@each_sample
def test_the_exponential_is_that_of_scipy_and_of_pinocchio(name: str) -> None:
    for a in SAMPLES[name]:
        wxyz = spatial.exp3(tuple(a))
        same_rotation(wxyz, wxyz_of(Rotation.from_rotvec(a)), 8e-16)
        np.testing.assert_allclose(scipy_of(wxyz).as_matrix(), pin.exp3(a), rtol=0, atol=1e-14)
        assert math.hypot(*wxyz) == pytest.approx(1, abs=4e-16)


@each_sample
def test_the_logarithm_undoes_the_exponential(name: str) -> None:
    for a in SAMPLES[name]:
        back = spatial.log3(spatial.exp3(tuple(a)))
        np.testing.assert_allclose(back, a, rtol=1e-14, atol=2e-15)


@each_sample
def test_the_exponential_undoes_the_logarithm(name: str) -> None:
    for wxyz in quaternions(name):
        for quaternion in (wxyz, tuple(-c for c in wxyz)):
            back = spatial.exp3(spatial.log3(quaternion))
            if quaternion[0] > -1:  # a whole turn has no axis to remember
                np.testing.assert_allclose(back, quaternion, rtol=0, atol=2e-15)


@each_sample
def test_the_logarithm_of_the_shortest_way_is_that_of_scipy_and_of_pinocchio(name: str) -> None:
    for wxyz in quaternions(name):
        for quaternion in (wxyz, tuple(-c for c in wxyz)):
            a = np.array(spatial.log3(spatial.shortest(quaternion)))
            length = np.linalg.norm(a)
            assert length <= math.pi + 1e-15
            expected = scipy_of(quaternion).as_rotvec()
            if length > math.pi - 1e-12 and a @ expected < 0:
                expected = -expected  # half a turn is the same both ways round
            np.testing.assert_allclose(a, expected, rtol=0, atol=2e-15)
            R = scipy_of(quaternion).as_matrix()
            if length < 3:  # beyond, a matrix remembers the angle less well
                np.testing.assert_allclose(a, pin.log3(R), rtol=0, atol=2e-12)


def test_the_logarithm_goes_on_past_half_a_turn_up_to_a_whole_one() -> None:
    rng = np.random.default_rng(1)
    for u, angle in zip(directions(rng, 300), rng.uniform(0, 2 * math.pi - 1e-6, 300), strict=True):
        a = angle * u
        np.testing.assert_allclose(spatial.log3(spatial.exp3(tuple(a))), a, rtol=0, atol=1e-9)


def test_the_logarithm_of_a_whole_turn_is_finite() -> None:
    assert math.hypot(*spatial.log3((-1.0, 0.0, 0.0, 0.0))) == pytest.approx(2 * math.pi)


# --- the group ---


def triples(name: str) -> list[tuple]:
    """Neighbours of one kind, and one of each kind with a uniform rotation between them."""
    own, uniform = quaternions(name), quaternions("uniform")
    return [
        *zip(own, own[1:], own[2:], strict=False),
        *zip(own, uniform, reversed(own), strict=False),
    ]


@each_sample
def test_rotations_are_a_group(name: str) -> None:
    multiply, inverse = spatial.multiply, spatial.inverse
    for a, b, c in triples(name):
        np.testing.assert_allclose(multiply(a, IDENTITY), a, rtol=0, atol=0)
        np.testing.assert_allclose(multiply(IDENTITY, a), a, rtol=0, atol=0)
        np.testing.assert_allclose(multiply(a, inverse(a)), IDENTITY, rtol=0, atol=1e-15)
        np.testing.assert_allclose(multiply(inverse(a), a), IDENTITY, rtol=0, atol=1e-15)
        left, right = multiply(multiply(a, b), c), multiply(a, multiply(b, c))
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-15)
        same_rotation(multiply(a, b), wxyz_of(scipy_of(a) * scipy_of(b)), 1e-15)


@each_sample
def test_a_product_turns_a_vector_by_one_factor_after_the_other(name: str) -> None:
    rng = np.random.default_rng(2)
    for a, b, _ in triples(name):
        v = tuple(rng.normal(size=3))
        once = spatial.rotate(spatial.multiply(a, b), v)
        twice = spatial.rotate(a, spatial.rotate(b, v))
        np.testing.assert_allclose(once, twice, rtol=0, atol=1e-14)
        np.testing.assert_allclose(once, (scipy_of(a) * scipy_of(b)).apply(v), rtol=0, atol=1e-14)


@each_sample
def test_turning_back_undoes_a_turn_and_keeps_lengths(name: str) -> None:
    rng = np.random.default_rng(3)
    for wxyz in quaternions(name):
        v = tuple(rng.normal(size=3))
        there = spatial.rotate(wxyz, v)
        np.testing.assert_allclose(spatial.rotate_back(wxyz, there), v, rtol=0, atol=8e-15)
        assert math.hypot(*there) == pytest.approx(math.hypot(*v), rel=1e-14)
        same = spatial.rotate(tuple(-c for c in wxyz), v)
        np.testing.assert_allclose(same, there, rtol=0, atol=1e-15)


# --- matrices ---


@each_sample
def test_a_pose_holds_the_matrix_of_its_quaternion(name: str) -> None:
    X = np.full((4, 4), np.nan)
    for wxyz in quaternions(name):
        spatial.write_pose(X, (1.0, -2.0, 3.0), wxyz)
        np.testing.assert_allclose(X[:3, :3], scipy_of(wxyz).as_matrix(), rtol=0, atol=2e-15)
        np.testing.assert_array_equal(X[:3, 3], [1, -2, 3])
        np.testing.assert_array_equal(X[3], [0, 0, 0, 1])
        R = X[:3, :3]
        v = np.array([0.3, -0.7, 1.1])
        np.testing.assert_allclose(spatial.turn(R, tuple(v)), R @ v, rtol=0, atol=1e-15)
        np.testing.assert_allclose(spatial.turn_back(R, tuple(v)), R.T @ v, rtol=0, atol=1e-15)


@each_sample
def test_the_quaternion_of_a_matrix_is_the_one_that_made_it(name: str) -> None:
    for a in SAMPLES[name]:
        R = Rotation.from_rotvec(a).as_matrix()
        wxyz = spatial.quaternion_of(R)
        assert wxyz[0] >= 0
        assert math.hypot(*wxyz) == pytest.approx(1, abs=4e-16)
        np.testing.assert_allclose(scipy_of(wxyz).as_matrix(), R, rtol=0, atol=4e-15)
        same_rotation(wxyz, wxyz_of(Rotation.from_rotvec(a)), 1e-15)


def test_no_rotation_is_far_from_its_quaternion_where_two_branches_meet() -> None:
    """Shepperd's choice changes where the trace is zero and where two diagonal parts are equal."""
    rng = np.random.default_rng(4)
    corner = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [-1, 1, 1], [1, -1, 0]])
    for axis in corner / np.linalg.norm(corner, axis=1, keepdims=True):
        for angle in (math.pi, 2 * math.pi / 3, math.pi / 2):
            for _ in range(20):
                a = angle * axis + rng.normal(scale=1e-9, size=3)
                R = Rotation.from_rotvec(a).as_matrix()
                same_rotation(spatial.quaternion_of(R), wxyz_of(Rotation.from_rotvec(a)), 1e-15)


# --- vectors ---


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(3))
def test_a_vector_with_a_number_that_is_not_finite_is_seen(bad: float, place: int) -> None:
    v = [1e308, -1e308, 0.0]
    assert spatial.finite3(tuple(v))
    v[place] = bad
    assert not spatial.finite3(tuple(v))


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    st.floats(1e-9, 1e6),
)
def test_a_saturated_vector_keeps_its_direction_and_is_never_too_long(v, largest) -> None:
    cut = np.array(spatial.saturate(tuple(v), largest))
    n = np.linalg.norm(v)
    assert np.linalg.norm(cut) <= largest * (1 + 1e-12) or np.array_equal(cut, v)
    np.testing.assert_allclose(cut, np.array(v) * (min(1.0, largest / n) if n else 1.0), rtol=1e-12)


def test_the_cross_product_is_that_of_numpy() -> None:
    for a, b in np.random.default_rng(5).normal(size=(50, 2, 3)):
        np.testing.assert_allclose(spatial.cross(tuple(a), tuple(b)), np.cross(a, b), atol=1e-15)


# --- braking ---

distances = st.floats(1e-9, 10)
decelerations = st.floats(0.01, 100)
periods = st.floats(1e-5, 0.1)


@given(distances, decelerations, periods)
def test_the_braking_speed_is_the_root_of_its_equation(distance, deceleration, dt) -> None:
    """The positive root of v dt + v^2 / (2 a) = d, taken with fifty digits."""
    getcontext().prec = 50
    d, a, h = Decimal(distance), Decimal(deceleration), Decimal(dt)
    root = -a * h + (a * a * h * h + 2 * a * d).sqrt()
    assert spatial.braking_speed(distance, deceleration, dt) == pytest.approx(
        float(root), rel=1e-14
    )


@pytest.mark.parametrize("distance", [0.0, -0.0, -1.0, -math.inf, math.nan])
def test_without_room_ahead_the_braking_speed_is_zero(distance: float) -> None:
    assert spatial.braking_speed(distance, 1.0, 0.002) == 0.0


@given(distances, decelerations, st.lists(periods, min_size=1, max_size=60), st.randoms())
def test_one_who_brakes_by_the_rule_never_overshoots_nor_brakes_too_hard(d, a, dts, random) -> None:
    """Any speed up to the rule's, ticks of any length: the target is not passed, and the next
    speed is always within reach of the deceleration.
    """
    left, last, start = d, None, d
    for dt in dts:
        fastest = spatial.braking_speed(left, a, dt)
        if last is not None:
            assert last - a * dt <= fastest + 1e-12 * (1 + last), "must brake harder than it may"
        speed = fastest if random.random() < 0.5 else fastest * random.random()
        left -= speed * dt
        last = speed
        assert left >= -1e-12 * start
