"""What a chain does in compiled code in every cycle, function by function, against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.support import arm, pose, random_pose
from ur_admittance import Config
from ur_admittance.chain import compiled as places
from ur_admittance.chain.compiled import compiled
from ur_admittance.controller.packing import pack
from ur_admittance.kernel import layout
from ur_admittance.motion.straight import StraightWay

TURN = slice(places.ORIENTATION, places.TWIST)
TWIST = slice(places.TWIST, places.HAS_POSE)
seeds = st.integers(0, 2**32 - 1)


def reference(X: np.ndarray | None, V: np.ndarray, count: float = 1.0) -> np.ndarray:
    """A desired pose as links hand it on, or a twist alone; the test's own."""
    out = np.zeros(places.DESIRED_SIZE)
    if X is not None:
        out[:3], out[TURN] = X[:3, 3], Rotation.from_matrix(X[:3, :3]).as_quat(scalar_first=True)
        out[places.HAS_POSE] = 1.0
    out[TWIST], out[places.COUNT] = V, count
    return out


def rotation(wxyz: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(wxyz, scalar_first=True).as_matrix()


@given(st.lists(st.floats(), min_size=1, max_size=40), st.integers(1, 3))
def test_finite_is_as_numpy_says_whatever_the_stride(values: list[float], stride: int) -> None:
    array = np.zeros((len(values), stride))
    array[:, 0] = values
    assert compiled().finite(np.array(values)) == np.isfinite(values).all()


def test_a_measurement_is_written_down_and_a_cycle_takes_sane_time() -> None:
    values, q, wrench = np.zeros(places.OWN), np.arange(6.0), np.arange(6.0) + 10
    tell = compiled().measured
    for dt, seconds in ((0.003, 0.003), (0.1, 0.1), (0.0, 0.002), (-1.0, 0.002), (0.2, 0.002)):
        values[places.TIMES + 3] = 5.0
        assert tell(values, q, wrench, dt, 0.01, 0.02, 0.002) == seconds
        np.testing.assert_array_equal(values[places.TIMES : places.TIMES + 3], [dt, 0.01, 0.02])
        assert values[places.TIMES + 3] == 5.0 + seconds
    assert tell(values, q, wrench, math.nan, 0.0, 0.0, 0.002) == 0.002
    np.testing.assert_array_equal(values[places.Q : places.QD], q)
    np.testing.assert_array_equal(values[places.WRENCH : places.TIMES], wrench)
    before = values.copy()
    for short in ((q[:5], wrench), (q, wrench[:5])):
        assert tell(values, *short, 0.002, 0.0, 0.0, 0.002) == 0.0
    np.testing.assert_array_equal(values, before)


@given(seeds)
def test_a_pose_and_its_twist_become_a_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, V, out = random_pose(rng, 2.0), rng.normal(size=6), np.zeros(places.DESIRED_SIZE)
    for count in (1, 2):
        assert compiled().write_desired(X, V, out)
        assert out[places.COUNT] == count
    np.testing.assert_array_equal(out[:3], X[:3, 3])
    np.testing.assert_allclose(rotation(out[TURN]), X[:3, :3], atol=1e-14)
    np.testing.assert_array_equal(out[TWIST], V)
    assert out[places.HAS_POSE] == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        np.diag([1, 1, -1, 1.0]),
        1.01 * np.eye(4),
        np.diag([1, 1, 1, 0.999]),
        np.full((4, 4), math.nan),
        np.eye(4) + 0.01 * np.eye(4)[:, [1, 0, 2, 3]],
        np.zeros((4, 4)),
    ],
)
def test_what_is_no_pose_becomes_no_reference(wrong: np.ndarray) -> None:
    out = np.zeros(places.DESIRED_SIZE)
    assert not compiled().write_desired(np.array(wrong), np.zeros(6), out)
    assert not out.any()


@given(seeds, st.sampled_from([1.0, -1.0]), st.floats(-9e-4, 9e-4))
def test_a_new_reference_is_the_goal_of_the_next_tick_and_an_old_one_is_not(seed, sign, off):
    rng = np.random.default_rng(seed)
    X, V = random_pose(rng, 2.0), rng.normal(size=6)
    inputs, state, seen = layout.new_inputs(), layout.new_state(), np.zeros(1)
    inputs["goal_count"] = 3
    told = reference(X, V, count=7.0)
    told[TURN] *= sign * (1 + off)
    for _ in range(2):
        assert compiled().take_desired(told, seen, inputs, state)
    goal = inputs[0]
    assert goal["goal_count"] == 4 and seen[0] == 7.0
    np.testing.assert_array_equal(goal["goal_p"], X[:3, 3])
    np.testing.assert_allclose(rotation(goal["goal_wxyz"]), X[:3, :3], atol=1e-12)
    assert np.linalg.norm(goal["goal_wxyz"]) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(goal["goal_V"], V)


def test_a_twist_alone_starts_where_the_desired_pose_is() -> None:
    X = random_pose(np.random.default_rng(3))
    inputs, state, seen = layout.new_inputs(), layout.new_state(), np.zeros(1)
    inputs["goal_count"] = 0
    state["p_WD"], state["wxyz_WD"] = X[:3, 3], reference(X, np.zeros(6))[TURN]
    V = np.arange(6.0)
    state["seeding"] = 1  # then nobody knows yet where it is
    assert compiled().take_desired(reference(None, V), seen, inputs, state)
    assert inputs["goal_count"] == 0 and seen[0] == 0.0
    state["seeding"] = 0
    assert compiled().take_desired(reference(None, V), seen, inputs, state)
    np.testing.assert_array_equal(inputs["goal_p"][0], X[:3, 3])
    np.testing.assert_allclose(rotation(inputs["goal_wxyz"][0]), X[:3, :3], atol=1e-14)
    np.testing.assert_array_equal(inputs["goal_V"][0], V)


@pytest.mark.parametrize("place", [0, 2, places.ORIENTATION, places.TWIST, places.HAS_POSE - 1])
@pytest.mark.parametrize("value", [101.0, -101.0, math.nan, math.inf])
def test_a_reference_that_is_too_far_too_fast_or_no_number_is_refused(place, value) -> None:
    inputs, seen = layout.new_inputs(), np.zeros(1)
    inputs["goal_count"] = 0
    told = reference(np.eye(4), np.zeros(6))
    told[place] = value
    assert not compiled().take_desired(told, seen, inputs, layout.new_state())
    assert inputs["goal_count"] == 0 and seen[0] == 0.0


def test_joints_from_above_are_the_pose_they_lead_to_and_its_derivative() -> None:
    model, rng = arm(), np.random.default_rng(5)
    params, spare = pack(Config(), model), layout.new_state()
    for _ in range(20):
        q, qd, h = model.home + rng.uniform(-1, 1, 6), rng.normal(size=6), 1e-6
        inputs = layout.new_inputs()
        inputs["goal_count"] = 0
        assert compiled().take_joints(q, qd, params, spare, inputs)
        X, after, before = model.fk(q), model.fk(q + h * qd), model.fk(q - h * qd)
        goal = inputs[0]
        np.testing.assert_allclose(goal["goal_p"], X[:3, 3], atol=1e-12)
        np.testing.assert_allclose(rotation(goal["goal_wxyz"]), X[:3, :3], atol=1e-12)
        turn = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec() / (2 * h)
        v = (after[:3, 3] - before[:3, 3]) / (2 * h)
        np.testing.assert_allclose(goal["goal_V"], [*v, *turn], atol=1e-6)
        assert goal["goal_count"] == 1
    assert not compiled().take_joints(q, qd * math.nan, params, spare, inputs)
    assert inputs["goal_count"] == 1


@given(seeds, st.floats(0, 1.1), st.floats(0, 2))
def test_a_compiled_way_is_the_one_of_motion_at_its_pace(seed, share, pace):
    rng, speed = np.random.default_rng(seed), np.ones(2)
    way = StraightWay(random_pose(rng, 1.0), random_pose(rng, 1.0), speed)
    out = np.zeros(places.DESIRED_SIZE)
    compiled().write_along(way.segment, way.seconds, share * way.seconds, pace, out)
    X, V = way.at(share * way.seconds)
    np.testing.assert_allclose(pose(rotation(out[TURN]), out[:3]), X, atol=1e-12)
    np.testing.assert_allclose(out[TWIST], pace * V, atol=1e-12)
    assert out[places.HAS_POSE] == out[places.COUNT] == 1.0
