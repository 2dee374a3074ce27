"""The robot model: what it promises of itself, and what it says to wrong input."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.errors import AdmittanceError, ModelError
from ur_admittance.model import Link, RobotModel, as_transform, transform

ARMS = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")


def random_transform(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.random(None, rng).as_matrix(), rng.normal(size=3)
    return X


def message(call, *args, **kwargs) -> str:
    with pytest.raises(ModelError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


# --- the arms ---------------------------------------------------------------------------------


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
def test_every_link_is_a_possible_body(name: str) -> None:
    links = RobotModel.ur(name).links
    assert [link.name for link in links][:2] == ["shoulder_link", "upper_arm_link"]
    for link in links:
        np.testing.assert_allclose(link.inertia, link.inertia.T, atol=1e-15)
        a, b, c = np.linalg.eigvalsh(link.inertia)
        assert a > 0 and a + b >= c, link.name


@pytest.mark.parametrize("name", ARMS)
def test_home_is_far_from_limits_and_singularities(name: str) -> None:
    model = RobotModel.ur(name)
    q = model.home
    assert (q - model.q_min >= 1.5).all() and (model.q_max - q >= 1.5).all()
    assert np.linalg.svd(model.jacobian(q), compute_uv=False)[-1] > 0.05
    assert model.fk(q)[2, 2] == pytest.approx(-1)  # the tool looks down


def test_an_unknown_arm_is_answered_with_those_there_are() -> None:
    said = message(RobotModel.ur, "ur5ee")
    assert "'ur5ee'" in said and "Did you mean 'ur5e'?" in said and "from_urdf" in said
    assert all(arm in said for arm in ARMS)
    assert "Did you mean" not in message(RobotModel.ur, "panda")
    assert "None" in message(RobotModel.ur, None)


def test_an_unknown_base_is_answered_with_the_two_there_are() -> None:
    said = message(RobotModel.ur, "ur5e", base="world")
    assert "'world'" in said and "'base'" in said and "'base_link'" in said


# --- the model as a value ---------------------------------------------------------------------


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
        ({"X_chain": np.zeros((6, 4, 4))}, "X_chain: expected 7 x 4 x 4 numbers"),
        ({"X_chain": np.zeros((7, 4, 4))}, "X_chain[0]: the last row"),
        ({"q_max": np.full(6, -9.0)}, "'shoulder_pan_joint': position limits are -6.28"),
        ({"q_max": np.full(6, np.inf)}, "both finite or both infinite"),
        ({"q_max": np.full(6, np.nan)}, "q_max: every number must be finite"),
        ({"qd_max": np.zeros(6)}, "qd_max is 0.0 rad/s; must be above 0"),
        ({"qd_max": np.full(6, np.inf)}, "qd_max: every number must be finite"),
        ({"qdd_max": -np.ones(6)}, "qdd_max is -1.0 rad/s^2"),
        ({"tau_max": np.zeros(6)}, "tau_max is 0.0 N m"),
        ({"qdd_max": np.ones(5)}, "qdd_max: expected 6 numbers"),
    ],
)
def test_a_model_that_cannot_be_is_refused(change: dict, expected: str) -> None:
    model = RobotModel.ur("ur5e")
    fields = {name: getattr(model, name) for name in RobotModel.__dataclass_fields__}
    assert expected in message(RobotModel, **(fields | change))


@pytest.mark.parametrize(
    ("mass", "com", "expected"),
    [
        (0, [0, 0, 0], "mass is 0.0 kg"),
        (math.nan, [0, 0, 0], "mass"),
        (1, [0, 0], "com: expected 3"),
    ],
)
def test_a_link_that_cannot_be_is_refused(mass, com, expected) -> None:
    said = message(Link, "forearm", mass, com, np.eye(3))
    assert "'forearm'" in said and expected in said


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ([0, 0, 0, 0, 0], "expected 6 numbers, got an array of shape (5,)"),
        (np.zeros((6, 1)), "got an array of shape (6, 1)"),
        ([0, 0, 0, 0, 0, math.nan], "must be finite"),
        ([0, 0, 0, 0, 0, math.inf], "must be finite"),
        ("home", "expected 6 numbers, got 'home'"),
        (["0"] * 6, "expected 6 numbers"),
        ([True] * 6, "expected 6 numbers"),
        ([None] * 6, "expected 6 numbers"),
        ([1j] * 6, "expected 6 numbers"),
        ([[1], [1, 2], 0, 0, 0, 0], "expected 6 numbers"),
        (None, "got None"),
    ],
)
def test_joint_positions_that_are_none_are_refused(q, expected: str) -> None:
    model = RobotModel.ur("ur5e")
    for method in (model.fk, model.jacobian):
        said = message(method, q)
        assert said.startswith("q (joint positions, rad)") and expected in said


# --- transforms -------------------------------------------------------------------------------


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
        (np.eye(3), "expected 4 x 4 numbers, got an array of shape (3, 3)"),
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
        ([0, 0, 0], [1, 0, 0], "orientation (w, x, y, z): expected 4 numbers"),
        ([0, 0, 0], [math.nan, 0, 0, 0], "must be finite"),
        ([0, 0], [1, 0, 0, 0], "position: expected 3 numbers"),
        ([0, 0, math.inf], [1, 0, 0, 0], "position: every number must be finite"),
    ],
)
def test_a_pose_that_is_none_is_refused(position, wxyz, expected: str) -> None:
    assert expected in message(transform, position, wxyz)


# --- calibration ------------------------------------------------------------------------------

LINKS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")
UR5E = dict(
    zip(
        LINKS,
        [
            (0, 0, 0.1625, 0, 0, 0),
            (0, 0, 0, math.pi / 2, 0, 0),
            (-0.425, 0, 0, 0, 0, 0),
            (-0.3922, 0, 0.1333, 0, 0, 0),
            (0, -0.0997, 0, math.pi / 2, 0, 0),
            (0, 0.0996, 0, -math.pi / 2, 0, 0),
        ],
        strict=True,
    )
)


def calibration(origins: dict) -> str:
    text = "kinematics:\n"
    for link, numbers in origins.items():
        pairs = zip(("x", "y", "z", "roll", "pitch", "yaw"), numbers, strict=True)
        text += f"  {link}:\n" + "".join(f"    {key}: {value}\n" for key, value in pairs)
    return text + "  hash: calib_1\n"


def test_a_calibration_is_read_from_text_path_and_file_name(tmp_path: Path) -> None:
    shifted = UR5E | {"wrist_3": (0.001, 0.0996, 0.002, -math.pi / 2, 0, 0)}
    file = tmp_path / "calibration.yaml"
    file.write_text(calibration(shifted))
    nominal = RobotModel.ur("ur5e")
    expected = nominal.with_calibration(calibration(shifted)).fk(nominal.home)
    assert 0.002 < np.linalg.norm((expected - nominal.fk(nominal.home))[:3, 3]) < 0.003
    for source in (file, str(file)):
        calibrated = RobotModel.ur("ur5e", calibration=source)
        np.testing.assert_array_equal(calibrated.fk(nominal.home), expected)
        assert calibrated.links and (calibrated.qd_max == nominal.qd_max).all()


def test_a_calibration_serves_an_arm_read_from_a_urdf_too() -> None:
    nominal = RobotModel.ur("ur5e")
    urdf = nominal.to_urdf()
    for prefix in ("", "left_"):
        named = urdf
        for word in ("base_link", "_joint"):
            named = named.replace(f'"{word}', f'"{prefix}{word}')
        for joint in nominal.joint_names:
            named = named.replace(f'"{joint}"', f'"{prefix}{joint}"')
        model = RobotModel.from_urdf(named, base=f"{prefix}base_link")
        assert model.joint_names[0] == f"{prefix}shoulder_pan_joint"
        np.testing.assert_allclose(model.home, nominal.home)
        calibrated = model.with_calibration(calibration(UR5E))
        q = np.arange(6.0)
        np.testing.assert_allclose(calibrated.fk(q), nominal.fk(q), atol=1e-12)


def test_numbers_that_yaml_takes_for_words_are_numbers() -> None:
    text = calibration(UR5E).replace("z: 0\n", "z: 1e-12\n")
    assert "1e-12" in text
    RobotModel.ur("ur5e").with_calibration(text)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("no_such_file.yaml", "'no_such_file.yaml': cannot be read (No such file"),
        (Path("no_such_file.yaml"), "cannot be read"),
        (".", "cannot be read"),
        ("nul\0l", "cannot be read"),
        (7, "cannot be read"),
        ("a: [1\n", "this is no YAML"),
        ("[" * 5000 + "\n", "this is no YAML"),
        ("- 1\n- 2\n", "calibration: expected a mapping with 'kinematics', got [1, 2]"),
        ("{}", "calibration: 'kinematics' is missing; there is nothing"),
        ("joints:\n  a: 1\n", "'kinematics' is missing; there is joints"),
        ("kinematics:\n  shoulder: 5\n", "kinematics.shoulder: expected a mapping with 'x', got 5"),
        (calibration(UR5E).replace("forearm", "fore_arm"), "kinematics: 'forearm' is missing"),
        (calibration(UR5E).replace("    yaw: 0\n", "", 1), "kinematics.shoulder: 'yaw' is missing"),
        (
            calibration(UR5E).replace("0.1333", "far"),
            "kinematics.wrist_1.z: expected a number, got 'far'",
        ),
        (calibration(UR5E).replace("0.1333", ".nan"), "kinematics.wrist_1.z: every number must be"),
        (calibration(UR5E).replace("0.1333", "true"), "kinematics.wrist_1.z: expected a number"),
        (calibration(UR5E).replace("0.1333", "[1]"), "kinematics.wrist_1.z: expected a number"),
        (calibration(UR5E).replace("0.1333", "0.2"), "Is it the file of another arm?"),
    ],
)
def test_a_calibration_that_cannot_be_used_says_why(source, expected: str) -> None:
    assert expected in message(RobotModel.ur("ur5e").with_calibration, source)


def test_the_calibration_of_another_arm_is_refused() -> None:
    for name in set(ARMS) - {"ur5e"}:
        assert "another arm" in message(RobotModel.ur, name, calibration=calibration(UR5E))


def test_only_a_ur_arm_can_have_a_ur_calibration() -> None:
    renamed = RobotModel.ur("ur5e").to_urdf().replace("elbow_joint", "knee_joint")
    said = message(RobotModel.from_urdf(renamed).with_calibration, calibration(UR5E))
    assert "knee_joint" in said and "elbow_joint" in said
    moved = RobotModel.ur("ur5e").to_urdf().replace("base_link", "world")
    said = message(RobotModel.from_urdf(moved, base="world").with_calibration, calibration(UR5E))
    assert "'world'" in said and "base_link" in said


# --- URDF -------------------------------------------------------------------------------------

URDF = RobotModel.ur("ur5e").to_urdf()


def test_a_urdf_is_read_from_text_path_and_file_name(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    for source in (URDF, f"\n  {URDF}", file, str(file)):
        assert RobotModel.from_urdf(source).name == "ur5e"


@pytest.mark.parametrize("name", ARMS)
def test_what_we_write_we_read_back(name: str) -> None:
    model = RobotModel.ur(name, X_EP=random_transform(7))
    again = RobotModel.from_urdf(model.to_urdf(), X_EP=model.X_EP, joint_acceleration=model.qdd_max)
    assert (again.name, again.base, again.tip) == (model.name, model.base, model.tip)
    assert again.joint_names == model.joint_names
    for field in ("X_chain", "q_min", "q_max", "qd_max", "qdd_max", "tau_max", "X_EP", "X_ES"):
        np.testing.assert_allclose(
            getattr(again, field), getattr(model, field), rtol=0, atol=1e-14, err_msg=field
        )
    for ours, theirs in zip(again.links, model.links, strict=True):
        assert ours.name == theirs.name and ours.mass == theirs.mass
        np.testing.assert_allclose(ours.com, theirs.com, atol=1e-15)
        np.testing.assert_allclose(ours.inertia, theirs.inertia, atol=1e-15)


def test_a_probe_is_written_only_where_there_is_a_tool() -> None:
    assert '"probe"' not in URDF
    assert '<link name="probe" />' in RobotModel.ur("ur5e", X_EP=transform([0, 0, 1])).to_urdf()


def test_names_that_meet_are_kept_apart() -> None:
    """The last link may be the tip, and a link may be called probe already."""
    model = RobotModel.from_urdf(URDF, tip="wrist_3_link", X_EP=transform([0, 0, 1]))
    text = model.to_urdf()
    assert '"wrist_3_link_"' in text
    q = np.arange(6.0)
    again = RobotModel.from_urdf(text, tip="wrist_3_link", X_EP=transform([0, 0, 1]))
    np.testing.assert_allclose(again.fk(q), model.fk(q), atol=1e-13)
    clash = RobotModel.from_urdf(URDF.replace("tool0", "probe"), tip="probe", X_EP=model.X_EP)
    assert '"probe_"' in clash.to_urdf()


def test_a_urdf_without_inertias_makes_a_model_without_links() -> None:
    text = URDF.replace("<mass value", "<weight value")
    model = RobotModel.from_urdf(text)
    assert model.links == ()
    assert RobotModel.from_urdf(model.to_urdf()).links == ()
    assert "kg" not in repr(model)


def test_a_continuous_joint_has_no_position_limits() -> None:
    model = RobotModel.from_urdf(URDF.replace('"revolute"', '"continuous"'))
    assert (model.q_min == -np.inf).all() and (model.q_max == np.inf).all()
    assert 'type="continuous"' in model.to_urdf()


def test_an_effort_that_is_not_given_is_no_limit() -> None:
    model = RobotModel.from_urdf(URDF.replace("effort=", "weight="))
    assert (model.tau_max == np.inf).all()
    assert 'effort="1000000000.0"' in model.to_urdf()


def test_acceleration_comes_from_the_caller() -> None:
    assert (RobotModel.from_urdf(URDF).qdd_max == 10).all()
    six = [1, 2, 3, 4, 5, 6]
    assert RobotModel.from_urdf(URDF, joint_acceleration=six).qdd_max.tolist() == six
    for wrong in (0, -1, math.nan, "fast", [1, 2], [[1], [1, 2]], None, True):
        assert "acceleration" in message(
            RobotModel.from_urdf, URDF, joint_acceleration=wrong
        ) or "qdd_max" in message(RobotModel.from_urdf, URDF, joint_acceleration=wrong)


def test_home_of_any_other_arm_is_zero_put_inside_the_limits() -> None:
    text = URDF.replace("elbow_joint", "knee_joint").replace(
        'lower="-3.141592653589793"', 'lower="0.5"'
    )
    assert RobotModel.from_urdf(text).home.tolist() == [0, 0, 0.5, 0, 0, 0]


def test_an_axis_that_is_nearly_of_length_one_is_put_right() -> None:
    text = URDF.replace('<axis xyz="0 0 1" />', '<axis xyz="0 0 1.0009" />')
    q = np.arange(6.0)
    np.testing.assert_allclose(
        RobotModel.from_urdf(text).fk(q), RobotModel.ur("ur5e").fk(q), atol=1e-13
    )


def test_meshes_and_other_elements_are_not_looked_at() -> None:
    noise = """<gazebo reference="x"><material>Red</material></gazebo>
      <material name="m"><color rgba="a b c d"/></material>
      <transmission name="t"><joint name="elbow_joint"/></transmission>
      <ros2_control name="c" type="system"><joint name="elbow_joint"/></ros2_control>"""
    mesh = """<visual><origin xyz="1"/><geometry><mesh filename="package://no/such.dae"/>
      </geometry></visual><inertial>"""
    text = URDF.replace("</robot>", f"{noise}</robot>").replace("<inertial>", mesh)
    q = np.arange(6.0)
    np.testing.assert_allclose(
        RobotModel.from_urdf(text).fk(q), RobotModel.ur("ur5e").fk(q), atol=1e-13
    )


def test_what_the_first_line_says_of_the_encoding_of_a_text_does_not_matter() -> None:
    text = URDF.replace("utf-8", "utf-16").replace('"ur5e"', '"мой ur5e"')
    assert RobotModel.from_urdf(text).name == "мой ur5e"


def broken(old: str, new: str, count: int = 1) -> str:
    assert old in URDF
    return URDF.replace(old, new, count)


ELBOW = '<joint name="elbow_joint" type="revolute">'
LIMIT = ' velocity="3.141592653589793"'
LAUGHS = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
  <!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">
  <!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;"><!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;">
  ]><robot name="&g;"><link name="&g;"/></robot>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "cannot be read"),
        ("no_such_arm.urdf", "'no_such_arm.urdf': cannot be read (No such file"),
        (Path("."), "cannot be read"),
        (b"<robot/>", "cannot be read"),
        (None, "cannot be read"),
        ("<robot", "this is no XML"),
        (broken("</link>", "</lnik>"), "this is no XML: Opening and ending tag mismatch"),
        (broken("</link>", "</lnik>"), "line 10, column"),
        ("\n\n" + broken("</link>", "</lnik>"), "line 12, column"),
        ("<robot/><robot/>", "this is no XML"),
        ("<a>" * 5000, "this is no XML"),
        ("<robot name='\0'/>", "this is no XML"),
        (LAUGHS, "URDF: "),
        ("<!DOCTYPE robot SYSTEM 'file:///etc/hostname'><robot name='x'/>", "DOCTYPE"),
        ("<html/>", "line 1: expected <robot>, got <html>"),
        ("<robot name='x' xmlns:xacro='http://x/xacro'><xacro:arm/></robot>", "run it through"),
        ("<robot/>", "line 1: <robot> has no name"),
        ("<robot name='x'/>", "no link 'base_link' to be the base"),
        (broken('<link name="forearm_link">', "<link>"), "<link> has no name"),
        (broken(ELBOW, '<joint type="revolute">'), "<joint> has no name"),
        (
            broken('<link name="tool0" />', '<link name="base_link" />'),
            "2 links are called 'base_link'",
        ),
        (broken("elbow_joint", "wrist_1_joint"), "2 joints are called 'wrist_1_joint'"),
        (
            broken('<parent link="upper_arm_link" />', ""),
            "the parent of joint 'elbow_joint' is None",
        ),
        (
            broken('<child link="forearm_link" />', '<child link="foram_link" />'),
            "the child of joint 'elbow_joint' is 'foram_link', which is no link."
            " Did you mean 'forearm_link'?",
        ),
        (
            broken('<child link="tool0" />', '<child link="forearm_link" />'),
            "link 'forearm_link' is the child of two joints, 'elbow_joint' and 'wrist_3_link-",
        ),
        (
            broken('xyz="-0.425 0.0', 'xyz="nan 0.0'),
            "xyz='nan 0.0 0.0' of <joint/origin> must be 3",
        ),
        (broken('xyz="-0.425 0.0', 'xyz="1e999 0.0'), "must be 3 finite numbers"),
        (broken('xyz="-0.425 0.0', 'xyz="0.0'), "must be 3 finite numbers"),
        (broken('xyz="-0.425 0.0', 'xyz="${a2} 0.0'), "must be 3 finite numbers"),
        (
            broken(LIMIT, ' velocity="fast"'),
            "velocity='fast' of <joint/limit> must be 1 finite number",
        ),
        (broken(LIMIT, ""), "joint 'shoulder_pan_joint': no velocity limit"),
        (broken(LIMIT, ' velocity="0"'), "joint 'shoulder_pan_joint': qd_max is 0.0"),
        (broken(' lower="-6.283185307179586"', ""), "needs position limits"),
        (broken(' lower="-6.283185307179586"', ' lower="7"'), "position limits are 7.0 to 6.28"),
        (broken('value="8.058"', 'value="-8.058"'), "link 'upper_arm_link': mass is -8.058"),
        (broken('value="8.058"', 'value="heavy"'), "of <link/inertial/mass> must be 1 finite"),
        (
            broken("0 0 1", "0 0 0"),
            "axis of joint 'shoulder_pan_joint' is [0.0, 0.0, 0.0], of length 0",
        ),
        (broken("0 0 1", "0 0 2"), "of length 2; it must have length 1"),
        (broken('"revolute"', '"prismatic"'), "joint 'shoulder_pan_joint' is prismatic"),
        (broken('"revolute"', '"floating"'), "joint 'shoulder_pan_joint' is floating"),
        (broken(' type="revolute"', ""), "joint 'shoulder_pan_joint' is None"),
        (broken(ELBOW, f'{ELBOW}<mimic joint="wrist_1_joint" />'), "'elbow_joint' mimics another"),
        (
            broken('"revolute"', '"fixed"'),
            "5 moving joints from 'base_link' to 'tool0' (shoulder_lift_joint, elbow_joint,",
        ),
        (
            broken(
                'name="wrist_3_link-tool0" type="fixed"', 'name="seventh" type="continuous"'
            ).replace("</joint>\n</robot>", f'<axis xyz="0 0 1"/><limit{LIMIT}/></joint></robot>'),
            "7 moving joints from 'base_link' to 'tool0'",
        ),
    ],
)
def test_a_urdf_that_cannot_be_used_says_why(text, expected: str) -> None:
    assert expected in message(RobotModel.from_urdf, text)


def test_an_unknown_link_is_answered_with_those_there_are() -> None:
    said = message(RobotModel.from_urdf, URDF, tip="tool")
    assert "no link 'tool' to be the tip" in said and "Did you mean 'tool0'?" in said
    assert "wrist_3_link" in said and "base_link" in said
    assert "to be the base" in message(RobotModel.from_urdf, URDF, base="world")


def test_the_base_must_be_above_the_tip() -> None:
    said = message(RobotModel.from_urdf, URDF, base="tool0", tip="base_link")
    assert "'tool0' is not above 'base_link'" in said
    assert "0 moving joints" in message(RobotModel.from_urdf, URDF, base="tool0", tip="tool0")


def test_a_urdf_that_bites_its_tail_is_refused() -> None:
    tail = '<joint name="tail" type="fixed"><parent link="tool0"/><child link="base_link"/></joint>'
    text = URDF.replace("</robot>", f'<link name="world"/>{tail}</robot>')
    assert "is not above" in message(RobotModel.from_urdf, text, base="world")


def test_every_error_is_one_of_ours() -> None:
    assert issubclass(ModelError, AdmittanceError)


def test_a_joint_without_a_speed_in_the_urdf_takes_the_one_that_is_given():
    text = RobotModel.ur("ur3e").to_urdf()
    lines = [line for line in text.splitlines() if "<limit" not in line or "lower" in line]
    bare = "\n".join(lines)
    assert "joint_velocity" in message(RobotModel.from_urdf, bare)
    model = RobotModel.from_urdf(bare, joint_velocity=2.0)
    assert model.qd_max[5] == 2.0
    assert np.isinf(model.q_max[5])
