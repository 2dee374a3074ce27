"""The admittance law against analytic answers, and its promises: passive, exact, calm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from tests.support import (
    ANGULAR,
    AXES,
    LINEAR,
    arm,
    controller_of,
    free_config,
    lengths,
    moved,
    names_in,
    oracle,
    pose,
    q_after,
    random_pose,
    run,
    seconds_in_law,
    turned,
)
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.kernel import bits

FRAMES = ("probe", "base")
TIMINGS = ("500 Hz", "125 Hz", "jittered")
M = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])
K = np.array([200.0, 200.0, 200.0, 20.0, 20.0, 20.0])
PUSH = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])  # N, Nm; 1 m/s^2 and 1 rad/s^2

each_axis = pytest.mark.parametrize("axis", range(6), ids=AXES)
each_frame = pytest.mark.parametrize("frame", FRAMES)
each_timing = pytest.mark.parametrize("timing", TIMINGS)


def along(axis: int, size: float = 1.0) -> np.ndarray:
    """PUSH on one axis alone."""
    wrench = np.zeros(6)
    wrench[axis] = size * PUSH[axis]
    return wrench


def in_law_axes(controller: Controller, frame: str, wrench):
    """A sensor that feels `wrench` (or `wrench(k)`), given in the axes of the law.

    For a desired pose that stands where the arm started, at home.
    """
    model = controller.model
    R_WL = model.fk(model.home)[:3, :3] if frame == "probe" else np.eye(3)

    def sensed(k: int, q: np.ndarray) -> np.ndarray:
        f = wrench(k) if callable(wrench) else wrench
        return turned(model.fk(q)[:3, :3].T @ R_WL, f)

    return sensed


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


# --- feed-forward ---

# Ticks that grow shorter, until a difference quotient over the last is a derivative. A sudden short
# one would ask the joints for more acceleration than they have.
SHORTENING = 0.004 * 0.5 ** np.arange(1, 16)


def pose_rates(before: np.ndarray, after: np.ndarray, dt: float) -> np.ndarray:
    """The twist, in W axes, that takes one pose to the other in dt."""
    turn = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec()
    return np.concatenate([after[:3, 3] - before[:3, 3], turn]) / dt


def soft_controller(frame: str, q: np.ndarray) -> Controller:
    """Springs that 1 Nm turns by two and a half radians."""
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.mass": [8, 8, 8, 0.8, 0.8, 0.8],
            "admittance.damping": [40, 40, 40, 0.8, 0.8, 0.8],
            "admittance.stiffness": [40, 40, 40, 0.4, 0.4, 0.4],
        }
    )
    controller = Controller(arm(), config)
    controller.activate(q)
    return controller


def starts(count: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        q = rng.uniform(-2, 2, 6)
        if np.linalg.svd(arm().jacobian(q), compute_uv=False)[-1] > 0.15:
            found.append(q)
    return found


@each_frame
@pytest.mark.parametrize("planned", [False, True], ids=["D stands", "D moves"])
def test_the_feed_forward_is_the_derivative_of_the_commanded_pose(frame, planned) -> None:
    """At offsets up to three radians, in every direction, while no limit interferes."""
    rng = np.random.default_rng(21)
    dts = np.tile(np.concatenate([np.full(30, 0.004), SHORTENING]), 40)
    largest, checked, worst = 0.0, 0, 0.0
    for q in starts(10, 22):
        controller = soft_controller(frame, q)
        X_0 = controller.model.fk(q)
        v, w = rng.uniform(-0.05, 0.05, 3), rng.uniform(-0.3, 0.3, 3)
        a, b = rng.normal(size=(2, 3))
        torque = 1.5 * a / np.linalg.norm(a)
        f, time = rng.uniform(-3, 3, 3), 0.0
        before, before_free = X_0, False
        for k, dt in enumerate(dts.tolist()):
            if planned and k % 9 == 1:  # a planner that says where the pose is when the tick begins
                X_WD = moved(X_0, v * time, w * time)
                controller.set_desired(X_WD, np.concatenate([v, w]))
            time += dt
            wrench = np.concatenate([f, torque * min(1, time / 2) + 0.3 * math.sin(3 * time) * b])
            out = controller.update(q, wrench, dt)
            is_free = not out["status"] & bits.LIMITS
            if dt == SHORTENING[-1] and is_free and before_free:
                angle = float(lengths(out["offset"][ANGULAR]))
                if angle <= 3.0:
                    numeric = pose_rates(before, out["X_WC"], dt)
                    worst = max(worst, np.abs(numeric - out["V_WP_law"]).max())
                    largest, checked = max(largest, angle), checked + 1
            before, before_free = out["X_WC"].copy(), is_free
            q = q + out["qd"] * dt
    assert checked > 200 and largest > 2.5
    assert worst < 1e-6


# --- energy ---


def offset_steps(history: np.ndarray, frame: str) -> np.ndarray:
    """How the commanded pose moved against D in each tick, in the law's axes, from the poses."""
    R_WD, R_WC = history["X_WD"][:, :3, :3], history["X_WC"][:, :3, :3]
    R = np.swapaxes(R_WD, 1, 2) @ R_WC if frame == "probe" else R_WC @ np.swapaxes(R_WD, 1, 2)
    turns = Rotation.from_matrix(R[1:] @ np.swapaxes(R[:-1], 1, 2)).as_rotvec()
    return np.hstack([np.diff(history["offset"][:, LINEAR], axis=0), turns])


def random_pushes(size: float, seed: int = 31) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wrenches = rng.uniform(-size, size, (200, 6)) * PUSH
    return np.repeat(wrenches, rng.integers(1, 60, 200), axis=0)[:3000]


LIGHT = np.array([20, 20, 20, 1, 1, 1.0])  # damping


def pushed_about(frame: str, stiffness: np.ndarray, pushes: np.ndarray, **limits):
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.stiffness": stiffness,
            "admittance.damping": LIGHT,
            **limits,
        }
    )
    controller = controller_of(config)
    sensed = in_law_axes(controller, frame, lambda k: pushes[k])
    history = run(controller, controller.model.home, sensed, len(pushes))
    oracle(history, controller)
    return history


@each_frame
@pytest.mark.parametrize("stiff", [False, True], ids=["free", "spring"])
def test_the_work_of_the_force_is_at_least_what_mass_and_spring_store(frame, stiff) -> None:
    stiffness, pushes = K * stiff, random_pushes(0.5)
    history = pushed_about(frame, stiffness, pushes)
    assert names_in(history) == set()
    work = np.cumsum((pushes[1:] * offset_steps(history, frame)).sum(axis=1))
    stored = 0.5 * (M * history["offset_rate"] ** 2 + stiffness * history["offset"] ** 2)
    lost = work - stored.sum(axis=1)[1:]
    assert work.max() > 0.1
    assert lost.min() > -1e-9 and np.diff(lost).min() > -1e-9


HELD_BACK = {
    "slow": {"max_linear_velocity": 0.03, "max_angular_velocity": 0.1},
    "gentle": {"limits.max_linear_acceleration": 0.2, "limits.max_angular_acceleration": 0.5},
    "jerk": {
        "limits.max_linear_acceleration": 2.5,
        "limits.max_angular_acceleration": 5.0,
        "limits.max_linear_jerk": 50.0,
        "limits.max_angular_jerk": 200.0,
    },
    "walls": {
        "limits.workspace_min": (arm().fk(arm().home)[:3, 3] - 0.01).tolist(),
        "limits.workspace_max": (arm().fk(arm().home)[:3, 3] + 0.01).tolist(),
    },
}


@each_frame
@pytest.mark.parametrize("limits", HELD_BACK)
@pytest.mark.parametrize("stiff", [False, True], ids=["free", "spring"])
def test_limits_only_take_energy_away(frame, limits, stiff) -> None:
    """Each tick the law steps from where it was, by its equation; what limits do to its velocity
    after that only shortens it. And the tool never gives more work than it was given.
    """
    stiffness, pushes = K * stiff, random_pushes(1.5)
    history = pushed_about(frame, stiffness, pushes, **HELD_BACK[limits])
    held = names_in(history) & {
        "speed_limit",
        "acceleration_limit",
        "jerk_limit",
        "workspace_limit",
    }
    assert held
    stepped = np.empty((len(pushes) - 1, 6))
    for n in range(6):
        A = np.array([[0, 1, 0], [-stiffness[n] / M[n], -LIGHT[n] / M[n], 1 / M[n]], [0, 0, 0]])
        _, row, _ = expm(A * 0.002)
        before = history["offset"][:-1, n], history["offset_rate"][:-1, n], pushes[1:, n]
        stepped[:, n] = row @ np.stack(before)
    rate = history["offset_rate"][1:]
    assert (np.abs(rate) <= np.abs(stepped) + 1e-9).all(), "the law was made faster"
    assert (rate * stepped >= -1e-12).all(), "the law was turned round"
    shortened = np.abs(rate) < np.abs(stepped) - 1e-9
    assert shortened.any()

    R_WL = history["X_WD"][0, :3, :3] if frame == "probe" else np.eye(3)
    power = [turned(R_WL, f) @ V for f, V in zip(pushes, history["V_WP_cmd"], strict=True)]
    assert np.cumsum(power).min() * 0.002 > -1e-6


def test_ten_seconds_against_a_wall_end_without_a_lunge() -> None:
    home = arm().fk(arm().home)[:3, 3]
    config = Config.from_dict(
        {
            "admittance.stiffness": [100, 100, 100, 10, 10, 10],
            "admittance.frame": "base",
            "limits.workspace_max": [10, 10, float(home[2] + 0.02)],
        }
    )
    controller = controller_of(config)
    pushing = run(controller, arm().home, np.array([0, 0, -60.0, 0, 0, 0]), 5000)  # probe z is down
    assert pushing["X_WP"][-1, 2, 3] == pytest.approx(home[2] + 0.02, abs=2e-3)
    assert lengths(pushing["V_WP_cmd"][-1]) < 1e-3
    lead = lengths(pushing["X_WC"][-1, :3, 3] - pushing["X_WP"][-1, :3, 3])
    assert lead < 5e-3, "the law ran ahead of the arm"
    released = run(controller, q_after(pushing), ticks=500)
    assert released["X_WP"][:, 2, 3].max() <= home[2] + 0.0201
    # 0.02 m of a 100 N/m spring against the damping: no faster than a spring that was never wound
    assert lengths(released["V_WP_cmd"][:, LINEAR]).max() < 0.05
    oracle(np.concatenate([pushing, released]), controller)


# --- engagement, disabled axes ---


@each_axis
def test_the_spring_fades_in(axis: int) -> None:
    """Tick for tick the law of a spring whose stiffness grows linearly for `engage_seconds`."""
    config = free_config(
        **{"admittance.stiffness": K, "admittance.engage_seconds": 0.4, "admittance.frame": "base"}
    )
    controller = controller_of(config)
    sensed = in_law_axes(controller, "base", along(axis))
    history = run(controller, controller.model.home, sensed, 300)
    dt, state = 0.002, np.array([0.0, 0.0, 1.0])
    D = np.array([80, 80, 80, 4, 4, 4.0])
    for k in range(1, 300):
        s = min(1.0, k * dt / 0.4)
        assert history["engagement"][k] == pytest.approx(s, abs=1e-12)
        m, d, stiffness = M[axis], D[axis], s * K[axis]
        A = np.array([[0, 1, 0], [-stiffness / m, -d / m, PUSH[axis] / m], [0, 0, 0]])
        state = expm(A * dt) @ state
        assert history["offset"][k, axis] == pytest.approx(state[0], abs=1e-9)
        assert history["offset_rate"][k, axis] == pytest.approx(state[1], abs=1e-9)


def partly_disabled(frame: str, integrator: str, enabled: np.ndarray) -> np.ndarray:
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.integrator": integrator,
            "admittance.enabled_axes": enabled.tolist(),
            "admittance.stiffness": K * [1, 0, 1, 0, 1, 0],
            "tracking.velocity_gain": 5.0,
        }
    )
    controller = controller_of(config)
    pushes = np.random.default_rng(41).uniform(-1.5, 1.5, (300, 6))
    return run(controller, controller.model.home, pushes)


@each_frame
@pytest.mark.parametrize("integrator", ["exact", "rk4", "semi_implicit_euler"])
def test_a_disabled_axis_stays_at_exactly_zero(frame: str, integrator: str) -> None:
    for enabled in np.random.default_rng(42).random((8, 6)) < 0.5:
        history = partly_disabled(frame, integrator, enabled)
        assert (history["offset_rate"][:, ~enabled] == 0).all()
        assert (history["offset"][:, LINEAR][:, ~enabled[:3]] == 0).all()
        if enabled.any():
            assert lengths(history["offset_rate"]).max() > 0


@each_frame
def test_without_a_rotation_axis_the_commanded_pose_does_not_turn_at_all(frame: str) -> None:
    history = partly_disabled(frame, "exact", np.array([1, 1, 1, 0, 0, 0], bool))
    assert (history["offset"][:, ANGULAR] == 0).all()
    assert (history["X_WC"][:, :3, :3] == history["X_WC"][0, :3, :3]).all()


# --- re-anchoring ---


def pushed_and_let_go(controller: Controller, wrench, ticks: int = 200, after: int = 900):
    pushed = run(controller, controller.model.home, np.asarray(wrench, float), ticks)
    return np.concatenate([pushed, run(controller, q_after(pushed), ticks=after)])


@each_frame
def test_free_axes_fold_into_the_desired_pose_once_at_rest_without_force(frame: str) -> None:
    changes = {"admittance.frame": frame, "tracking.velocity_gain": 5.0}
    controller = controller_of(free_config(**changes, **{"admittance.drift_reset_threshold": 1e-3}))
    twin = controller_of(free_config(**changes))
    wrench = [3, -2, 4, 0.2, -0.3, 0.1]
    history, without = pushed_and_let_go(controller, wrench), pushed_and_let_go(twin, wrench)
    oracle(history, controller)
    folded = (history["offset"] == 0).all(axis=1)
    at = int(np.argmax(folded[200:])) + 200
    assert folded[at:].all() and not folded[1:at].any()
    assert lengths(history["offset_rate"][at - 1, LINEAR]) <= 1.1e-3
    # The desired pose went there; the commanded one did not notice.
    np.testing.assert_allclose(history["X_WD"][at], history["X_WC"][at], atol=1e-12)
    np.testing.assert_allclose(history["X_WC"][: at + 1], without["X_WC"][: at + 1], atol=1e-12)
    assert lengths(history["X_WD"][-1, :3, 3] - history["X_WD"][0, :3, 3]) > 0.01
    assert lengths(history["V_WP_cmd"][-1]) < 1e-6


def test_nothing_is_re_anchored_while_there_is_a_force() -> None:
    controller = controller_of(free_config(**{"admittance.drift_reset_threshold": 0.1}))
    history = run(controller, arm().home, np.array([1e-6, 0, 0, 0, 0, 0]), 300)
    assert lengths(history["V_WP_cmd"]).max() < 1e-6
    np.testing.assert_array_equal(history["X_WD"], np.broadcast_to(history["X_WD"][0], (300, 4, 4)))


@each_frame
def test_a_spring_axis_is_never_re_anchored(frame: str) -> None:
    """Not even one that creeps home more slowly than the threshold: it remembers home."""
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.stiffness": [10, 10, 10, 1, 1, 1],
            "admittance.damping": [400, 400, 400, 40, 40, 40],
            "admittance.drift_reset_threshold": 0.1,
            "tracking.velocity_gain": 5.0,
        }
    )
    controller = controller_of(config)
    history = pushed_and_let_go(controller, [20, -10, 5, 1, -1, 2], after=500)
    creeping = history[200:]
    assert (lengths(creeping["offset_rate"]) < 0.1).all()
    X_WD = history["X_WD"]
    np.testing.assert_array_equal(X_WD, np.broadcast_to(X_WD[0], X_WD.shape))
    assert lengths(creeping["offset"][-1, LINEAR]) > 1e-3
    assert (np.diff(lengths(creeping["offset"][150:, LINEAR])) < 0).all()


@each_frame
def test_free_axes_fold_and_the_spring_axis_beside_them_goes_home(frame: str) -> None:
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.stiffness": [0, 0, 200, 0, 0, 0],
            "admittance.enabled_axes": [True, True, True, False, False, False],
            "admittance.drift_reset_threshold": 1e-3,
            "tracking.velocity_gain": 5.0,
        }
    )
    controller = controller_of(config)
    history = pushed_and_let_go(controller, [3, 0, 3, 0, 0, 0], after=2500)
    X_0, X = history["X_WD"][0], history["X_WD"][-1]
    R_WL = X_0[:3, :3] if frame == "probe" else np.eye(3)
    shift = R_WL.T @ (X[:3, 3] - X_0[:3, 3])
    assert abs(shift[2]) < 1e-12, "the spring's home moved"
    assert lengths(shift[:2]) > 5e-3
    end = R_WL.T @ (history["X_WP"][-1, :3, 3] - X_0[:3, 3])
    assert abs(end[2]) < 1e-4
    oracle(history, controller)


# --- live changes of the gains ---


def gains_in_force(controller: Controller) -> dict[str, np.ndarray]:
    return {n: controller._state[n][0].copy() for n in ("mass", "damping", "stiffness")}


def gains_while(controller: Controller, q: np.ndarray, wrench: np.ndarray, ticks: int):
    rows, history = [], []
    for _ in range(ticks):
        history.append(run(controller, q, wrench, 1))
        q = q_after(history[-1])
        rows.append(gains_in_force(controller))
    gains = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return np.concatenate(history), gains, q


def test_rising_damping_leads_and_falling_damping_trails_the_stiffness() -> None:
    soft = {"admittance.damping": [50] * 6, "admittance.stiffness": [100] * 6}
    hard = {"admittance.damping": [500] * 6, "admittance.stiffness": [2000] * 6}
    controller = controller_of(free_config(**soft))
    run(controller, arm().home, ticks=10)
    controller.set(**hard)
    _, up, q = gains_while(controller, arm().home, np.zeros(6), 260)
    controller.set(**soft)
    _, down, _ = gains_while(controller, q, np.zeros(6), 260)
    for gains, rises in ((up, True), (down, False)):
        damping = (gains["damping"] - 50) / 450  # both as shares of the whole change
        stiffness = (gains["stiffness"] - 100) / 1900
        assert (damping >= stiffness - 1e-12).all()
        assert (np.diff(damping, axis=0) * (1 if rises else -1) >= 0).all()
        assert (np.diff(stiffness, axis=0) * (1 if rises else -1) >= 0).all()
    middle = 125  # half of 0.5 s: the damping has arrived (up), or has not begun (down)
    np.testing.assert_allclose(up["damping"][middle], 500)
    assert (up["stiffness"][middle] < 1100).all()
    np.testing.assert_allclose(down["damping"][middle - 2], 500)
    np.testing.assert_array_equal(up["stiffness"][250], 2000)
    np.testing.assert_array_equal(down["damping"][250], 50)


def test_gains_go_on_from_where_they_are_when_changed_again_on_the_way() -> None:
    controller = controller_of(free_config())
    run(controller, arm().home, ticks=10)
    q, rng, before = arm().home, np.random.default_rng(51), gains_in_force(controller)
    for _ in range(12):
        controller.set(
            **{
                "admittance.mass": rng.uniform(2, 40, 6).tolist(),
                "admittance.damping": rng.uniform(20, 500, 6).tolist(),
                "admittance.stiffness": rng.uniform(0, 2000, 6).tolist(),
            }
        )
        _, gains, q = gains_while(controller, q, np.zeros(6), int(rng.integers(1, 200)))
        for name, largest in (("mass", 40), ("damping", 500), ("stiffness", 2000)):
            steps = np.diff(np.vstack([before[name], gains[name]]), axis=0)
            assert np.abs(steps).max() <= 2 * largest * 0.002 / 0.5 + 1e-9
        before = gains_in_force(controller)


@each_frame
def test_no_live_change_kicks_the_arm(frame: str) -> None:
    """Random jumps of all gains while moving against a stiff surface: the limits hold."""
    rng = np.random.default_rng(61)
    model = arm()
    config = Config.from_dict(
        {"admittance.frame": frame, "environment_stiffness": 0, "safety.max_force": 1000}
    )
    controller = controller_of(config)
    floor = model.fk(model.home)[2, 3] - 0.01

    def touch(k: int, q: np.ndarray) -> np.ndarray:
        X_WP = model.fk(q)
        up = max(0.0, floor - X_WP[2, 3]) * 5000.0
        push = np.array([4 * math.sin(k / 100), 3.0, -12.0 + up])
        return np.concatenate([X_WP[:3, :3].T @ push, 0.5 * np.sin([k / 80, k / 60, k / 70])])

    q, histories = model.home, []
    for _ in range(25):
        histories.append(run(controller, q, touch, int(rng.integers(5, 200))))
        q = q_after(histories[-1])
        changes = {
            "admittance.mass": (M * 10 ** rng.uniform(-0.5, 0.5, 6)).tolist(),
            "admittance.damping": ([400, 400, 400, 8, 8, 8] * rng.uniform(0.7, 2, 6)).tolist(),
            "admittance.stiffness": (K * rng.choice([0, 1, 10], 6)).tolist(),
            "tracking.velocity_gain": float(rng.uniform(0, 10)),
        }
        some = rng.choice(list(changes), int(rng.integers(1, 5)), replace=False)
        controller.set(**{name: changes[name] for name in some})
    history = np.concatenate(histories)
    oracle(history, controller)
    assert (history["mode"] == bits.ACTIVE).all()
    assert history["X_WP"][:, 2, 3].min() < floor, "the surface was never touched"
