"""Pose arithmetic against SciPy."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_fake.arm import poses

metres = st.floats(-2.0, 2.0)
radians = st.floats(-4.0, 4.0)
pose = st.tuples(metres, metres, metres, radians, radians, radians)
tiny = st.floats(-1e-8, 1e-8)
small_pose = st.tuples(metres, metres, metres, tiny, tiny, tiny)
any_pose = pose | small_pose


def X(p) -> np.ndarray:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = Rotation.from_rotvec(p[3:6]).as_matrix(), p[0:3]
    return made


def assert_same(p, expected) -> None:
    np.testing.assert_allclose(X(p), expected, atol=1e-9)
    assert math.hypot(*p[3:6]) <= math.pi + 1e-9


@given(any_pose, any_pose)
def test_trans_is_the_product_of_the_transforms(a, b):
    assert_same(poses.trans(a, b), X(a) @ X(b))


@given(pose)
def test_inverse_undoes_a_pose(a):
    np.testing.assert_allclose(X(poses.inverse(a)), np.linalg.inv(X(a)), atol=1e-9)


@given(any_pose, any_pose)
def test_add_adds_positions_and_composes_rotations_and_sub_takes_them_back(a, b):
    made = poses.add(a, b)
    np.testing.assert_allclose(made[0:3], np.add(a[0:3], b[0:3]))
    np.testing.assert_allclose(X(made)[:3, :3], X(a)[:3, :3] @ X(b)[:3, :3], atol=1e-9)
    np.testing.assert_allclose(X(poses.sub(made, b))[:3, 3], a[0:3], atol=1e-9)


@given(any_pose, any_pose, st.floats(0, 1))
def test_interpolation_goes_straight_and_about_one_axis(a, b, s):
    made = poses.interpolate(a, b, s)
    np.testing.assert_allclose(
        made[0:3], (1 - s) * np.array(a[0:3]) + s * np.array(b[0:3]), atol=1e-9
    )
    R_a, R_b = Rotation.from_rotvec(a[3:6]), Rotation.from_rotvec(b[3:6])
    way = (R_a.inv() * R_b).as_rotvec()
    if np.linalg.norm(way) < math.pi - 1e-3:  # beyond, the other way round is as short
        np.testing.assert_allclose(
            X(made)[:3, :3], (R_a * Rotation.from_rotvec(s * way)).as_matrix(), atol=1e-8
        )


@given(st.tuples(radians, radians, radians))
def test_roll_pitch_and_yaw_turn_about_the_fixed_axes(rpy):
    expected = Rotation.from_euler("xyz", rpy).as_matrix()
    vector = poses.vector_of_rpy(rpy)
    np.testing.assert_allclose(Rotation.from_rotvec(vector).as_matrix(), expected, atol=1e-9)
    back = Rotation.from_euler("xyz", poses.rpy_of(vector)).as_matrix()
    np.testing.assert_allclose(back, expected, atol=1e-7)


@given(st.tuples(radians, radians, radians))
def test_the_rotation_vector_of_a_rotation_turns_the_same_way(v):
    back = poses.rotation_vector(poses.rotation(*v))
    np.testing.assert_allclose(
        Rotation.from_rotvec(back).as_matrix(), Rotation.from_rotvec(v).as_matrix(), atol=1e-9
    )
