"""From the sensor's reading to the force at the probe: weight, bias, inertia, filter, deadbands."""
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import signal
from scipy.spatial.transform import Rotation

from tests.support import (
    ANGULAR,
    LINEAR,
    arm,
    controller_of,
    free_config,
    lengths,
    names_in,
    pose,
    random_pose,
    run,
)
from ur_admittance import Config, ConfigError, Controller, RobotModel

seeds = st.integers(0, 2**31)
GRAVITY = np.array([0.0, 0.0, -9.81])


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    """The inertia about the centre of mass of some body of about 0.1 m and 1 kg."""
    points = rng.normal(scale=0.05, size=(6, 3))
    points -= points.mean(axis=0)
    return np.sum([0.2 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points], axis=0)


def random_payload(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    I = random_inertia(rng)  # noqa: E741
    return {
        "payload.mass": float(rng.uniform(0.1, 5)),
        "payload.center_of_mass": rng.uniform(-0.2, 0.2, 3).tolist(),
        "payload.inertia": [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]],
        "payload.force_bias": rng.uniform(-20, 20, 3).tolist(),
        "payload.torque_bias": rng.uniform(-2, 2, 3).tolist(),
        **more,
    }


def body_in_sensor(config: Config) -> pin.Inertia:
    payload = config.payload
    xx, yy, zz, xy, xz, yz = payload.inertia
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return pin.Inertia(payload.mass, np.array(payload.center_of_mass), about_com)


def reading_of(
    contact: np.ndarray,
    model: RobotModel,
    config: Config,
    R_WP: np.ndarray,
    V_WP: np.ndarray,
    A_WP: np.ndarray,
) -> np.ndarray:
    """What a perfect sensor reports: contact at P, plus what holds the tool against its weight and
    its motion, by Pinocchio's Newton-Euler for one free body fixed to S.

    Args:
        contact: at P, in P axes.
        V_WP: twist of P in W axes.
        A_WP: derivative of that twist: acceleration of the point P, and angular acceleration.
    """
    X_PS = pin.SE3(np.linalg.inv(model.X_EP) @ model.X_ES)
    body = body_in_sensor(config)
    R_PW = R_WP.T
    v, w = R_PW @ V_WP[LINEAR], R_PW @ V_WP[ANGULAR]
    a, alpha = R_PW @ A_WP[LINEAR], R_PW @ A_WP[ANGULAR]
    # spatial acceleration of a body at P: the point's acceleration less w x v; gravity as usual
    g = R_PW @ np.array(config.payload.gravity)
    V_S = X_PS.actInv(pin.Motion(v, w))
    A_S = X_PS.actInv(pin.Motion(a - np.cross(w, v) - g, alpha))
    needed = body * A_S + V_S.cross(body * V_S)
    contact_S = X_PS.actInv(pin.Force(contact[LINEAR], contact[ANGULAR]))
    bias = np.concatenate([config.payload.force_bias, config.payload.torque_bias])
    return contact_S.vector - needed.vector + bias


# --- weight and bias ---


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_weight_and_bias_vanish_and_the_contact_remains(seed: int, tilted: bool) -> None:
    """Any payload, any pose, any place of the sensor, and a base that hangs or leans."""
    rng = np.random.default_rng(seed)
    model = RobotModel.ur("ur5e", X_EP=random_pose(rng), X_ES=random_pose(rng))
    gravity = Rotation.random(None, rng).apply(GRAVITY) if tilted else GRAVITY
    config = free_config(**random_payload(rng, **{"payload.gravity": gravity.tolist()}))
    controller = Controller(model, config)
    q = rng.uniform(-3, 3, 6)
    contact = rng.uniform(-30, 30, 6) * [1, 1, 1, 0.1, 0.1, 0.1]
    reading = reading_of(contact, model, config, model.fk(q)[:3, :3], np.zeros(6), np.zeros(6))
    controller.activate(q)
    out = controller.update(q, reading, 0.002)
    np.testing.assert_allclose(out["F_P"], contact, rtol=0, atol=1e-9)


def test_the_weight_alone_moves_nothing() -> None:
    rng = np.random.default_rng(1)
    model = RobotModel.ur("ur5e", X_EP=random_pose(rng), X_ES=random_pose(rng))
    config = free_config(**random_payload(rng))
    controller = controller_of(config, model)
    still = np.zeros(6)
    R_WP = model.fk(model.home)[:3, :3]
    history = run(controller, model.home, reading_of(still, model, config, R_WP, still, still), 200)
    assert lengths(history["V_WP_cmd"]).max() < 1e-12


def test_the_known_weight_of_a_known_tool() -> None:
    """By hand: 2 kg, 0.1 m down the tool, which looks down at home."""
    config = free_config(**{"payload.mass": 2.0, "payload.center_of_mass": [0.05, 0, 0.1]})
    controller = controller_of(config)
    R_WP = arm().fk(arm().home)[:3, :3]
    np.testing.assert_allclose(R_WP[:, 2], [0, 0, -1], atol=1e-12)
    reading = np.array([0, 0, 19.62, 0, -0.05 * 19.62, 0])
    out = controller.update(arm().home, reading, 0.002)
    np.testing.assert_allclose(out["F_P"], 0, atol=1e-12)


# --- inertia ---


@settings(max_examples=15)
@given(seeds)
def test_the_inertia_of_a_moving_tool_vanishes_and_the_contact_remains(seed: int) -> None:
    """The sensor feels the tool resist the motion that was commanded; the law must not."""
    rng = np.random.default_rng(seed)
    model = RobotModel.ur("ur5e", X_EP=random_pose(rng), X_ES=random_pose(rng))
    q = rng.uniform(-2, 2, 6)
    assume(np.linalg.svd(model.jacobian(q), compute_uv=False)[-1] > 0.1)
    config = free_config(**random_payload(rng, **{"payload.compensate_inertia": True}))
    controller = Controller(model, config)
    controller.activate(q)
    a, b = rng.uniform(-1, 1, (2, 6)) * [8, 8, 8, 0.6, 0.6, 0.6]
    V, A, dt = np.zeros(6), np.zeros(6), 0.002
    for k in range(150):
        contact = a * math.sin(k / 15) + b * math.cos(k / 22)
        reading = reading_of(contact, model, config, model.fk(q)[:3, :3], V, A)
        out = controller.update(q, reading, dt)
        np.testing.assert_allclose(out["F_P"], contact, rtol=0, atol=1e-9)
        A = (out["V_WP_cmd"] - V) / dt
        V = out["V_WP_cmd"].copy()
        q = q + out["qd"] * dt
        if out["status"]:
            return
    assert lengths(V[LINEAR]) > 0 and lengths(A[ANGULAR]) > 0


def test_inertia_is_left_alone_unless_asked_for() -> None:
    config = free_config(**{"payload.mass": 3.0, "payload.gravity": [0, 0, 0]})
    controller = controller_of(config)
    history = run(controller, arm().home, np.array([5.0, 0, 0, 0, 0, 0]), 50)
    np.testing.assert_array_equal(history["F_P"], np.tile([5.0, 0, 0, 0, 0, 0], (50, 1)))


# --- from sensor to probe ---


@settings(max_examples=60)
@given(seeds)
def test_moving_a_wrench_to_the_probe_keeps_its_power(seed: int) -> None:
    """F_S . V_S = F_P . V_P for every rigid motion: wrenches move as the dual of twists."""
    rng = np.random.default_rng(seed)
    X_EP, X_ES = random_pose(rng), random_pose(rng)
    model = RobotModel.ur("ur5e", X_EP=X_EP, X_ES=X_ES)
    controller = controller_of(free_config(), model)
    F_S = rng.uniform(-30, 30, 6)
    F_P = controller.update(model.home, F_S, 0.002)["F_P"].copy()
    X_PS = np.linalg.inv(X_EP) @ X_ES
    R_PS, p_PS = X_PS[:3, :3], X_PS[:3, 3]
    for V_P in rng.normal(size=(6, 6)):
        v, w = V_P[LINEAR], V_P[ANGULAR]
        V_S = np.concatenate([R_PS.T @ (v + np.cross(w, p_PS)), R_PS.T @ w])
        assert pytest.approx(F_P @ V_P, abs=1e-10) == F_S @ V_S
    np.testing.assert_allclose(F_P, pin.SE3(X_PS).act(pin.Force(F_S)).vector, atol=1e-12)


def test_a_sensor_at_the_probe_reports_the_wrench_of_the_probe() -> None:
    model = RobotModel.ur("ur5e", X_EP=random_pose(np.random.default_rng(3)))
    controller = controller_of(free_config(), model)
    F = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    np.testing.assert_array_equal(controller.update(model.home, F, 0.002)["F_P"], F)


# --- filter ---


def filtered(config: Config, samples: np.ndarray, dt: Any) -> np.ndarray:
    """The filter's output for a sequence that begins at the first tick after the seeding one."""
    controller = controller_of(config)
    nothing = np.zeros((1, 6))
    dts = np.concatenate([[0.002], np.broadcast_to(dt, (len(samples),))])
    return run(controller, arm().home, np.vstack([nothing, samples]), dt=dts)["F_S_filt"][1:]


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5, 0.8, 0.999, 1.0])
def test_the_coefficient_is_the_share_of_each_new_sample(alpha: float) -> None:
    samples = np.random.default_rng(4).normal(size=(300, 6))
    ours = filtered(free_config(**{"admittance.filter_coefficient": alpha}), samples, 0.002)
    theirs = signal.lfilter([alpha], [1, alpha - 1], samples, axis=0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("cutoff", [0.5, 5.0, 20.0, 100.0, 249.0])
@pytest.mark.parametrize("dt", [0.002, 0.0007, 0.008])
def test_the_cut_off_is_that_of_a_first_order_low_pass_held_between_samples(cutoff, dt) -> None:
    samples = np.random.default_rng(5).normal(size=(200, 6))
    ours = filtered(free_config(**{"admittance.filter_cutoff_hz": cutoff}), samples, dt)
    tau = 1 / (2 * math.pi * cutoff)
    low_pass: Any = signal.cont2discrete(([1.0], [tau, 1.0]), dt, "zoh")
    numerator, denominator, _ = low_pass
    # SciPy's output at the end of each tick: a sample acts while it is held
    theirs = signal.lfilter(numerator[0, 1:], denominator, samples, axis=0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_the_cut_off_is_where_the_power_has_halved() -> None:
    cutoff, dt = 10.0, 0.001
    t = np.arange(3000) * dt
    config = free_config(**{"admittance.filter_cutoff_hz": cutoff, "control_rate": 1000.0})
    tone = np.outer(np.sin(2 * math.pi * cutoff * t), [1, 0, 0, 0, 0, 0])
    out = filtered(config, tone, dt)[1000:, 0]
    assert np.sqrt(2 * np.mean(out**2)) == pytest.approx(math.sqrt(0.5), rel=0.01)


def test_both_forms_of_the_filter_agree() -> None:
    samples = np.random.default_rng(6).normal(size=(100, 6))
    cutoff = 15.0
    alpha = -math.expm1(-2 * math.pi * cutoff * 0.002)
    a = filtered(free_config(**{"admittance.filter_cutoff_hz": cutoff}), samples, 0.002)
    b = filtered(free_config(**{"admittance.filter_coefficient": alpha}), samples, 0.002)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_the_filter_does_not_care_how_time_is_cut_into_ticks() -> None:
    dts = 0.002 * np.random.default_rng(7).uniform(0.5, 1.5, 400)
    config = free_config(**{"admittance.filter_cutoff_hz": 3.0})
    ours = filtered(config, np.ones((400, 6)), dts)
    exact = -np.expm1(-2 * math.pi * 3.0 * np.cumsum(dts))
    np.testing.assert_allclose(ours, np.tile(exact[:, None], 6), rtol=0, atol=1e-12)


def test_the_filter_starts_from_what_is_felt_at_activation() -> None:
    config = free_config(**{"admittance.filter_cutoff_hz": 1.0})
    controller = controller_of(config)
    F = np.array([5.0, 4, 3, 0.2, 0.1, 0.3])
    np.testing.assert_array_equal(controller.update(arm().home, F, 0.002)["F_S_filt"], F)


def test_a_live_change_of_the_filter_takes_effect_at_the_next_tick() -> None:
    config = free_config(**{"admittance.filter_coefficient": 0.1})
    controller = controller_of(config)
    run(controller, arm().home, ticks=5)
    controller.set(**{"admittance.filter_coefficient": 0.5})
    out = controller.update(arm().home, np.array([8.0, 0, 0, 0, 0, 0]), 0.002)
    assert out["F_S_filt"][0] == pytest.approx(4.0)


# --- deadbands ---


def after_deadband(wrench: Any, **changes: Any) -> np.ndarray:
    controller = controller_of(free_config(**changes))
    return controller.update(arm().home, np.asarray(wrench, float), 0.002)["F_P"].copy()


SOFT = {"admittance.deadband_force": 2.0, "admittance.deadband_torque": 0.5}
HARD = {**SOFT, "admittance.deadband_kind": "hard"}
DIRECTION = np.array([2.0, -1, 2]) / 3


@pytest.mark.parametrize(("kind", "hard"), [(SOFT, False), (HARD, True)], ids=["soft", "hard"])
@pytest.mark.parametrize(("part", "threshold"), [(LINEAR, 2.0), (ANGULAR, 0.5)])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999, 1.0, 1.001, 1.5, 10.0])
def test_a_deadband_swallows_what_is_below_its_threshold(kind, hard, part, threshold, share):
    wrench = np.zeros(6)
    wrench[part] = share * threshold * DIRECTION
    expected = np.zeros(6)
    if share > 1:
        expected[part] = (share if hard else share - 1) * threshold * DIRECTION
    np.testing.assert_allclose(after_deadband(wrench, **kind), expected, rtol=0, atol=1e-12)


@settings(max_examples=60)
@given(st.floats(0, 20), st.floats(0, 20), st.floats(1e-9, 1e-3))
def test_the_soft_deadband_is_continuous_and_never_turns_or_lengthens_a_force(a, b, step) -> None:
    controller = controller_of(free_config(**SOFT))
    outs = []
    for size in (a, a + step):
        wrench = np.concatenate([size * DIRECTION, b * DIRECTION])
        outs.append(controller.update(arm().home, wrench, 0.002)["F_S"].copy())
    assert lengths(outs[1] - outs[0]) <= step + 1e-12
    for out in outs:
        assert lengths(out[LINEAR]) <= a + step
        assert lengths(np.cross(out[LINEAR], DIRECTION)) < 1e-12


def test_force_and_torque_have_their_own_deadbands() -> None:
    wrench = [1.9, 0, 0, 0.6, 0, 0]
    np.testing.assert_allclose(after_deadband(wrench, **SOFT), [0, 0, 0, 0.1, 0, 0], atol=1e-12)
    wrench = [2.1, 0, 0, 0.4, 0, 0]
    np.testing.assert_allclose(after_deadband(wrench, **SOFT), [0.1, 0, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("kind", [SOFT, HARD], ids=["soft", "hard"])
def test_a_pure_force_or_torque_at_the_probe_stays_pure_wherever_the_sensor_is(kind) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        model = RobotModel.ur("ur5e", X_EP=random_pose(rng), X_ES=random_pose(rng))
        controller = controller_of(Config.from_dict({**kind, "safety.max_torque": 1e3}), model)
        X_SP = np.linalg.inv(model.X_ES) @ model.X_EP
        for pure in (np.r_[rng.normal(0, 20, 3), 0, 0, 0], np.r_[0, 0, 0, rng.normal(0, 5, 3)]):
            controller.activate(model.home)
            out = controller.update(model.home, pin.SE3(X_SP).act(pin.Force(pure)).vector, 0.002)
            kept = out["F_P"] @ pure / (pure @ pure)
            assert 0 <= kept <= 1 + 1e-12
            np.testing.assert_allclose(out["F_P"], kept * pure, atol=1e-12)
            again = pin.SE3(X_SP).actInv(pin.Force(np.array(out["F_S"]))).vector
            np.testing.assert_allclose(again, out["F_P"], atol=1e-12)


def test_the_motion_threshold_sets_both_deadbands() -> None:
    config = Config.from_dict({"admittance.min_motion_threshold": 0.7})
    assert config.effective_deadband() == (0.7, 0.7)
    controller = controller_of(config)
    out = controller.update(arm().home, np.array([1.0, 0, 0, 0, 0, 1.0]), 0.002)
    np.testing.assert_allclose(out["F_S"], [0.3, 0, 0, 0, 0, 0.3], atol=1e-12)


def test_a_live_change_of_the_motion_threshold_sets_both_deadbands() -> None:
    controller = controller_of(free_config(**SOFT))
    run(controller, arm().home, ticks=3)
    controller.set(**{"admittance.min_motion_threshold": 0.7})
    out = controller.update(arm().home, np.array([1.0, 0, 0, 0, 0, 1.0]), 0.002)
    np.testing.assert_allclose(out["F_S"], [0.3, 0, 0, 0, 0, 0.3], atol=1e-12)


def test_inside_the_deadband_the_arm_coasts_to_rest_and_does_not_stop_dead() -> None:
    config = Config.from_dict({"admittance.deadband_force": 5.0, "admittance.damping": [40] * 6})
    controller = controller_of(config)
    pushed = run(controller, arm().home, np.array([25.0, 0, 0, 0, 0, 0]), 300)
    fast = lengths(pushed["V_WP_cmd"][-1])
    let_go = run(controller, pushed["q"][-1], np.array([4.9, 0, 0, 0, 0, 0]), 300)
    speed = lengths(let_go["V_WP_cmd"])
    assert fast > 0.1 and speed[0] > 0.5 * fast
    assert (np.diff(speed) <= 1e-12).all() and speed[-1] < 0.1 * fast


def test_a_filter_set_by_both_keys_is_refused() -> None:
    with pytest.raises(ConfigError, match="filter_c"):
        Config.from_dict(
            {"admittance.filter_cutoff_hz": 20.0, "admittance.filter_coefficient": 0.5}
        )


def test_noise_inside_the_deadband_never_moves_the_arm() -> None:
    rng = np.random.default_rng(8)
    controller = controller_of(Config())
    noise = rng.normal(scale=0.3, size=(1000, 6)) * [1, 1, 1, 0.3, 0.3, 0.3]
    history = run(controller, arm().home, noise)
    assert np.abs(history["qd"]).max() < 1e-15
    assert names_in(history) == set()


def test_poses_of_the_sensor_are_those_of_the_model() -> None:
    """A sensor 0.1 m behind the probe: a force at the probe is a force and its moment there."""
    X_EP, X_ES = pose(np.eye(3), [0, 0, 0.1]), np.eye(4)
    model = RobotModel.ur("ur5e", X_EP=X_EP, X_ES=X_ES)
    controller = controller_of(free_config(), model)
    reading = np.array([10.0, 0, 0, 0, 1.0, 0])  # r x f = (0, 0, 0.1) x (10, 0, 0)
    out = controller.update(model.home, reading, 0.002)
    np.testing.assert_allclose(out["F_P"], [10, 0, 0, 0, 0, 0], atol=1e-12)
