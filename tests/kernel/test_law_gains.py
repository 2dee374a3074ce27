"""Gains that change while the arm moves: ramped, in an energy-safe order, without a kick."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support import (
    arm,
    controller_of,
    free_config,
    oracle,
    q_after,
    run,
)
from ur_admittance import Config, Controller
from ur_admittance.kernel import bits

FRAMES = ("probe", "base")

M = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])

K = np.array([200.0, 200.0, 200.0, 20.0, 20.0, 20.0])

each_frame = pytest.mark.parametrize("frame", FRAMES)


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
