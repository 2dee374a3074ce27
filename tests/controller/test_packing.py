"""What the tick reads: every parameter of the configuration and the arm, in its own terms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.support import arm, random_pose
from ur_admittance import Config, ConfigError, RobotModel
from ur_admittance.config.field import Field
from ur_admittance.controller.packing import pack, repack
from ur_admittance.kernel import bits, layout

# What does not reach the tick: names, what others look at, and what only a rule between values
# needs. A parameter that is neither here nor in the record has no effect.
ELSEWHERE = {
    *("joints", "base_link", "ft_frame", "tip", "clock", "monitor_rate", "dynamic_parameters"),
    *("accept_contact_instability", "environment_stiffness", "loop_delay", "equilibrium"),
    *("arm.delay", "arm.mode_frequency", "output.time_from_start"),
    *("safety.start_force", "safety.start_torque"),
    *(f"payload.{key}" for key in ("verdict", "left_force", "left_torque")),
    *(f"payload.{key}" for key in ("date", "robot", "sensor")),
    *(f"tool.{key}" for key in ("name", "point", "sensor", "radius", "length")),
    *("tool.mesh", "tool.mesh_scale"),
}
# A base on which every one of the others has an effect.
BASE = Config.from_dict(
    {"admittance.integrator": "exact", "payload.noise_force": 0.2, "payload.noise_torque": 0.02}
)


def others(field: Field) -> Iterator[Any]:
    """Values that a parameter might have instead."""
    default = field.default[0] if isinstance(field.default, tuple) else field.default
    ones: list[Any] = {"boolean": [True, False], "choice": [*field.choices], "integer": [7]}.get(
        field.kind, []
    )
    if field.bounds and field.kind == "number":
        low, high = field.bounds
        ones = [low + share * (high - low) for share in (0.001, 0.01, 0.1, 0.5)]
        ones = [default * 1.1, default * 0.9, *ones] if default else ones
    for one in ones:
        yield [one] * field.size if field.size else one


@pytest.mark.parametrize(
    "field", [f for f in Config.fields() if f.name not in ELSEWHERE], ids=lambda f: f.name
)
def test_every_other_parameter_changes_what_the_tick_reads(field: Field) -> None:
    before = pack(BASE, arm()).tobytes()
    if field.name.endswith(".inertia"):
        changes = [{field.name: [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]}]
    else:
        changes = [{field.name: value} for value in others(field)]
    changed = 0
    for change in changes:
        try:
            config = BASE.replace(change)
            changed += pack(config, arm()).tobytes() != before
        except ConfigError:  # against a rule, or more than the arm can
            continue
    assert changed, "no value of it made any difference"


@pytest.mark.parametrize("name", Config.presets())
def test_nothing_is_left_open(name: str) -> None:
    for model in map(RobotModel.ur, RobotModel.arms()):
        record = pack(Config.preset(name), model)[0]
        for field in layout.PARAMS.names or ():
            assert not np.isnan(record[field]).any(), field


def test_the_sensor_in_the_probe_is_one_transform_after_the_inverse_of_another() -> None:
    rng = np.random.default_rng(1)
    X_EP, X_ES = random_pose(rng), random_pose(rng)
    record = pack(Config(), RobotModel.ur("ur5e", X_EP=X_EP, X_ES=X_ES))[0]
    R_EP, R_ES = (Rotation.from_matrix(X[:3, :3]) for X in (X_EP, X_ES))
    np.testing.assert_allclose(record["R_PS"], (R_EP.inv() * R_ES).as_matrix(), atol=1e-14)
    shift = R_EP.inv().apply(X_ES[:3, 3] - X_EP[:3, 3])
    np.testing.assert_allclose(record["p_PS"], shift, atol=1e-14)
    record = pack(Config(), RobotModel.ur("ur5e", X_EP=X_EP, X_ES=X_EP))[0]
    np.testing.assert_array_equal(record["R_PS"], np.eye(3))  # to the last bit


@pytest.mark.parametrize("name", RobotModel.arms())
def test_no_joint_axis_is_ever_farther_from_the_tool_than_the_reach(name: str) -> None:
    rng = np.random.default_rng(2)
    model = RobotModel.ur(name, X_EP=random_pose(rng, 0.2))
    reach, farthest = pack(Config(), model)[0]["reach"], 0.0
    for q in [np.zeros(6), *rng.uniform(-3, 3, (300, 6))]:
        X, joints = np.eye(4), []
        for n in range(6):
            joints.append(X @ model.X_chain[n])
            turn = np.eye(4)
            turn[:3, :3] = Rotation.from_euler("z", q[n]).as_matrix()
            X = joints[-1] @ turn
        p_WP = (X @ model.X_chain[6] @ model.X_EP)[:3, 3]
        farthest = max(farthest, *(np.linalg.norm(p_WP - joint[:3, 3]) for joint in joints))
    assert 0.6 * reach < farthest <= reach


def test_the_gains_are_those_of_the_law() -> None:
    config = Config.from_dict(
        {
            "admittance.mass": [4, 5, 6, 0.4, 0.5, 0.6],
            "admittance.stiffness": [100, 0, 300, 10, 0, 30],
            "admittance.virtual_stiffness": [50] * 6,
            "admittance.damping_ratio": [0.5, 1, 2, 0.5, 1, 2],
            "admittance.orientation": [0.3, -0.2, 0.5],
            "admittance.frame": "base",
            "control_rate": 250,
            "safety.max_tracking_rotation": 0.4,
            "safety.sensor_range": [200, 200, 400, 8, 8, 4],
        }
    )
    record = pack(config, arm())[0]
    K = np.array([100, 50, 300, 10, 50, 30])  # the virtual one, where there is none
    zeta, M = np.array([0.5, 1, 2, 0.5, 1, 2]), record["mass"]
    np.testing.assert_allclose(record["damping"] ** 2, 4 * zeta**2 * M * K)
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_quat(scalar_first=True)
    np.testing.assert_allclose(record["wxyz_task"], turn, atol=1e-15)
    assert record["frame"] == bits.BASE and record["period"] == 0.004
    assert math.acos(record["max_lead_cosine"]) == pytest.approx(0.2)
    np.testing.assert_allclose(1 / record["per_range"], [200, 200, 400, 8, 8, 4])
    given = config.replace({"admittance.damping": [70] * 6})
    np.testing.assert_array_equal(pack(given, arm())[0]["damping"], 70.0)
    np.testing.assert_array_equal(pack(given, arm())[0]["damping_ratio"], -1.0)


def test_joint_limits_are_the_arms_less_the_margin_or_lower_ones_that_were_given() -> None:
    record = pack(Config.from_dict({"limits.joint_margin": 0.1}), arm())[0]
    np.testing.assert_allclose(record["q_max"], arm().q_max - 0.1)
    np.testing.assert_allclose(record["q_min"], arm().q_min + 0.1)
    np.testing.assert_array_equal(record["qd_max"], arm().qd_max)
    slow = {"limits.joint_velocity": [1, 2, 3, 1, 2, 3], "limits.joint_acceleration": 2.5}
    record = pack(Config.from_dict(slow), arm())[0]
    np.testing.assert_array_equal(record["qd_max"], [1, 2, 3, 1, 2, 3])
    np.testing.assert_array_equal(record["qdd_max"], 2.5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limits.joint_velocity": [1, 1, 1, 1, 9, 1]}, "9 rad/s for joint 5 is more than the arm"),
        ({"limits.joint_acceleration": 90.0}, r"limits.joint_acceleration: 90 rad/s\^2"),
    ],
)
def test_more_than_the_arm_can_is_refused_with_what_it_can(changes, words) -> None:
    with pytest.raises(ConfigError, match=words):
        pack(Config.from_dict(changes), arm())


def test_a_margin_that_leaves_no_room_is_refused_with_the_joint() -> None:
    tight = RobotModel.ur("ur3e")
    q_min, q_max = tight.q_min.copy(), tight.q_max.copy()
    q_min[3], q_max[3] = -0.1, 0.1
    narrow = RobotModel(
        tight.name, tight.base, tight.tip, tight.joint_names, tight.X_chain, q_min, q_max,
        tight.qd_max, tight.qdd_max,
    )  # fmt: skip
    with pytest.raises(ConfigError, match=r"joint_margin: 0\.2 rad leaves no room.*wrist_1_joint"):
        pack(Config.from_dict({"limits.joint_margin": 0.2}), narrow)


def test_a_change_makes_its_part_anew_and_leaves_the_others_to_the_last_bit() -> None:
    params = pack(Config(), arm())
    new = Config().replace({"safety.max_force": 90.0, "admittance.mass": [3] * 6})
    before = params.copy()
    assert repack(params, new, ["safety.max_force"]) == ("safety",)
    assert params["max_force"] == 90.0
    np.testing.assert_array_equal(params["mass"], before["mass"])  # nobody said that it changed
    assert repack(params, new, ["admittance.mass", "payload.mass"]) == ("wrench", "law")
    now = params.copy()
    assert repack(params, new, ["loop_delay", "equilibrium"]) == ()
    assert params.tobytes() == now.tobytes()
