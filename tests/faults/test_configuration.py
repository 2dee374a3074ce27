"""Faults of the configuration: live changes, bad and large, and quaternions that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import ur_admittance as ua
from tests.faults.support import HOME, NAN, UP, Loop, moving, speed
from tests.support import (
    arm,
    moved,
)
from ur_admittance import Config

# --- 28, 29: live changes ---


def broken_values(field: Any) -> list[Any]:
    bad: list[Any] = [NAN, "x", {}, [1] * 7, None]
    if field.bounds:
        low, high = field.bounds
        bad += [low - 1, high * 2 + 1]
        if field.size:
            bad += [[high * 2 + 1] * field.size, [NAN] * field.size]
    return [b for b in bad if not (b is None and field.optional)]


def test_no_bad_value_of_any_parameter_reaches_a_running_controller() -> None:
    """Row 28."""
    loop = moving()
    params, state = loop.controller._params, loop.controller._state
    before, config, tried = params.tobytes(), loop.controller.config, 0
    for field in Config.fields():
        for bad in broken_values(field):
            with pytest.raises(ua.ConfigError):
                loop.controller.set(**{"max_linear_velocity": 0.2, field.name: bad})
            tried += 1
    assert tried > 300
    assert params.tobytes() == before and loop.controller.config is config
    assert state["status"] == loop.rows[-1]["status"][-1]
    loop.run(50)
    loop.judge()


EXTREMES = {
    "admittance.mass": ([0.5] * 3 + [0.05] * 3, [200.0] * 3 + [20.0] * 3),
    "admittance.damping": ([5.0] * 3 + [0.5] * 3, [5000.0] * 3 + [500.0] * 3),
    "admittance.stiffness": ([0.0] * 6, [20000.0] * 3 + [2000.0] * 3),
    "tracking.velocity_gain": (0.0, 50.0),
    "admittance.filter_coefficient": (0.01, 1.0),
    "admittance.deadband_force": (0.0, 20.0),
    "payload.mass": (0.0, 5.0),
    "admittance.enabled_axes": ([True] * 6, [False] * 6),
    "ik.damping": (0.001, 1.0),
    "ik.singularity_threshold": (0.001, 0.3),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_a_valid_but_large_change_is_smooth_in_both_directions(name: str) -> None:
    """Row 29."""
    loop = moving({})
    for k in range(8):
        loop.controller.set(**{name: EXTREMES[name][k % 2]})
        loop.run(60 + 7 * k, UP * (-1) ** (k // 3))
    loop.judge()
    assert loop.mode == "active"


# --- 30: quaternions ---


def equilibrium(wxyz: Any) -> Config:
    return Config(equilibrium={"position": arm().fk(HOME)[:3, 3].tolist(), "orientation": wxyz})


def test_a_quaternion_and_its_negative_are_the_same_pose() -> None:
    """Row 30."""
    x, y, z, w = Rotation.from_matrix(moved(arm().fk(HOME), turn=[0.2, 0, 0.3])[:3, :3]).as_quat()
    wxyz = [float(w), float(x), float(y), float(z)]
    runs = []
    for sign in (1, -1):
        loop = Loop(equilibrium([sign * c for c in wxyz]))
        loop.run(300)
        runs.append(loop.judge())
    np.testing.assert_array_equal(runs[0]["qd"], runs[1]["qd"])


@pytest.mark.parametrize("length", [1.0, 1 - 9e-4, 1 + 9e-4])
def test_a_quaternion_of_nearly_length_one_is_put_right(length: float) -> None:
    """Row 30."""
    x, y, z, w = Rotation.from_matrix(arm().fk(HOME)[:3, :3]).as_quat() * length
    loop = Loop(equilibrium([float(w), float(x), float(y), float(z)]))
    loop.run(100)
    assert speed(loop.judge()).max() < 1e-3


@pytest.mark.parametrize(
    "wxyz",
    [[0, 0, 0, 0], [1e-8, 0, 0, 0], [1, 1, 0, 0], [0.99, 0, 0, 0], [NAN, 0, 0, 0], [1, 0, 0]],
)
def test_a_quaternion_that_is_none_is_refused(wxyz) -> None:
    """Row 30."""
    with pytest.raises(ua.ConfigError):
        equilibrium(wxyz)
