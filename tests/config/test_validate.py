"""Numbers, transforms and poses from outside: put right when nearly so, else refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.model.support import message, random_transform
from ur_admittance.config.validate import (
    as_numbers,
    as_sign,
    as_time_from_start,
    as_transform,
    quaternion_of,
    quaternions_of,
    transform,
    within,
)
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.model import RobotModel


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 2e-4))
def test_a_slightly_wrong_rotation_becomes_the_nearest_one(seed: int, size: float) -> None:
    X = random_transform(seed)
    noisy = X.copy()
    noisy[:3, :3] += np.random.default_rng(seed).uniform(-size, size, (3, 3))
    put_right = as_transform(noisy, "X")
    R = put_right[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-11)
    assert np.linalg.det(R) > 0
    assert np.abs(R - X[:3, :3]).max() <= 4 * size + 1e-12
    np.testing.assert_array_equal(put_right[:3, 3], X[:3, 3])


def scaled(factor: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3] *= factor
    return X


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.eye(3), "must be 4 x 4 numbers, got an array of shape (3, 3)"),
        (np.full((4, 4), math.nan), "must be finite"),
        (np.diag([1, 1, 1, 2.0]), "the last row is [0.0, 0.0, 0.0, 2.0]"),
        (scaled(1.01), "0.01 from the nearest rotation"),
        (scaled(0), "from the nearest rotation"),
        (scaled(1e200), "from the nearest rotation"),
        (np.diag([1, 1, -1, 1.0]), "it mirrors"),
        ("identity", "got 'identity'"),
        (None, "got None"),
    ],
)
def test_a_transform_that_is_none_is_refused(value, expected: str) -> None:
    said = message(as_transform, value, "the desired pose")
    assert said.startswith("the desired pose: ") and expected in said


def test_a_tool_that_is_no_transform_is_refused_by_name() -> None:
    assert message(RobotModel.ur, "ur5e", X_EP=np.zeros((4, 4))).startswith("X_EP: ")
    assert message(RobotModel.ur, "ur5e", X_ES=scaled(2)).startswith("X_ES: ")
    assert message(RobotModel.ur("ur5e").with_tool, X_EP=[1, 2, 3]).startswith("X_EP: ")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-9e-4, 9e-4))
def test_transform_turns_as_its_quaternion_says(seed: int, off: float) -> None:
    rotation = Rotation.random(None, np.random.default_rng(seed))
    wxyz = (1 + off) * rotation.as_quat()[[3, 0, 1, 2]]
    X = transform([1, 2, 3], wxyz)
    np.testing.assert_allclose(X[:3, :3], rotation.as_matrix(), atol=1e-14)
    np.testing.assert_array_equal(X[:, 3], [1, 2, 3, 1])


@pytest.mark.parametrize(
    ("position", "wxyz", "expected"),
    [
        ([0, 0, 0], [0, 0, 0, 0], "has length 0; it must be a quaternion of length 1"),
        ([0, 0, 0], [1, 1, 0, 0], "has length 1.41421"),
        ([0, 0, 0], [1, 0, 0], "orientation (w, x, y, z): must be four numbers"),
        ([0, 0, 0], [math.nan, 0, 0, 0], "must be finite"),
        ([0, 0], [1, 0, 0, 0], "position: must be three numbers"),
        (
            [0, 0, math.inf],
            [1, 0, 0, 0],
            "three numbers: every number must be finite",
        ),
    ],
)
def test_a_pose_that_is_none_is_refused(position, wxyz, expected: str) -> None:
    assert expected in message(transform, position, wxyz)


def test_quaternions_are_those_of_scipy() -> None:
    R = Rotation.random(2000, np.random.default_rng(0))
    half_turns = Rotation.from_rotvec(np.pi * np.eye(3))
    for rotations in (R, half_turns, Rotation.identity(1)):
        theirs = rotations.as_quat(scalar_first=True)
        ours = quaternions_of(rotations.as_matrix())
        one_by_one = np.array([quaternion_of(X) for X in rotations.as_matrix()])
        for wxyz in (ours, one_by_one):
            np.testing.assert_allclose(np.abs(np.sum(wxyz * theirs, axis=1)), 1.0, atol=1e-14)


@given(st.floats(), st.floats(-1e6, 1e6), st.floats(0, 1e6), st.booleans())
def test_a_number_is_taken_where_it_is_inside_its_range(value, low, width, above) -> None:
    high, inside = low + width, not math.isnan(value) and low <= value <= low + width
    if inside and not (above and value == low):
        assert within("push", value, low, high, "N", above=above) == value
    else:
        with pytest.raises(RobotError, match=r"^push: must be .* N, got "):
            within("push", value, low, high, "N", above=above)


@pytest.mark.parametrize("value", ["5", True, None, [5], 5j, np.array([5.0])])
def test_what_is_no_number_is_outside_every_range(value) -> None:
    with pytest.raises(ConfigError, match=r"^seed: must be 0 to 10, got "):
        within("seed", value, 0, 10, error=ConfigError)


def test_numbers_of_numpy_are_numbers() -> None:
    for value in (np.float32(0.5), np.int64(1), 1):
        assert within("share", value, 0.5, 1.0) == value
        assert type(within("share", value, 0.5, 1.0)) is float


def test_a_sign_is_one_or_minus_one() -> None:
    assert [as_sign("NetFt", x) for x in (1, -1, -1.0, np.int8(1))] == [1, -1, -1, 1]
    for wrong in (0, 2, math.nan, True, "+", "-1", None):
        with pytest.raises(RobotError, match="NetFt: sign: must be 1 or -1, got"):
            as_sign("NetFt", wrong)


def test_a_way_takes_time_but_no_more_than_an_hour() -> None:
    assert as_time_from_start(3600) == 3600.0
    assert as_time_from_start(1e-9) == 1e-9
    for wrong in (0.0, -1.0, 3600.1, math.nan, math.inf, "soon", None):
        with pytest.raises(RobotError, match="time_from_start: must be above 0 and at most 3600 s"):
            as_time_from_start(wrong)


def test_numbers_of_any_shape_are_copied_and_what_is_none_is_refused_by_name() -> None:
    given_array = np.arange(6, dtype=np.int32).reshape(2, 3)
    array = as_numbers(given_array, "wrenches", None)
    assert array.shape == (2, 3) and array.dtype == np.float64 and not array.flags.writeable
    assert as_numbers([[math.nan]], "wrenches", None, nan=True).shape == (1, 1)
    for wrong in ("text", [["a"]], [[1], [1, 2]], [True], None, [1j]):
        with pytest.raises(ConfigError, match=r"^wrenches: must be numbers \[N\], got "):
            as_numbers(wrong, "wrenches", None, unit="N", error=ConfigError)
    with pytest.raises(ConfigError, match="every number must be finite"):
        as_numbers([1, math.inf], "wrenches", None, error=ConfigError)
