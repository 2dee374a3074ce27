"""Transforms and poses from outside: put right when nearly so, else refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.model.support import message, random_transform
from ur_admittance.model import RobotModel
from ur_admittance.validate import as_transform, transform


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
