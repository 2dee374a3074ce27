"""The robot model: what it promises of itself, and what it says to wrong input."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from tests.model.support import calibration, message, random_transform
from ur_admittance.config.validate import transform
from ur_admittance.model import RobotModel

ARMS = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")


# --- the arms ---


def test_the_arms_are_the_six_of_the_tables() -> None:
    assert RobotModel.arms() == ARMS


@pytest.mark.parametrize("spelling", ["ur5e", "UR5e", "UR5E", " ur5e "])
def test_an_arm_is_found_in_any_case(spelling: str) -> None:
    assert RobotModel.ur(spelling).name == "ur5e"


@pytest.mark.parametrize(
    ("name", "stretched", "height"),
    # By hand: |a2| + |a3|, and d1 - d5.
    [("ur3e", 0.45675, 0.0665), ("ur5e", 0.8172, 0.0628), ("ur10e", 1.18425, 0.06085)],
)
def test_at_zero_the_arm_lies_stretched_along_minus_x_of_its_base(name, stretched, height) -> None:
    X = RobotModel.ur(name, base="base").fk(np.zeros(6))
    np.testing.assert_allclose(X[[0, 2], 3], [-stretched, height], atol=1e-12)
    np.testing.assert_allclose(X[:3, 2], [0, -1, 0], atol=1e-12)  # the flange looks along -y


def test_the_upright_ur5e_is_as_high_as_its_links_are_long() -> None:
    X = RobotModel.ur("ur5e", base="base").fk([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])
    height = 0.1625 + 0.425 + 0.3922 + 0.0997
    np.testing.assert_allclose(X[:3, 3], [0, -(0.1333 + 0.0996), height], atol=1e-12)


def test_the_ur5e_of_the_makers_description_is_ours() -> None:
    """The published default kinematics of the UR5e, with the roundings it has there (1e-9 rad)."""
    published = {
        "shoulder": (0, 0, 0.1625, 0, 0, 0),
        "upper_arm": (0, 0, 0, 1.570796327, 0, 0),
        "forearm": (-0.425, 0, 0, 0, 0, 0),
        "wrist_1": (-0.3922, 0, 0.1333, 0, 0, 0),
        "wrist_2": (0, -0.0997, -2.044881182297852e-11, 1.570796327, 0, 0),
        "wrist_3": (
            0,
            0.09959999999999999,
            -2.042830148012698e-11,
            1.570796326589793,
            3.141592653589793,
            3.141592653589793,
        ),
    }
    nominal = RobotModel.ur("ur5e")
    calibrated = nominal.with_calibration(calibration(published))
    for q in np.random.default_rng(0).uniform(-6, 6, (20, 6)):
        np.testing.assert_allclose(calibrated.fk(q), nominal.fk(q), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_base_and_base_link_differ_by_half_a_turn_about_z(name: str) -> None:
    base, base_link = RobotModel.ur(name, base="base"), RobotModel.ur(name)
    half_turn = np.diag([-1.0, -1.0, 1.0, 1.0])
    for q in np.random.default_rng(1).uniform(-6, 6, (10, 6)):
        np.testing.assert_allclose(base_link.fk(q), half_turn @ base.fk(q), atol=1e-14)


@pytest.mark.parametrize("name", ARMS)
def test_the_jacobian_is_the_derivative_of_the_pose(name: str) -> None:
    model, h = RobotModel.ur(name, X_EP=random_transform(2)), 1e-6
    for q in np.random.default_rng(3).uniform(-6, 6, (10, 6)):
        R_WP, J = model.fk(q)[:3, :3], model.jacobian(q)
        for i, step in enumerate(h * np.eye(6)):
            dX = (model.fk(q + step) - model.fk(q - step)) / (2 * h)
            W = dX[:3, :3] @ R_WP.T
            numeric = [*dX[:3, 3], W[2, 1], W[0, 2], W[1, 0]]
            np.testing.assert_allclose(J[:, i], numeric, rtol=0, atol=2e-9)


@pytest.mark.parametrize("name", ARMS)
def test_limits_are_those_of_the_datasheets(name: str) -> None:
    model = RobotModel.ur(name)
    np.testing.assert_array_equal(model.q_min, -model.q_max)
    assert model.q_max[2] == pytest.approx(math.pi)
    assert model.q_max[0] == pytest.approx(2 * math.pi)
    assert math.isinf(model.q_max[5]) == (name == "ur3e")
    assert 2 * math.pi / 3 - 1e-9 <= model.qd_max.min() <= model.qd_max.max() <= 2 * math.pi + 1e-9


@pytest.mark.parametrize("name", ARMS)
def test_no_joint_accelerates_harder_than_the_maker_lets_it_brake(name: str) -> None:
    model = RobotModel.ur(name)
    assert (model.qdd_max <= model.qd_max / 0.5).all()
    assert (model.qdd_max > 0.95 * model.qd_max / 0.5).all()


@pytest.mark.parametrize("name", ARMS)
def test_home_is_far_from_limits_and_singularities(name: str) -> None:
    model = RobotModel.ur(name)
    q = model.home
    assert (q - model.q_min >= 1.5).all() and (model.q_max - q >= 1.5).all()
    assert np.linalg.svd(model.jacobian(q), compute_uv=False)[-1] > 0.05
    assert model.fk(q)[2, 2] == pytest.approx(-1)  # the tool looks down


def test_an_unknown_arm_is_answered_with_those_there_are() -> None:
    said = message(RobotModel.ur, "ur5ee")
    assert "'ur5ee'" in said and "did you mean ur5e?" in said and "from_urdf" in said
    assert all(arm in said for arm in ARMS)
    assert "did you mean" not in message(RobotModel.ur, "panda")
    assert "None" in message(RobotModel.ur, None)


def test_an_unknown_base_is_answered_with_the_two_there_are() -> None:
    said = message(RobotModel.ur, "ur5e", base="world")
    assert "'world'" in said and "'base'" in said and "'base_link'" in said


# --- the model as a value ---


def test_a_model_cannot_be_changed() -> None:
    model = RobotModel.ur("ur5e")
    with pytest.raises(AttributeError):
        model.name = "ur10e"  # pyright: ignore[reportAttributeAccessIssue]
    arrays = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    arrays += [model.chain_R, model.chain_p, model.links[0].com, model.links[0].inertia]
    assert len(arrays) >= 12
    for array in arrays:
        assert array.dtype == np.float64 and array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_model_does_not_follow_the_array_it_was_made_from() -> None:
    X_EP = random_transform(4)
    model, before = RobotModel.ur("ur5e", X_EP=X_EP), X_EP.copy()
    X_EP[:3, 3] = 7
    np.testing.assert_allclose(model.X_EP, before, atol=1e-12)


@pytest.mark.parametrize("clone", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_a_clone_is_the_same_arm_and_as_unchangeable(clone) -> None:
    model = RobotModel.ur("ur10e", X_EP=random_transform(5))
    q = model.home
    X_WP = model.fk(q)
    other = clone(model)
    np.testing.assert_array_equal(other.fk(q), X_WP)
    assert not other.X_chain.flags.writeable and not other.links[0].com.flags.writeable


def test_fk_and_jacobian_return_arrays_of_the_callers_own() -> None:
    model = RobotModel.ur("ur5e")
    X, J = model.fk(model.home), model.jacobian(model.home)
    X[...], J[...] = 0, 0
    assert model.fk(model.home)[3, 3] == 1 and np.abs(model.jacobian(model.home)).max() == 1


def test_the_chain_ends_in_the_probe() -> None:
    model = RobotModel.ur("ur5e", X_EP=random_transform(6))
    X_6P = model.X_chain[6] @ model.X_EP
    np.testing.assert_allclose(model.chain_R[6], X_6P[:3, :3])
    np.testing.assert_allclose(model.chain_p[6], X_6P[:3, 3])
    np.testing.assert_array_equal(model.chain_R[:6], model.X_chain[:6, :3, :3])
    np.testing.assert_array_equal(model.chain_p[:6], model.X_chain[:6, :3, 3])


def test_the_sensor_is_the_probe_unless_it_is_placed() -> None:
    tool, other, sensor = (transform([0, 0, z]) for z in (0.1, 0.2, 0.05))
    model = RobotModel.ur("ur5e", X_EP=tool)
    np.testing.assert_array_equal(model.X_ES, tool)
    np.testing.assert_array_equal(model.with_tool(other).X_ES, other)
    placed = model.with_tool(X_ES=sensor)
    np.testing.assert_array_equal(placed.X_EP, tool)
    np.testing.assert_array_equal(placed.X_ES, sensor)
    np.testing.assert_array_equal(placed.with_tool(other).X_ES, sensor)
    np.testing.assert_array_equal(RobotModel.ur("ur5e", X_ES=sensor).X_EP, np.eye(4))


def test_a_model_says_what_it_is() -> None:
    assert repr(RobotModel.ur("ur5e")) == "RobotModel('ur5e', base_link -> tool0, 17.7 kg)"
    tool = RobotModel.ur("ur5e", X_EP=transform([0, 0, 0.1]), X_ES=transform([0, 0, 0.05]))
    assert "probe at [0.0, 0.0, 0.1] m, sensor at [0.0, 0.0, 0.05] m" in repr(tool)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"joint_names": ("a", "b")}, "six different names"),
        ({"joint_names": ("a",) * 6}, "six different names"),
        ({"base": "tool0"}, "base and tip are both 'tool0'"),
        ({"links": (1, 2)}, "six or none, got 2"),
        ({"X_chain": np.zeros((6, 4, 4))}, "X_chain: must be 7 x 4 x 4 numbers"),
        ({"X_chain": np.zeros((7, 4, 4))}, "X_chain[0]: the last row"),
        ({"q_max": np.full(6, -9.0)}, "'shoulder_pan_joint': position limits are -6.28"),
        ({"q_max": np.full(6, np.inf)}, "both finite or both infinite"),
        ({"q_max": np.full(6, np.nan)}, "q_max: must be six numbers: every number must be finite"),
        ({"qd_max": np.zeros(6)}, "qd_max is 0.0 rad/s; must be above 0"),
        (
            {"qd_max": np.full(6, np.inf)},
            "six numbers: every number must be finite",
        ),
        ({"qdd_max": -np.ones(6)}, "qdd_max is -1.0 rad/s^2"),
        ({"tau_max": np.zeros(6)}, "tau_max is 0.0 N m"),
        ({"qdd_max": np.ones(5)}, "qdd_max: must be six numbers"),
    ],
)
def test_a_model_that_cannot_be_is_refused(change: dict, expected: str) -> None:
    model = RobotModel.ur("ur5e")
    fields = {name: getattr(model, name) for name in RobotModel.__dataclass_fields__}
    assert expected in message(RobotModel, **(fields | change))


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ([0, 0, 0, 0, 0], "must be six numbers, got an array of shape (5,)"),
        (np.zeros((6, 1)), "got an array of shape (6, 1)"),
        ([0, 0, 0, 0, 0, math.nan], "must be finite"),
        ([0, 0, 0, 0, 0, math.inf], "must be finite"),
        ("home", "must be six numbers, got 'home'"),
        (["0"] * 6, "must be six numbers"),
        ([True] * 6, "must be six numbers"),
        ([None] * 6, "must be six numbers"),
        ([1j] * 6, "must be six numbers"),
        ([[1], [1, 2], 0, 0, 0, 0], "must be six numbers"),
        (None, "got None"),
    ],
)
def test_joint_positions_that_are_none_are_refused(q, expected: str) -> None:
    model = RobotModel.ur("ur5e")
    for method in (model.fk, model.jacobian):
        said = message(method, q)
        assert said.startswith("q (joint positions, rad)") and expected in said
