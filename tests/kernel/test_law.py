"""The admittance law against analytic answers: step by step, axis by axis, force by force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from tests.kernel.support import PUSH, along, in_law_axes
from tests.support import (
    ANGULAR,
    AXES,
    LINEAR,
    controller_of,
    free_config,
    lengths,
    names_in,
    pose,
    random_pose,
    run,
    seconds_in_law,
    turned,
)
from ur_admittance import Controller, RobotModel

FRAMES = ("probe", "base")

TIMINGS = ("500 Hz", "125 Hz", "jittered")

M = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])

K = np.array([200.0, 200.0, 200.0, 20.0, 20.0, 20.0])

each_axis = pytest.mark.parametrize("axis", range(6), ids=AXES)

each_frame = pytest.mark.parametrize("frame", FRAMES)

each_timing = pytest.mark.parametrize("timing", TIMINGS)


def clock(timing: str, seconds: float) -> tuple[float, np.ndarray]:
    """Control rate [Hz] and the lengths of the ticks [s]."""
    if timing == "jittered":
        return 500.0, 0.002 * np.random.default_rng(7).uniform(0.5, 1.5, round(seconds * 500))
    rate = float(timing.split()[0])
    return rate, np.full(round(seconds * rate), 1 / rate)


def responses(mass: float, damping: float, stiffness: float, force: float, t: np.ndarray):
    """Offset and rate of `m a + d v + k x = F` from rest at the times t, by matrix exponentials."""
    A = np.array([[0, 1, 0], [-stiffness / mass, -damping / mass, force / mass], [0, 0, 0]])
    end = expm(A * np.asarray(t)[:, None, None])[:, :, 2]
    return end[:, 0], end[:, 1]


def axis_vector(axis: int, values: np.ndarray) -> np.ndarray:
    vectors = np.zeros((len(values), 6))
    vectors[:, axis] = values
    return vectors


# --- analytic answers ---


@each_axis
@each_frame
@each_timing
def test_a_push_on_a_free_axis_rises_to_force_over_damping(axis, frame, timing) -> None:
    rate, dts = clock(timing, 0.4)
    D = np.array([80, 80, 80, 4, 4, 4.0])
    config = free_config(**{"admittance.frame": frame, "control_rate": rate})
    controller = controller_of(config)
    sensed = in_law_axes(controller, frame, along(axis))
    history = run(controller, controller.model.home, sensed, len(dts), dts)
    t = seconds_in_law(history)
    F, d, m = PUSH[axis], D[axis], M[axis]
    speed = F / d * -np.expm1(-d * t / m)
    way = F / d * (t + m / d * np.expm1(-d * t / m))
    assert names_in(history) == set()
    np.testing.assert_allclose(history["offset_rate"], axis_vector(axis, speed), atol=1e-9)
    np.testing.assert_allclose(history["offset"], axis_vector(axis, way), atol=1e-9)
    R_WL = history["X_WD"][0, :3, :3] if frame == "probe" else np.eye(3)
    V = [turned(R_WL, v) for v in axis_vector(axis, speed)]
    np.testing.assert_allclose(history["V_WP_cmd"], V, atol=1e-9)


def check_spring(axis: int, frame: str, timing: str, ratio: float) -> None:
    rate, dts = clock(timing, 0.4)
    config = free_config(
        **{
            "admittance.frame": frame,
            "control_rate": rate,
            "admittance.stiffness": K,
            "admittance.damping": None,
            "admittance.damping_ratio": [ratio] * 6,
        }
    )
    controller = controller_of(config)
    sensed = in_law_axes(controller, frame, along(axis))
    history = run(controller, controller.model.home, sensed, len(dts), dts)
    assert names_in(history) == set()
    some = slice(None, None, len(dts) // 10)
    t, history = seconds_in_law(history)[some], history[some]
    d = 2 * ratio * math.sqrt(M[axis] * K[axis])
    x, v = responses(M[axis], d, K[axis], PUSH[axis], t)
    np.testing.assert_allclose(history["offset"], axis_vector(axis, x), atol=1e-9)
    np.testing.assert_allclose(history["offset_rate"], axis_vector(axis, v), atol=1e-9)
    R_WL = history["X_WD"][0, :3, :3] if frame == "probe" else np.eye(3)
    V = [turned(R_WL, row) for row in axis_vector(axis, v)]
    np.testing.assert_allclose(history["V_WP_cmd"], V, atol=1e-9)


@each_axis
@each_frame
@each_timing
def test_a_push_on_a_spring_axis_answers_like_mass_damper_and_spring(axis, frame, timing) -> None:
    """Underdamped, critically damped and overdamped."""
    for ratio in (0.3, 1.0, 2.0):
        check_spring(axis, frame, timing, ratio)


@pytest.mark.parametrize("axis", [0, 4], ids=["x", "ry"])
@pytest.mark.parametrize("off", [1e-12, 1e-9, 1e-6, 1e-4])
def test_nothing_happens_where_the_formula_changes_at_critical_damping(axis, off) -> None:
    for ratio in (1 - off, 1 + off):
        check_spring(axis, "base", "500 Hz", ratio)


def error_after(integrator: str, axis: int, dt: float, seconds: float = 0.1) -> float:
    """How far the offset of a stiff axis (100 rad/s) is from the analytic one at the end."""
    mass, damping, stiffness = M[axis] / 8, 20 * M[axis] / 8, 1e4 * M[axis] / 8
    config = free_config(
        **{
            "admittance.integrator": integrator,
            "admittance.mass": M / 8,
            "admittance.damping": 20 * M / 8,
            "admittance.stiffness": 1e4 * M / 8,
        }
    )
    controller = controller_of(config)
    sensed = in_law_axes(controller, "probe", along(axis, 0.1))
    history = run(controller, controller.model.home, sensed, round(seconds / dt) + 1, dt)
    x, _ = responses(mass, damping, stiffness, 0.1 * PUSH[axis], seconds_in_law(history)[-1:])
    return abs(history["offset"][-1, axis] - x[0])


@each_axis
@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("semi_implicit_euler", 1)])
def test_an_approximate_integrator_converges_with_its_order(integrator, order, axis) -> None:
    errors = [error_after(integrator, axis, 0.002 / 2**k) for k in range(4)]
    ratios = [coarse / fine for coarse, fine in itertools.pairwise(errors)]
    assert ratios[-1] == pytest.approx(2**order, rel=0.12), ratios
    assert error_after("exact", axis, 0.002) < 1e-12


masses = st.floats(-2, 3).map(lambda e: 10.0**e)

dampings = st.floats(-3, 5).map(lambda e: 10.0**e)

stiffnesses = st.one_of(st.just(0.0), st.floats(-3, 5).map(lambda e: 10.0**e))

periods = st.floats(-6, -2).map(lambda e: 10.0**e)


@settings(max_examples=60)
@given(masses, dampings, stiffnesses, periods, st.integers(0, 5))
def test_the_exact_step_never_gains_energy_whatever_the_gains_and_dt(m, d, k, dt, axis) -> None:
    """Push for some ticks, let go: from then on the mass and the spring only lose."""
    config = free_config(
        **{
            "admittance.mass": [m] * 6,
            "admittance.damping": [d] * 6,
            "admittance.stiffness": [k] * 6,
        }
    )
    controller = controller_of(config)
    wrench = np.zeros((60, 6))
    wrench[1:10, axis] = 0.2 * min(m, d)  # slow enough to stay clear of all limits
    history = run(controller, controller.model.home, wrench, 60, dt)
    assert names_in(history) == set()
    energy = 0.5 * m * history["offset_rate"] ** 2 + 0.5 * k * history["offset"] ** 2
    energy = energy[9:].sum(axis=1)
    assert np.isfinite(energy).all()
    assert (np.diff(energy) <= 1e-12 * energy[0]).all()


# --- linearity and decoupling ---


@each_frame
@pytest.mark.parametrize("stiff", [False, True], ids=["free", "spring"])
def test_doubling_the_force_doubles_the_motion(frame: str, stiff: bool) -> None:
    config = free_config(
        **{"admittance.frame": frame, "admittance.stiffness": K if stiff else 0 * K}
    )
    for axis in range(6):
        single, double = (
            run(c, c.model.home, in_law_axes(c, frame, along(axis, size)), 200)
            for size, c in ((0.5, controller_of(config)), (1.0, controller_of(config)))
        )
        np.testing.assert_allclose(double["offset"], 2 * single["offset"], atol=1e-12)
        np.testing.assert_allclose(double["V_WP_cmd"], 2 * single["V_WP_cmd"], atol=1e-12)


@each_frame
def test_the_answer_to_two_forces_is_the_sum_of_the_answers(frame: str) -> None:
    rng = np.random.default_rng(11)
    config = free_config(**{"admittance.frame": frame, "admittance.stiffness": K})
    for axis in (3, 4, 5):  # turns about one axis add up; about several they do not commute
        a, b = rng.uniform(-0.5, 0.5, (2, 200, 6)) * PUSH
        for forces in (a, b):
            forces[:, ANGULAR] *= np.eye(3)[axis - 3]
        runs = []
        for forces in (a, b, a + b):
            c = controller_of(config)
            sensed = in_law_axes(c, frame, lambda k, forces=forces: forces[k])
            runs.append(run(c, c.model.home, sensed, 200))
        for name in ("offset", "offset_rate", "V_WP_cmd"):
            total = runs[0][name] + runs[1][name]
            np.testing.assert_allclose(runs[2][name], total, atol=1e-12)


any_angle = st.floats(-2.5, 2.5)

bent = st.builds(math.copysign, st.floats(0.6, 2.4), st.sampled_from([-1, 1]))

joint_angles = st.tuples(any_angle, any_angle, bent, any_angle, bent, any_angle).map(np.array)

seeds = st.integers(0, 2**31)


def away_from_singularities(model: RobotModel, q: np.ndarray) -> None:
    assume(np.linalg.svd(model.jacobian(q), compute_uv=False)[-1] > 0.08)


@settings(max_examples=40)
@given(joint_angles, seeds, st.sampled_from(FRAMES), st.booleans())
def test_a_pure_force_causes_no_rotation(q, seed, frame, far_sensor) -> None:
    """In any configuration, with any tool, wherever the sensor sits."""
    rng = np.random.default_rng(seed)
    X_EP = random_pose(rng)
    X_ES = random_pose(rng) if far_sensor else X_EP
    model = RobotModel.ur("ur5e", X_EP=X_EP, X_ES=X_ES)
    away_from_singularities(model, q)
    X_SP = np.linalg.inv(X_ES) @ X_EP
    f_S = X_SP[:3, :3] @ rng.uniform(-5, 5, 3)
    reading = np.concatenate([f_S, np.cross(X_SP[:3, 3], f_S)])
    controller = Controller(model, free_config(**{"admittance.frame": frame}))
    controller.activate(q)
    history = run(controller, q, reading, 100)
    assert "singularity" not in names_in(history)
    assert lengths(history["V_WP_cmd"][-1, LINEAR]) > 1e-6
    np.testing.assert_allclose(history["offset"][:, ANGULAR], 0, atol=1e-12)
    np.testing.assert_allclose(history["V_WP_cmd"][:, ANGULAR], 0, atol=1e-12)
    R_WC = history["X_WC"][:, :3, :3]
    np.testing.assert_allclose(R_WC, np.broadcast_to(R_WC[0], R_WC.shape), atol=1e-12)


@settings(max_examples=40)
@given(joint_angles, seeds, st.sampled_from(FRAMES), st.floats(0, 0.5))
def test_a_pure_torque_leaves_the_tool_point_still(q, seed, frame, tool_length) -> None:
    rng = np.random.default_rng(seed)
    X_EP = pose(Rotation.random(None, rng), [0, 0, tool_length])
    model = RobotModel.ur("ur5e", X_EP=X_EP)
    away_from_singularities(model, q)
    torque = np.concatenate([np.zeros(3), rng.uniform(-0.4, 0.4, 3)])
    controller = Controller(model, free_config(**{"admittance.frame": frame}))
    controller.activate(q)
    history = run(controller, q, torque, 200)
    assume("singularity" not in names_in(history))
    assert lengths(history["V_WP_cmd"][-1, ANGULAR]) > 1e-6
    p_WC = history["X_WC"][:, :3, 3]
    np.testing.assert_allclose(p_WC, np.broadcast_to(p_WC[0], p_WC.shape), rtol=0, atol=1e-9)
    np.testing.assert_allclose(history["V_WP_cmd"][:, LINEAR], 0, atol=1e-9)


@each_frame
def test_with_tracking_the_arm_itself_keeps_the_tool_point_still_under_a_torque(frame) -> None:
    """Joint speeds held for a whole tick stray a little; the loop takes the arm back."""
    model = RobotModel.ur("ur5e", X_EP=pose(np.eye(3), [0, 0, 0.3]))
    config = free_config(**{"admittance.frame": frame, "tracking.velocity_gain": 5.0})
    controller = controller_of(config, model)
    history = run(controller, model.home, np.array([0, 0, 0, 0.5, -0.3, 0.4]), 1000)
    p_WP = history["X_WP"][:, :3, 3]
    turn = Rotation.from_matrix(history["X_WP"][-1, :3, :3] @ history["X_WP"][0, :3, :3].T)
    assert turn.magnitude() > 0.2
    assert lengths(p_WP - p_WP[0]).max() < 2e-5
