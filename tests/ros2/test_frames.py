"""Axes of frames on the graph, as rotation vectors."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from scipy.spatial.transform import Rotation

from ur_admittance.ros2.frames import turned


def test_a_rotation_vector_is_that_of_somebody_else():
    rng = np.random.default_rng(7)
    near = [Rotation.from_rotvec(angle * np.eye(3)[0]) for angle in (0.0, 1e-9, 1e-4, np.pi - 1e-6)]
    for rotation in [*Rotation.random(100, rng), *near]:
        np.testing.assert_allclose(turned(rotation.as_matrix()), rotation.as_rotvec(), atol=1e-7)
