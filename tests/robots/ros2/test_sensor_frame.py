"""Where the sensor is by the transforms heard: the tree, their ages, and a source that fails."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.support import random_pose
from ur_admittance.config.validate import pose
from ur_admittance.robots.ros2.sensor_frame import SensorFrame


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_chain_of_transforms_is_multiplied_up_to_the_frame_they_share(rng, order):
    X_FE, X_FA, X_AS = (random_pose(rng) for _ in range(3))
    heard = [
        ("adapter", "ft_sensor", X_AS),
        ("flange", "adapter", X_FA),
        ("flange", "tool0", X_FE),
    ]
    sensor = SensorFrame("tool0", "ft_sensor")
    for i in order:
        assert "no transform from ft_sensor to tool0" in sensor.problem(0.0)
        assert sensor.X is None and sensor.fixed() is None
        # Until the way is known, each of them may be part of it.
        parent, child, X = heard[i]
        assert sensor.mentioned(child.encode()) and sensor.wanted(child)
        sensor.put(parent, child, X, 0.0, static=True)
    np.testing.assert_allclose(sensor.X, np.linalg.inv(X_FE) @ X_FA @ X_AS, atol=1e-12)  # type: ignore[arg-type]
    assert sensor.problem(1e9) == ""  # static ones do not age


@pytest.mark.parametrize("down", [False, True])
def test_one_frame_may_hang_from_the_other(rng, down):
    X = random_pose(rng)
    sensor = SensorFrame("tool0", "ft_sensor")
    if down:
        sensor.put("tool0", "ft_sensor", X, 0.0, static=True)
    else:
        sensor.put("ft_sensor", "tool0", np.linalg.inv(X), 0.0, static=True)
    np.testing.assert_allclose(sensor.X, X, atol=1e-12)  # type: ignore[arg-type]


def test_a_transform_that_no_longer_comes_is_used_while_it_is_fresh_and_then_a_reason_to_stop(rng):
    X = random_pose(rng)
    sensor = SensorFrame("tool0", "ft_sensor", max_age=0.1)
    sensor.put("tool0", "ft_sensor", X, 10.0, static=False)
    assert sensor.problem(10.09) == ""
    assert "0.110 s old, at most 0.1 s" in sensor.problem(10.11)
    np.testing.assert_array_equal(sensor.X, X)  # the last one stays
    sensor.put("tool0", "ft_sensor", X, 10.2, static=False)
    assert sensor.problem(10.21) == ""


def test_the_oldest_of_the_way_counts(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("tool0", "mount", random_pose(rng), 5.0, static=False)
    sensor.put("mount", "ft_sensor", random_pose(rng), 5.5, static=False)
    assert "0.600 s old" in sensor.problem(5.6)


@pytest.mark.parametrize(
    ("way", "turn", "words"),
    [
        ((0.0, 0.0, 9e-4), 0.0, ""),
        ((0.0, 0.0, 0.0), 4e-3, ""),
        ((0.0, 2e-3, 0.0), 0.0, "has changed by 2.0 mm and 0.0 degrees"),
        ((0.0, 0.0, 0.0), -0.1, "has changed by 0.0 mm and 5.7 degrees"),
        ((0.0, 0.0, 0.0), np.pi, "has changed by 0.0 mm and 180.0 degrees"),
    ],
)
def test_a_sensor_that_moves_on_the_flange_is_a_reason_to_stop(rng, way, turn, words):
    X = random_pose(rng)
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("tool0", "ft_sensor", X, 0.0, static=True)
    np.testing.assert_array_equal(sensor.fixed(), X)
    sensor.put("tool0", "ft_sensor", X @ pose(way, yaw=turn), 1.0, static=True)
    found = sensor.problem(1.0, moving=True)  # static: they are never of different instants
    assert words in found if words else found == ""
    np.testing.assert_array_equal(sensor.fixed(), X)  # what the model was made with stays


def test_transforms_of_different_instants_are_compared_only_at_rest(rng):
    X = random_pose(rng)
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("base", "tool0", np.eye(4), 1.0, static=False)
    sensor.put("base", "ft_sensor", X, 1.0, static=False)
    np.testing.assert_array_equal(sensor.fixed(), X)
    sensor.put("base", "ft_sensor", pose((0.0, 5e-3, 0.0)) @ X, 1.01, static=False)
    assert sensor.problem(1.01, moving=True) == ""
    assert "has changed by 5.0 mm" in sensor.problem(1.01)


def test_a_sensor_taken_from_the_tree_is_a_reason_to_stop(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("tool0", "ft_sensor", random_pose(rng), 0.0, static=True)
    sensor.put("rack", "ft_sensor", random_pose(rng), 1.0, static=True)
    assert "no transform" in sensor.problem(1.0)


def test_a_ring_of_frames_ends(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    for parent, child in (("a", "ft_sensor"), ("b", "a"), ("a", "b"), ("tool0", "tool0")):
        sensor.put(parent, child, random_pose(rng), 0.0, static=True)
    assert "no transform" in sensor.problem(0.0)


def test_once_the_way_is_known_only_its_frames_are_read(rng):
    sensor = SensorFrame("tool0", "ft_sensor")
    sensor.put("mount", "ft_sensor", random_pose(rng), 0.0, static=True)
    assert sensor.mentioned(b"..elbow\0..") and sensor.wanted("elbow")
    sensor.put("tool0", "mount", random_pose(rng), 0.0, static=True)
    assert sensor.mentioned(b"..mount\0..") and sensor.wanted("mount")
    for other in ("tool0", "mount_2", "elbow"):
        assert not sensor.mentioned(b".." + other.encode() + b"\0..") and not sensor.wanted(other)
