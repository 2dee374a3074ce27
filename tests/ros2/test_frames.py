"""Where the sensor is by the transforms heard: the tree, their ages, and a source that fails."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import random_pose
from ur_admittance.ros2.frames import SensorFrame, at


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_a_chain_of_transforms_is_multiplied_up_to_the_frame_they_share(rng):
    X_FE, X_FA, X_AS = (random_pose(rng) for _ in range(3))
    sensor = SensorFrame("tool0", "ft_sensor")
    assert "no transform from ft_sensor to tool0" in sensor.problem(0.0)
    sensor.put("adapter", "ft_sensor", X_AS, 0.0, static=True)
    sensor.put("flange", "adapter", X_FA, 0.0, static=True)
    assert sensor.X_ES is None
    sensor.put("flange", "tool0", X_FE, 0.0, static=True)
    np.testing.assert_allclose(sensor.X_ES, np.linalg.inv(X_FE) @ X_FA @ X_AS, atol=1e-12)  # type: ignore[arg-type]
    assert sensor.problem(1e9) == ""  # static ones do not age


@pytest.mark.parametrize("down", [False, True])
def test_one_frame_may_hang_from_the_other(rng, down):
    X = random_pose(rng)
    sensor = SensorFrame("tool0", "ft_sensor")
    if down:
        sensor.put("tool0", "ft_sensor", X, 0.0, static=True)
    else:
        sensor.put("ft_sensor", "tool0", np.linalg.inv(X), 0.0, static=True)
    np.testing.assert_allclose(sensor.X_ES, X, atol=1e-12)  # type: ignore[arg-type]


def test_a_transform_that_no_longer_comes_is_used_while_it_is_fresh_and_then_a_reason_to_stop(rng):
    first, second = random_pose(rng), random_pose(rng)
    sensor = SensorFrame("tool0", "ft_sensor", max_age=0.1)
    sensor.put("tool0", "ft_sensor", first, 10.0, static=False)
    assert sensor.problem(10.09) == ""
    assert "0.110 s old, at most 0.1 s" in sensor.problem(10.11)
    np.testing.assert_array_equal(sensor.X_ES, first)  # the last one stays
    sensor.put("tool0", "ft_sensor", second, 10.2, static=False)
    assert sensor.problem(10.21) == ""
    np.testing.assert_array_equal(sensor.X_ES, second)


def test_the_oldest_of_the_way_counts(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("tool0", "mount", random_pose(rng), 5.0, static=False)
    sensor.put("mount", "ft_sensor", random_pose(rng), 5.5, static=False)
    assert "0.600 s old" in sensor.problem(5.6)


def test_a_ring_of_frames_ends(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    for parent, child in (("a", "ft_sensor"), ("b", "a"), ("a", "b")):
        sensor.put(parent, child, random_pose(rng), 0.0, static=True)
    assert "no transform" in sensor.problem(0.0)


def test_only_messages_that_name_a_frame_of_the_way_are_read(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("mount", "ft_sensor", random_pose(rng), 0.0, static=True)
    assert sensor.mentioned(b"..mount..") and sensor.mentioned(b"..tool0..")
    assert not sensor.mentioned(b"..elbow..")
    sensor.put("tool0", "mount", random_pose(rng), 0.0, static=True)
    assert sensor.mentioned(b"..mount..") and not sensor.mentioned(b"..tool0..")


def test_a_wrench_in_another_frame_does_the_same_work(rng):
    """Power is the same in every frame: F_A . V_A = F_B . V_B."""
    for _ in range(20):
        X_AB, F_B, V_A = random_pose(rng), rng.normal(size=6), rng.normal(size=6)
        R, p = X_AB[:3, :3], X_AB[:3, 3]
        v, w = V_A[:3], V_A[3:]
        V_B = np.concatenate([R.T @ (v + np.cross(w, p)), R.T @ w])
        assert at(X_AB, F_B) @ V_A == pytest.approx(F_B @ V_B, abs=1e-12)
