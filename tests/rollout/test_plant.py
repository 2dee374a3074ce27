"""The surface and the structural mode that a rollout lives beside, against what mechanics says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from tests.support import LINEAR, arm, free_config
from ur_admittance import Config, LaggedArm, Rollout, Surface, rollout

DT = 0.002
STANDS = {"admittance.enabled_axes": [False] * 6}
K = 10_000.0
HOME = arm().fk(arm().home)[:3, 3]


def at_home(**how: Any) -> Surface:
    """A plane whose face is where the tool is at home."""
    return Surface(tuple(HOME), **how)


def guided(velocity: np.ndarray, ticks: int, surface: Surface) -> Rollout:
    """A tool that a stiff planner leads at a constant velocity, whatever it touches."""
    X = np.tile(arm().fk(arm().home), (ticks, 1, 1))
    X[:, :3, 3] += DT * np.arange(ticks)[:, None] * velocity
    V = np.tile(np.concatenate([velocity, np.zeros(3)]), (ticks, 1))
    config = Config().replace(STANDS | {"safety.max_force": 5000.0})
    return rollout(arm(), config, np.zeros((ticks, 6)), desired=(X, V), surface=surface)


def velocities(rolled: Rollout) -> np.ndarray:
    """(ticks, 3) of P at the start of each tick, by the joint rates of the tick before."""
    J = np.array([arm().jacobian(q) for q in rolled["q"][0]])
    qd = np.vstack([np.zeros(6), rolled["qd"][0, :-1]])
    return np.einsum("nij,nj->ni", J, qd)[:, LINEAR]


@pytest.mark.parametrize("normal", [(0, 0, 2), (1, 0, 1), (-1, 2, 3)])
def test_a_plane_pushes_by_depth_and_damps_by_speed_along_its_normal(normal) -> None:
    n = np.array(normal) / np.linalg.norm(normal)
    surface = at_home(normal=normal, stiffness=K, damping=150.0)
    rolled = guided(-0.03 * n + [0.01, 0, 0], 200, surface)
    depth = -(rolled["X_WP"][0, :, :3, 3] - surface.point) @ n
    push = K * depth - 150.0 * velocities(rolled) @ n
    push[depth <= 0.0] = 0.0
    assert push.max() > 50
    np.testing.assert_allclose(rolled.contact[0], push[:, None] * n, atol=1e-6)


def test_a_surface_never_pulls_however_fast_the_tool_leaves_it() -> None:
    """20 N of spring against up to 100 N of damping."""
    surface = replace(at_home(stiffness=K, damping=500.0), point=tuple(np.add(HOME, [0, 0, 0.002])))
    rolled = guided(np.array([0, 0, 0.2]), 60, surface)
    leaving = velocities(rolled)[:, 2]
    depth = HOME[2] + 0.002 - rolled["X_WP"][0, :, 2, 3]
    assert (500.0 * leaving > K * depth)[depth > 0].any()
    np.testing.assert_allclose(
        rolled.contact[0, :, 2],
        np.maximum(0.0, K * depth - 500.0 * leaving) * (depth > 0),
        atol=1e-6,
    )


@pytest.mark.parametrize("friction", [0.1, 0.6])
def test_friction_holds_up_to_its_cone_and_then_drags_against_the_motion(friction: float) -> None:
    slide = np.array([0.03, 0.02, -0.01])
    rolled = guided(slide, 300, at_home(stiffness=K, friction=friction))
    push, drag = rolled.contact[0, :, 2], rolled.contact[0, :, :2]
    size = np.linalg.norm(drag, axis=1)
    assert (size <= friction * push + 1e-9).all()
    slides = slice(150, None)
    np.testing.assert_allclose(size[slides], friction * push[slides], rtol=1e-9)
    against = -slide[:2] / np.linalg.norm(slide[:2])
    np.testing.assert_allclose(drag[slides] @ against, size[slides], rtol=1e-3)


def test_without_friction_there_is_no_drag() -> None:
    rolled = guided(np.array([0.03, 0.02, -0.01]), 200, at_home(stiffness=K))
    np.testing.assert_array_equal(rolled.contact[0, :, :2], 0.0)


def swinging(mass: float, hertz: float, ratio: float, push: float, seconds: float) -> np.ndarray:
    """The force [N] of a surface on a tool that swings on a standing arm, after a step of force."""
    ticks = round(seconds / DT)
    W = np.zeros((ticks, 6))
    W[:, 2] = -push
    flexible = LaggedArm(0.01, 0, hertz, ratio, mass)
    config = free_config(**STANDS)
    rolled = rollout(
        arm(), config, W, arm=flexible, surface=at_home(stiffness=K), wrench_axes="world"
    )
    return rolled.contact[0, :, 2]


@pytest.mark.parametrize(("mass", "hertz"), [(5.0, 12.0), (2.0, 20.0)])
def test_the_structural_mode_swings_as_its_frequency_damping_and_mass_say(mass, hertz) -> None:
    """m x'' + 2 zeta w m x' + (m w^2 + K) x = push: the surface's spring beside the arm's."""
    push, ratio, w = 30.0, 0.05, 2 * np.pi * hertz
    force = swinging(mass, hertz, ratio, push, 1.0)
    stiff = mass * w**2 + K
    w0, decay = np.sqrt(stiff / mass), ratio * w
    wd, t = np.sqrt(w0**2 - decay**2), DT * np.arange(len(force))
    swing = np.cos(wd * t) + decay / wd * np.sin(wd * t)
    expected = K * push / stiff * (1 - np.exp(-decay * t) * swing)
    np.testing.assert_allclose(force, expected, atol=0.02 * expected.max())


def test_a_stiff_mode_leaves_nothing_to_the_spring_of_the_arm() -> None:
    """The share of a push that a surface takes is K / (K + m w^2)."""
    for hertz in (5.0, 40.0):
        share = swinging(5.0, hertz, 0.5, 30.0, 2.0)[-1] / 30.0
        assert share == pytest.approx(K / (K + 5.0 * (2 * np.pi * hertz) ** 2), rel=1e-3)


def test_the_tool_of_an_arm_that_starts_follows_it_like_a_mass_on_its_spring() -> None:
    """x'' = w^2 (p - x) + 2 zeta w (p' - x') - K x / m: the arm's p drives it into a wall."""
    ticks, w, zeta, mass = 300, 2 * np.pi * 10.0, 0.05, 5.0
    X = np.tile(arm().fk(arm().home), (ticks, 1, 1))
    X[:, 0, 3] += DT * np.arange(ticks) * 0.05
    V = np.tile([0.05, 0, 0, 0, 0, 0], (ticks, 1))
    rolled = rollout(
        arm(),
        Config().replace(STANDS | {"safety.max_force": 5000.0}),
        np.zeros((ticks, 6)),
        desired=(X, V),
        arm=LaggedArm(0.01, 0, 10.0, zeta, mass),
        surface=at_home(normal=(-1, 0, 0), stiffness=K),
    )
    times, p = DT * np.arange(ticks), rolled["X_WP"][0, :, 0, 3] - X[0, 0, 3]
    way = CubicSpline(times, p)

    def motion(t: float, state: np.ndarray) -> list[float]:
        x, rate = state
        wall = K / mass * max(0.0, x)
        return [rate, w * w * (way(t) - x) + 2 * zeta * w * (way(t, 1) - rate) - wall]

    x = solve_ivp(motion, times[[0, -1]], [0.0, 0.0], t_eval=times, max_step=5e-4, rtol=1e-8).y[0]
    force = K * np.maximum(x, 0.0)
    assert force.max() > 50
    np.testing.assert_allclose(-rolled.contact[0, :, 0], force, atol=0.02 * force.max())
