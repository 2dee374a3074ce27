"""The law is passive: what it gives back is never more than was put in, limits or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from tests.kernel.support import PUSH, in_law_axes
from tests.support import (
    LINEAR,
    arm,
    controller_of,
    free_config,
    lengths,
    names_in,
    oracle,
    q_after,
    run,
    turned,
)
from ur_admittance import Config

FRAMES = ("probe", "base")

M = np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8])

K = np.array([200.0, 200.0, 200.0, 20.0, 20.0, 20.0])

each_frame = pytest.mark.parametrize("frame", FRAMES)


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
