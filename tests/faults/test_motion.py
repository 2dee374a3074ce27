"""Faults of the motion: no answer from the joints, half a turn, leaps, blocked arms, jerk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.faults.support import ENVELOPE, HOME, NAN, ROUGH, UP, Loop, T, broken_solver, speed
from tests.support import (
    LINEAR,
    ZERO,
    arm,
    free_config,
    lengths,
    moved,
    names_in,
)
from ur_admittance.kernel import bits

# --- 34: no answer from the inverse kinematics ---


def test_one_failure_of_the_inverse_kinematics_slows_the_arm_down_inside_the_limits() -> None:
    """Row 34."""
    loop = Loop({"ik.singularity_threshold": 0.3})
    loop.run(150, UP)
    damping = loop.controller._params["ik_damping"].copy()
    before = speed(loop.rows[-1])[-1]
    for _ in range(5):
        loop.controller._params["ik_damping"] = NAN
        history = loop.run(2)
        assert np.isfinite(history["qd"]).all()
        assert (np.diff(speed(history)) < 0).all()
        assert "beyond_acceleration" in names_in(history)
        loop.controller._params["ik_damping"] = damping
        loop.run(3)
    assert before > 0.05 and loop.mode == "active"
    loop.judge()


def test_five_failures_in_a_row_stop_the_arm_for_good() -> None:
    """Row 34."""
    loop = broken_solver()
    assert loop.mode == "stopped"
    loop.controller._params["ik_damping"] = 0.05
    loop.run(50)
    assert loop.mode == "stopped"


# --- 35: half a turn ---


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("off", [-1e-6, -1e-9, -1e-12, 0.0, 1e-12, 1e-9, 1e-6])
def test_a_desired_pose_half_a_turn_away_is_reached_without_turning_back(way, off) -> None:
    """Row 35: wherever the rounding of half a turn falls, one way round is chosen and kept."""
    q = HOME.copy()
    q[5] = 0.3
    loop = Loop({**ROUGH, "max_angular_velocity": 2.0}, q)
    loop.run(3)
    X_WD = moved(arm().fk(q), turn=(math.pi + off) * way * arm().fk(q)[:3, 2])
    loop.controller.set_desired(X_WD)
    loop.run(1800)
    history = loop.judge()
    turned = history["q"][:, 5] - q[5]
    assert abs(abs(turned[-1]) - math.pi) < 2e-3
    steps = np.diff(turned) * np.sign(turned[-1])
    assert steps.min() > -1e-5, "it turned back"
    np.testing.assert_allclose(history["X_WP"][-1], X_WD, atol=2e-3)


def wound_up(**changes: Any) -> Loop:
    """A soft spring, turned by four radians."""
    config = free_config(
        **{
            "admittance.stiffness": [0, 0, 0, 0.2, 0.2, 0.2],
            "admittance.damping": [80, 80, 80, 0.4, 0.4, 0.4],
            "admittance.mass": [8, 8, 8, 0.2, 0.2, 0.2],
            "tracking.velocity_gain": 5.0,
            **changes,
        }
    )
    q = HOME.copy()
    q[5] = -2.0
    loop = Loop(config, q)
    history = loop.run(4000, np.array([0, 0, 0, 0, 0, 0.8]))
    assert history["offset"][-1, 5] == pytest.approx(4.0, abs=0.02)
    return loop


def test_an_offset_that_is_turned_past_half_a_turn_keeps_its_way_back() -> None:
    """Row 35: the pull of its spring neither jumps nor changes sides."""
    loop = wound_up()
    history = loop.judge()
    assert np.abs(np.diff(history["offset"][:, 5])).max() < 0.01, "the offset jumped"
    acceleration = np.diff(history["offset_rate"][:, 5]) / T
    assert np.abs(acceleration).max() < 0.9 / 0.2
    loop.run(5000, ZERO)
    assert abs(loop.rows[-1]["offset"][-1, 5]) < 0.05
    assert loop.q[5] == pytest.approx(-2.0, abs=0.05), "it did not come back the way it went"


def test_a_spring_past_half_a_turn_keeps_its_way_back_through_a_hold() -> None:
    """Row 35."""
    loop = wound_up()
    loop.run(20, wrench_age=0.02)
    loop.run(5000, ZERO)
    assert loop.mode == "active"
    assert loop.q[5] == pytest.approx(-2.0, abs=0.05)


def test_a_spring_past_half_a_turn_keeps_its_way_back_while_the_arm_is_blocked() -> None:
    """Row 35."""
    loop = wound_up(**{"safety.max_tracking_rotation": 0.3})
    history = loop.run(600, np.array([0, 0, 0, 0, 0, 1.2]), speed=0.0)
    assert "lead_limit" in names_in(history)
    assert (history["offset"][:, 5] > 3.9).all()


# --- 36, 37: the reference ---


@pytest.mark.parametrize("jerk", [0.0, 50.0])
@pytest.mark.parametrize(
    ("shift", "turn"), [([0.5, 0, 0], [0, 0, 0]), ([0, 0, 0], [0, 0, math.pi / 2])]
)
def test_a_step_of_the_reference_stays_inside_the_limits(shift, turn, jerk) -> None:
    """Row 36."""
    loop = Loop({"limits.max_linear_jerk": jerk, "limits.max_angular_jerk": 4 * jerk})
    loop.run(3)
    for sign in (1, -1, 1):
        X_WD = moved(arm().fk(HOME), np.array(shift) * sign * 0.5, np.array(turn) * sign)
        loop.controller.set_desired(X_WD)
        loop.run(700)
    loop.judge()
    assert loop.mode == "active"


def test_a_reference_that_falls_silent_stands_still_and_the_arm_stays_compliant() -> None:
    """Row 37."""
    loop = Loop(ROUGH)
    loop.run(3)
    X_0 = arm().fk(HOME)
    for k in range(250):
        loop.controller.set_desired(moved(X_0, [0, 0, 0.05 * k * T]), [0, 0, 0.05, 0, 0, 0])
        loop.run(1)
    loop.run(40)
    assert "desired_stale" not in names_in(loop.rows[-1])
    assert loop.rows[-1]["V_WD"][-1, 2] == pytest.approx(0.05, abs=1e-6)
    loop.run(200)
    assert "desired_stale" in names_in(loop.rows[-1])
    assert lengths(loop.rows[-1]["V_WD"][-1]) < 1e-6
    assert speed(loop.rows[-1])[-1] < 1e-4
    loop.run(100, UP / 2)
    assert speed(loop.rows[-1])[-1] > 0.01, "still compliant"
    loop.judge()


# --- 40: an arm that does not do what it is told ---


@pytest.mark.parametrize("mode", ["velocity", "position"])
def test_a_blocked_arm_stops_the_controller_and_winds_nothing_up(mode: str) -> None:
    """Row 40."""
    loop = Loop({"output.mode": mode})
    loop.run(400, UP, speed=0.0)
    assert loop.mode == "stopped"
    assert loop.controller.last_stop is not None
    assert loop.controller.last_stop.reasons == ("not_following",)
    history = loop.judge()
    lead = lengths(history["X_WC"][:, :3, 3] - history["X_WP"][:, :3, 3])
    assert lead.max() <= 0.05 + 1e-9


@pytest.mark.parametrize("mode", ["velocity", "position"])
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_slowed_arm_is_waited_for_and_does_not_lunge_when_let_go(mode, share) -> None:
    """Row 40."""
    loop = Loop({"output.mode": mode})
    loop.run(500, UP / 2, speed=share)
    assert loop.mode == "active"
    history = loop.history
    lead = lengths(history["X_WC"][:, :3, 3] - history["X_WP"][:, :3, 3])
    assert lead.max() <= 0.05 + 1e-9
    fastest = speed(loop.rows[-1])[-1]
    loop.run(500, UP / 2)
    assert speed(loop.rows[-1]).max() < 1.01 * fastest  # than it was told to be all the time
    loop.judge()


# --- jerk ---


def jerks(history: np.ndarray) -> np.ndarray:
    """Of the tool point, m/s^3, for ticks of equal length."""
    return lengths(np.diff(history["V_WP_cmd"][:, LINEAR], 2, axis=0)) / T**2


JERKY = {**ENVELOPE, "limits.max_linear_jerk": 50.0, "limits.max_angular_jerk": 200.0}


@pytest.mark.parametrize("end", ["let go", "stop", "hold"])
def test_the_jerk_limit_holds_from_start_to_rest(end: str) -> None:
    loop = Loop(JERKY)
    loop.run(200, np.array([0.0, 40, 0, 0, 0, 0]))
    if end == "stop":
        loop.controller.stop()
    loop.run(200, ZERO, **({"wrench_age": 0.02} if end == "hold" else {}))
    assert jerks(loop.judge()).max() <= 50 * (1 + 1e-6)


def test_the_jerk_limit_holds_while_the_direction_changes_at_full_speed() -> None:
    loop = Loop(JERKY)
    for k in range(12):
        push = np.array([40 * math.cos(2.5 * k), 40 * math.sin(2.5 * k), 0, 0, 0, 0])
        loop.run(100, push)
    history = loop.judge()
    free = (history["status"][2:] & (bits.JOINT_ACCELERATION_LIMIT | bits.SINGULARITY)) == 0
    assert jerks(history)[free].max() <= 50 * (1 + 1e-6)


def test_a_stop_while_the_arm_speeds_up_takes_as_much_longer_as_the_page_on_safety_says() -> None:
    loop = Loop({**JERKY, "max_linear_velocity": 0.5})
    loop.run(40, np.array([0.0, 60, 0, 0, 0, 0]))
    v, a, j = speed(loop.rows[-1])[-1], 2.5, 50.0
    gains = (v - speed(loop.rows[-1])[-2]) / T  # m/s^2
    assert gains > 0.8 * a
    loop.controller.stop()
    stopping = loop.run(200, ZERO)
    at_rest = np.flatnonzero((stopping["qd"] == 0).all(axis=1))[0]
    fastest = v + gains**2 / (2 * j)
    assert at_rest * T == pytest.approx(gains / j + fastest / a + a / j, abs=3 * T)
    p_WP = stopping["X_WP"][:, :3, 3]
    way = v * gains / j + gains**3 / (3 * j**2) + fastest**2 / (2 * a) + fastest * a / (2 * j)
    assert lengths(p_WP[at_rest] - p_WP[0]) == pytest.approx(way, abs=1e-3)
    loop.judge()
