"""The promise of constant force, on a slice of the benchmark's random cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.force import judged, odd_surfaces, random_slides, run, simulate

from ur_admittance import AdmittanceError, RobotModel, Strip, Surface, rollout
from ur_admittance.config import Config
from ur_admittance.kernel import bits


@pytest.mark.slow
def test_ten_newtons_are_held_along_curved_surfaces() -> None:
    for pressed in run(random_slides(12, seed=3), lag_error=0.1, joints=40.0):
        assert abs(pressed.mean) < 0.2 and pressed.peak < 1.0, pressed
        assert pressed.lost == 0 and not pressed.stopped


@pytest.mark.slow
def test_a_slow_approach_does_not_overshoot_with_the_arms_own_joints() -> None:
    slow = [replace(case, approach=0.01) for case in random_slides(12, seed=3)]
    for pressed in run(slow, lag_error=0.1):
        assert pressed.overshoot < 5.0 and abs(pressed.mean) < 0.2 and pressed.peak < 1.0, pressed


@pytest.mark.parametrize("name", odd_surfaces())
def test_what_changes_under_the_tool_makes_it_neither_lunge_nor_stop(name: str) -> None:
    case = odd_surfaces()[name]
    ((outputs, force),) = simulate([case])
    pressed = judged(case, outputs, force)
    assert not pressed.stopped
    # where it falls away slowly enough it is followed, up to force.max_speed
    fastest = 0.05 if name == "groove of 5 mm" else case.approach
    assert pressed.fastest < 1.25 * fastest, "and the encoders' noise"
    if name == "edge":
        assert outputs["status"][-1] & bits.FORCE_LOST
    else:
        assert force[-50:].mean() == pytest.approx(case.target, abs=1.0)


def test_a_ball_is_a_plane_where_it_is_touched_and_falls_away_beside() -> None:
    model, home = RobotModel.ur("ur5e"), RobotModel.ur("ur5e").home
    X = model.fk(home)
    full, hollow = 0.2 - np.hypot(0.02, 0.199), np.hypot(0.02, 0.201) - 0.2
    for radius, depth in ((0.0, 0.001), (0.2, max(0, full)), (-0.2, hollow)):
        ball = Surface(tuple(X[:3, 3] + [0.02, 0, 0.001]), (0, 0, 1), 1e4, radius=radius)
        run = rollout(model, Config(), np.zeros((1, 6)), surface=ball)
        assert np.linalg.norm(run.contact[0, 0]) == pytest.approx(1e4 * depth, abs=1e-6)


def test_a_planners_poses_are_followed_and_checked() -> None:
    model, ticks = RobotModel.ur("ur5e"), 400
    X = np.tile(model.fk(model.home), (ticks, 1, 1))
    V = np.zeros((ticks, 6))
    V[:, 1] = 0.02
    X[:, 1, 3] += 0.02 * 0.002 * np.arange(ticks)
    run = rollout(model, Config(), np.zeros((ticks, 6)), desired=(X, V))
    assert run["X_WP"][0, -1, 1, 3] == pytest.approx(X[-1, 1, 3], abs=1e-3)
    with pytest.raises(AdmittanceError, match="desired must be poses"):
        rollout(model, Config(), np.zeros((ticks, 6)), desired=(X[1:], V[1:]))


def test_a_strip_without_a_direction_is_refused() -> None:
    surface = Surface((0, 0, 0), strip=Strip((0, 0, 0), 0.0))
    with pytest.raises(AdmittanceError, match="strip needs a direction"):
        rollout(RobotModel.ur("ur5e"), Config(), np.zeros((1, 6)), surface=surface)
