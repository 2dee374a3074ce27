"""Step 2: pose and Jacobian in one pass, against a product of Pinocchio's transforms."""
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pinocchio as pin
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.plain import plain, records
from tests.support import random_pose
from ur_admittance import RobotModel

angles = st.lists(st.floats(-7, 7), min_size=6, max_size=6).map(np.array)
arms = st.sampled_from(RobotModel.arms())


def chained(p, q: np.ndarray) -> list[pin.SE3]:
    """The frames of the joints, turned, and the probe's last."""
    X, frames = pin.SE3.Identity(), []
    for n in range(6):
        X = X * pin.SE3(p.chain_R[n], p.chain_p[n])
        X = X * pin.SE3(pin.AngleAxis(q[n], np.array([0.0, 0, 1])).matrix(), np.zeros(3))
        frames.append(X)
    return [*frames, X * pin.SE3(p.chain_R[6], p.chain_p[6])]


@settings(max_examples=40)
@given(arms, angles, st.integers(0, 2**31))
def test_the_pose_is_the_product_along_the_chain(name, q, seed) -> None:
    model = RobotModel.ur(name, X_EP=random_pose(np.random.default_rng(seed)))
    r = records(q=q, model=model)
    X_WP = chained(r.p, q)[-1]
    np.testing.assert_allclose(r.s.R_WP, X_WP.rotation, rtol=0, atol=1e-13)
    np.testing.assert_allclose(r.s.p_WP, X_WP.translation, rtol=0, atol=1e-13)


@settings(max_examples=40)
@given(arms, angles, st.integers(0, 2**31))
def test_a_column_of_the_jacobian_is_the_twist_of_the_probe_about_that_axis(name, q, seed) -> None:
    model = RobotModel.ur(name, X_EP=random_pose(np.random.default_rng(seed)))
    r = records(q=q, model=model)
    frames = chained(r.p, q)
    for n in range(6):
        about_z = pin.Motion(np.zeros(3), np.array([0.0, 0, 1]))
        at_probe = (frames[-1].inverse() * frames[n]).act(about_z)  # in P axes, at Po
        in_W = pin.SE3(frames[-1].rotation, np.zeros(3)).act(at_probe)
        np.testing.assert_allclose(r.s.J[:, n], in_W.vector, rtol=0, atol=1e-12)


@settings(max_examples=25)
@given(angles, angles)
def test_the_jacobian_is_the_derivative_of_the_pose(q, qd) -> None:
    r, h = records(q=q), 1e-6
    ahead, behind = chained(r.p, q + h * qd)[-1], chained(r.p, q - h * qd)[-1]
    v = (ahead.translation - behind.translation) / (2 * h)
    w = pin.log3(ahead.rotation @ behind.rotation.T) / (2 * h)
    np.testing.assert_allclose(r.s.J @ qd, np.concatenate([v, w]), rtol=0, atol=2e-7)


def test_nothing_but_the_kinematics_is_written() -> None:
    r = records()
    before = r.s.copy()
    r.s.q[:] = 0.3
    plain("kinematics").kinematics(r.p, r.s)
    changed = {n for n in r.s.dtype.names if not np.array_equal(r.s[n], before[n])}
    assert changed == {"q", "R_WP", "p_WP", "J"}
