"""What the law makes of its offset: feed-forward, engagement, disabled axes, re-anchoring."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from tests.kernel.support import PUSH, along, in_law_axes
from tests.support import (
    ANGULAR,
    AXES,
    LINEAR,
    arm,
    controller_of,
    free_config,
    lengths,
    moved,
    oracle,
    q_after,
    run,
)
from ur_admittance import Controller
from ur_admittance.kernel import bits

FRAMES = ("probe", "base")

M = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])

K = np.array([200.0, 200.0, 200.0, 20.0, 20.0, 20.0])

each_axis = pytest.mark.parametrize("axis", range(6), ids=AXES)

each_frame = pytest.mark.parametrize("frame", FRAMES)


# --- feed-forward ---

# Ticks that grow shorter, until a difference quotient over the last is a derivative. A sudden short
# one would ask the joints for more acceleration than they have.
SHORTENING = 0.004 * 0.5 ** np.arange(1, 16)


def pose_rates(before: np.ndarray, after: np.ndarray, dt: float) -> np.ndarray:
    """The twist, in W axes, that takes one pose to the other in dt."""
    turn = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec()
    return np.concatenate([after[:3, 3] - before[:3, 3], turn]) / dt


def soft_controller(frame: str, q: np.ndarray, orientation=(0, 0, 0)) -> Controller:
    """Springs that 1 Nm turns by two and a half radians."""
    config = free_config(
        **{
            "admittance.frame": frame,
            "admittance.orientation": orientation,
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
@pytest.mark.parametrize("planned", [False, True], ids=["D stands", "D moves, turned axes"])
def test_the_feed_forward_is_the_derivative_of_the_commanded_pose(frame, planned) -> None:
    """At offsets up to three radians, in every direction, while no limit interferes."""
    rng = np.random.default_rng(21)
    dts = np.tile(np.concatenate([np.full(30, 0.004), SHORTENING]), 40)
    largest, checked, worst = 0.0, 0, 0.0
    for q in starts(10, 22):
        controller = soft_controller(frame, q, (0.4, -0.9, 1.3) if planned else (0, 0, 0))
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


def test_a_free_axis_keeps_its_place_in_rotation_too() -> None:
    controller = controller_of(free_config(**{"tracking.velocity_gain": 5.0}))
    pushed = run(controller, arm().home, np.array([0, 0, 0, 0, 0, 0.5]), 300)
    rest = run(controller, q_after(pushed), ticks=1500)
    assert lengths(rest["offset"][-1, ANGULAR]) > 0.05
    assert lengths(rest["V_WP_cmd"][-1]) < 1e-4
