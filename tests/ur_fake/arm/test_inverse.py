"""Inverse kinematics against the forward ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.model import RobotModel
from ur_fake.arm.inverse import Inverse

NO_TCP = (0.0,) * 6


def pose_of(model: RobotModel, q) -> tuple:
    X = model.fk(q)
    return (*X[:3, 3].tolist(), *Rotation.from_matrix(X[:3, :3]).as_rotvec().tolist())


@pytest.mark.parametrize("name", RobotModel.arms())
def test_joint_positions_bring_the_tool_to_the_pose(name):
    model = RobotModel.ur(name, base="base")
    inverse = Inverse(model)
    random = np.random.default_rng(1)
    for _ in range(10):
        q = model.home + random.uniform(-0.8, 0.8, 6)
        found = inverse.solve(pose_of(model, q), model.home, NO_TCP)
        assert found is not None
        np.testing.assert_allclose(model.fk(found), model.fk(q), atol=1e-6)


def test_the_solution_is_the_one_near_where_it_should_be():
    model = RobotModel.ur("ur5e", base="base")
    q = model.home + 0.3
    found = Inverse(model).solve(pose_of(model, q), q + 0.05, NO_TCP)
    assert found is not None
    np.testing.assert_allclose(found, q, atol=1e-6)


def test_a_tcp_is_part_of_the_chain():
    model = RobotModel.ur("ur5e", base="base")
    tcp = (0.01, 0.02, 0.1, 0.3, -0.2, 0.1)
    X_EP = np.eye(4)
    X_EP[:3, :3], X_EP[:3, 3] = Rotation.from_rotvec(tcp[3:6]).as_matrix(), tcp[0:3]
    with_tool = model.with_tool(X_EP)
    inverse = Inverse(model)
    q = model.home + 0.2
    found = inverse.solve(pose_of(with_tool, q), model.home, tcp)
    assert found is not None
    np.testing.assert_allclose(found, q, atol=1e-6)
    np.testing.assert_allclose(inverse.forward(q, tcp)[0:3], with_tool.fk(q)[:3, 3], atol=1e-12)


def test_what_is_out_of_reach_has_no_solution():
    model = RobotModel.ur("ur5e", base="base")
    assert Inverse(model).solve((2.0, 0.0, 0.0, 0.0, 0.0, 0.0), model.home, NO_TCP) is None
