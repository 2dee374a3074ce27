"""The desired pose from outside: planners, poses that are none, the equilibrium."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import ur_admittance as ua
from tests.controller.support import HOME
from tests.support import (
    ZERO,
    arm,
    controller_of,
    lengths,
    moved,
    oracle,
    pose,
    q_after,
    run,
)
from ur_admittance import Config, Controller

NAN = math.nan


# --- the desired pose ---

AWAY = {
    "shift": ([0.15, -0.2, 0.1], [0, 0, 0]),
    "turn": ([0, 0, 0], [0, 0, 1.5]),
    "both": ([-0.1, 0.1, 0.1], [0.3, -0.4, 0.8]),
}


@pytest.mark.parametrize("stiff", [False, True])
@pytest.mark.parametrize("way", AWAY)
@pytest.mark.parametrize("jerk", [0.0, 50.0])
def test_a_desired_pose_far_away_is_approached_inside_the_limits_and_reached(
    jerk, way, stiff
) -> None:
    shift, turn = AWAY[way]
    config = Config.from_dict(
        {
            "limits.max_linear_jerk": jerk,
            "limits.max_angular_jerk": 4 * jerk,
            "admittance.stiffness": [300, 300, 300, 30, 30, 30] if stiff else [0] * 6,
        }
    )
    controller = controller_of(config)
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), shift, turn)
    controller.set_desired(X_WD)
    history = run(controller, q, ticks=2500)
    oracle(history, controller)
    X = history["X_WP"]
    np.testing.assert_allclose(X[-1], X_WD, atol=1e-4)
    if any(shift):
        along = (X[:, :3, 3] - X_WD[:3, 3]) @ (np.array(shift) / np.linalg.norm(shift))
        assert along.max() < (3e-3 if jerk else 1e-3), "overshoot"
    off = Rotation.from_matrix(X[:, :3, :3] @ X_WD[:3, :3].T).magnitude()
    first = int(np.argmax(off < 2e-3))
    assert off[first:].max() < 4e-3, "overshoot"


def test_a_planner_that_streams_is_followed() -> None:
    controller = controller_of(Config())
    q, X_0 = HOME, arm().fk(HOME)
    errors = []
    for k in range(1500):
        t = 0.002 * k
        s, ds = 0.05 * (1 - math.cos(2 * t)), 0.1 * math.sin(2 * t)
        controller.set_desired(moved(X_0, [0, s, s]), [0, ds, ds, 0, 0, 0])
        out = controller.update(q, ZERO, 0.002)
        errors.append(lengths(out["X_WP"][:3, 3] - (X_0[:3, 3] + [0, s, s])))
        q = q + out["qd"] * 0.002
    assert max(errors) < 1e-3


BAD_POSES = {
    "NaN": np.full((4, 4), NAN),
    "NaN position": pose(np.eye(3), [0, NAN, 0]),
    "infinite position": pose(np.eye(3), [0, 0, math.inf]),
    "zero": np.zeros((4, 4)),
    "reflected": np.diag([1.0, 1, -1, 1]),
    "skewed": pose(np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1.0]])),
    "scaled": pose(1.01 * np.eye(3)),
    "zero rotation": pose(np.zeros((3, 3))),
    "last row": np.vstack([np.eye(4)[:3], [0, 0, 1, 1]]),
    "3 x 3": np.eye(3),
    "flat": np.eye(4).ravel(),
    "text": "home",
    "nothing": None,
    "complex": np.eye(4) * 1j,
}


@pytest.mark.parametrize("name", BAD_POSES)
def test_a_pose_that_is_none_is_refused_and_nothing_moves(name: str) -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    with pytest.raises(ua.ModelError, match="X_WD"):
        controller.set_desired(BAD_POSES[name])
    history = run(controller, q, ticks=50)
    assert np.abs(history["qd"]).max() < 1e-12
    if BAD_POSES[name] is not None:
        with pytest.raises(ua.ModelError, match="X_WD"):
            controller.activate(HOME, BAD_POSES[name])
        assert controller.mode == "active"


@pytest.mark.parametrize(
    "bad", [[NAN] * 6, [math.inf, 0, 0, 0, 0, 0], [0] * 5, "fast", np.zeros((6, 1))]
)
def test_a_twist_that_is_none_is_refused_and_nothing_moves(bad) -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    with pytest.raises(ua.ModelError, match="V_WD"):
        controller.set_desired(moved(arm().fk(HOME), [0.1, 0, 0]), bad)
    assert np.abs(run(controller, q, ticks=50)["qd"]).max() < 1e-12


@pytest.mark.parametrize("far", [1e3, 1e9, 1e160, 1e300])
@pytest.mark.parametrize("what", ["position", "speed", "turning speed"])
def test_an_absurd_but_finite_desired_motion_is_refused_or_kept_finite(what, far) -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    X_WD, V_WD = arm().fk(HOME), np.zeros(6)
    if what == "position":
        X_WD = moved(X_WD, [far, 0, 0])
    else:
        V_WD[0 if what == "speed" else 3] = far
    with contextlib.suppress(ua.AdmittanceError):
        controller.set_desired(X_WD, V_WD)
    oracle(run(controller, q, ticks=100), controller)


def test_an_inactive_controller_takes_no_desired_pose() -> None:
    controller = Controller(arm(), Config())
    with pytest.raises(ua.RobotError, match="activate"):
        controller.set_desired(arm().fk(HOME))


def test_a_rotation_that_is_nearly_one_is_put_right() -> None:
    controller = controller_of(Config.from_dict(SPRING))
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), [0, 0, 0.05])
    rough = X_WD.copy()
    rough[:3, :3] *= 1 + 5e-4
    controller.set_desired(rough)
    np.testing.assert_allclose(run(controller, q, ticks=1500)["X_WP"][-1], X_WD, atol=1e-4)


SPRING = {"admittance.stiffness": [300, 300, 300, 30, 30, 30]}


def equilibrium(X: np.ndarray) -> dict[str, list[float]]:
    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat().tolist()
    return {"position": X[:3, 3].tolist(), "orientation": [w, x, y, z]}


def test_the_equilibrium_of_the_configuration_is_where_the_arm_goes() -> None:
    X = moved(arm().fk(HOME), [0.05, 0.05, 0.05], [0, 0, 0.3])
    controller = controller_of(Config.from_dict({**SPRING, "equilibrium": equilibrium(X)}))
    history = run(controller, HOME, ticks=2000)
    assert (history["qd"][0] == 0).all()
    np.testing.assert_allclose(history["X_WP"][-1], X, atol=1e-4)
    oracle(history, controller)


def test_a_pose_given_at_activation_wins_over_the_equilibrium() -> None:
    X = arm().fk(HOME)
    away, near = moved(X, [0.2, 0, 0]), moved(X, [0, 0, 0.05])
    controller = Controller(arm(), Config.from_dict({**SPRING, "equilibrium": equilibrium(away)}))
    controller.activate(HOME, near)
    np.testing.assert_allclose(run(controller, HOME, ticks=1500)["X_WP"][-1], near, atol=1e-4)


def test_an_equilibrium_from_a_file_is_read_once(tmp_path) -> None:
    X = moved(arm().fk(HOME), [0, 0, 0.04])
    pair = equilibrium(X)
    file = tmp_path / "home.yaml"
    file.write_text(f"position: {pair['position']}\norientation: {pair['orientation']}\n")
    controller = Controller(arm(), Config.from_dict({**SPRING, "equilibrium": str(file)}))
    file.unlink()
    controller.activate(HOME)
    np.testing.assert_allclose(run(controller, HOME, ticks=1500)["X_WP"][-1], X, atol=1e-4)


STIFFNESSES = {
    "free": [0.0] * 6,
    "spring": [300, 300, 300, 30, 30, 30],
    "spring in z alone": [0, 0, 300, 0, 0, 0],
}


@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_a_hold_on_the_way_does_not_forget_where_the_way_led(stiffness: str) -> None:
    controller = controller_of(Config.from_dict({"admittance.stiffness": STIFFNESSES[stiffness]}))
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), [0, 0, 0.1])
    controller.set_desired(X_WD)
    q = q_after(run(controller, q, ticks=60))
    q = q_after(run(controller, q, ticks=10, wrench_age=0.02))
    assert controller.mode == "holding"
    history = run(controller, q, ticks=2500)
    assert controller.mode == "active"
    np.testing.assert_allclose(history["X_WP"][-1, :3, 3], X_WD[:3, 3], atol=1e-3)


def test_disabling_an_axis_on_the_way_does_not_forget_where_the_way_led() -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), [0, 0, 0.1])
    controller.set_desired(X_WD)
    q = q_after(run(controller, q, np.array([5.0, 0, 0, 0, 0, 0]), 60))  # a push aside
    controller.set(**{"admittance.enabled_axes": [False, True, True, True, True, True]})
    history = run(controller, q, ticks=2500)
    assert abs(history["X_WP"][-1, 2, 3] - X_WD[2, 3]) < 1e-3


# --- inputs ---


def test_every_rotation_of_a_desired_pose_is_understood() -> None:
    rng = np.random.default_rng(6)
    controller = controller_of(Config())
    near_half_turns = rng.normal(size=(50, 3)) * 10.0 ** -rng.integers(0, 7, (50, 3))
    near_half_turns *= (math.pi - 1e-9) / lengths(near_half_turns)[:, None]
    for R in [*Rotation.random(50, rng), *Rotation.from_rotvec(near_half_turns)]:
        controller.set_desired(pose(R, (0.4, 0.1, 0.4)))
        w, x, y, z = controller._inputs["goal_wxyz"][0]
        assert w >= 0
        assert (Rotation.from_quat([x, y, z, w]).inv() * R).magnitude() < 1e-9


def test_rows_that_are_not_square_to_each_other_are_refused() -> None:
    X = np.eye(4)
    X[1, :3] = math.sin(0.1), math.cos(0.1), 0
    X[2, :3] = np.cross(X[0, :3], X[1, :3])
    with pytest.raises(ua.ModelError, match="nearest rotation"):
        controller_of(Config()).set_desired(X)
