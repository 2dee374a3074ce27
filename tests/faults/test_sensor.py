"""Faults of the sensor: no numbers, silence, frozen, spikes, too much force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.support import ENVELOPE, HOME, INF, NAN, UP, Loop, T, in_state, moving, speed
from tests.support import (
    ANGULAR,
    AXES,
    LINEAR,
    ZERO,
    arm,
    free_config,
    lengths,
    names_in,
    run,
)
from ur_admittance.kernel import bits

each_axis = pytest.mark.parametrize("axis", range(6), ids=AXES)


# --- 1: samples that are no numbers ---

STATES = ("moving", "at rest", "holding", "stopped", "leaving", "inactive")


@each_axis
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_sample_that_is_no_number_does_no_harm_in_any_state(axis, state, bad) -> None:
    """Row 1."""
    loop = in_state(state)
    broken = loop.wrench.copy()
    broken[axis] = bad
    loop.run(120, broken)
    loop.judge()
    assert "wrench_not_finite" in names_in(loop.rows[-1])
    if state in ("moving", "at rest", "holding", "stopped"):
        assert loop.mode == "stopped"
    assert speed(loop.rows[-1])[-1] == 0


@each_axis
def test_a_bad_sample_is_replaced_by_the_last_good_one_and_never_by_zero_force(axis: int) -> None:
    """Row 1."""
    loop, twin = moving(), moving()
    broken = UP.copy()
    broken[axis] = NAN
    ours, theirs = loop.run(4, broken), twin.run(4, UP)
    for name in ("qd", "V_WP_cmd", "F_P", "X_WC"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    assert loop.mode == "active"
    loop.run(1)
    assert loop.mode == "holding", "five cycles are the most"
    loop.run(44)
    assert loop.mode == "holding"
    loop.run(1)
    assert loop.mode == "stopped", "after 100 ms it is latched"
    assert loop.controller.last_stop is not None
    assert "wrench_lost" in loop.controller.last_stop.reasons
    loop.run(300, UP)
    assert loop.mode == "stopped"
    loop.judge()


def test_single_bad_samples_now_and_then_change_nothing() -> None:
    """Row 1."""
    loop, twin = moving(), moving()
    for k in range(30):
        broken = UP.copy()
        broken[k % 6] = NAN
        loop.run(1, broken)
        loop.run(3, UP)
        twin.run(4, UP)
    np.testing.assert_array_equal(loop.history["qd"], twin.history["qd"])
    assert loop.mode == "active"


# --- 2, 14: samples that stop coming ---


def mute(loop: Loop, which: str, ticks: int = 150) -> np.ndarray:
    """The robot goes on, the samples do not: their age grows."""
    return np.concatenate([loop.run(1, **{which: k * T}) for k in range(1, ticks + 1)])


@pytest.mark.parametrize("which", ["wrench_age", "joint_age"])
@pytest.mark.parametrize("jerk", [0.0, 50.0], ids=["", "jerk limited"])
@pytest.mark.parametrize("phase", range(5))
def test_when_samples_stop_the_arm_stands_still_in_time(which, jerk, phase) -> None:
    """Rows 2 and 14."""
    limits = {"limits.max_linear_jerk": jerk, "limits.max_angular_jerk": 4 * jerk}
    loop = Loop({**ENVELOPE, **limits})
    angle = phase * 1.3
    sideways = np.array([40 * math.cos(angle), 40 * math.sin(angle), 0, 0, 0, 0])
    loop.run(180 + 17 * phase, sideways)
    assert speed(loop.rows[-1])[-1] > 0.2
    history = mute(loop, which)
    assert (history["mode"][:4] == bits.ACTIVE).all()
    assert history["mode"][5] == bits.HOLDING, "10 ms have passed"
    assert history["mode"][48] == bits.HOLDING and history["mode"][49] == bits.STOPPED, "100 ms"
    at = round(0.16 / T)
    assert speed(history)[at] < 1e-3
    assert speed(history)[-1] == 0
    way = lengths(np.diff(history["X_WP"][:, :3, 3], axis=0)).sum()
    assert way < 0.022
    loop.judge()


@pytest.mark.parametrize("which", ["wrench_age", "joint_age"])
@pytest.mark.parametrize(
    ("age", "mode"),
    [
        (0.0, "active"), (0.0098, "active"), (0.0102, "holding"), (0.0998, "holding"),
        (0.1002, "stopped"), (1e6, "stopped"), (INF, "stopped"),
    ],
)  # fmt: skip
def test_an_age_is_judged_by_the_timeouts(which: str, age: float, mode: str) -> None:
    """Rows 2 and 14."""
    loop = moving()
    loop.run(1, **{which: age})
    assert loop.mode == mode
    loop.run(60)
    loop.judge()


@pytest.mark.parametrize(
    "which",
    ["wrench_age", "joint_age"],
)
def test_a_sample_as_old_as_the_timeout_is_too_old(which: str) -> None:
    """Rows 2 and 14."""
    loop = moving()
    loop.run(1, **{which: 0.01})
    assert loop.mode == "holding"


@pytest.mark.parametrize("which", ["wrench_age", "joint_age"])
def test_an_age_that_is_no_number_is_a_sample_that_did_not_come(which: str) -> None:
    """Rows 2 and 14."""
    loop = moving()
    loop.run(5, **{which: NAN})
    assert loop.mode == "holding"
    loop.run(60, **{which: NAN})
    assert loop.mode == "stopped"
    loop.judge()


def test_while_joint_samples_are_missing_their_prediction_is_used() -> None:
    """Row 14."""
    loop = moving()
    before = loop.q.copy()
    history = run(loop.controller, before, UP, 1, joint_age=0.02)
    assert loop.mode == "holding"
    predicted = loop.rows[-1]["q"][-1] + loop.rows[-1]["qd"][-1] * T
    np.testing.assert_allclose(history["q"][0], predicted, atol=1e-12)


@pytest.mark.parametrize("age", [-0.001, -1.0])
def test_a_wrench_from_the_future_is_not_trusted(age: float) -> None:
    """Row 11."""
    loop = moving()
    loop.run(10, wrench_age=age)
    assert loop.mode == "holding"
    assert "wrench_not_finite" in names_in(loop.rows[-1])


# --- 3: a frozen sensor ---


def test_a_frozen_sensor_holds_and_then_stops() -> None:
    """Row 3."""
    loop = Loop({**ENVELOPE, "safety.frozen_samples": 25})
    rng = np.random.default_rng(1)
    loop.run(100, UP + rng.normal(scale=0.05, size=(100, 6)))
    frozen = UP + 0.01
    loop.run(25, frozen)
    assert loop.mode == "active", "the first of them was still new"
    loop.run(1)
    assert loop.mode == "holding"
    loop.run(51)
    assert loop.mode == "stopped"
    assert "wrench_frozen" in names_in(loop.history)
    loop.judge()


def test_a_noisy_sensor_is_never_frozen_and_without_the_setting_none_is() -> None:
    """Row 3."""
    noisy = Loop({"safety.frozen_samples": 5})
    noisy.run(300, np.random.default_rng(2).normal(size=(300, 6)))
    assert noisy.mode == "active"
    quiet = Loop({})
    quiet.run(2000, ZERO)
    assert quiet.mode == "active"


# --- 4: spikes ---


@settings(max_examples=40)
@given(
    st.integers(0, 2**31), st.floats(101, 180), st.integers(1, 3), st.integers(5, 60), st.booleans()
)
def test_a_spike_of_up_to_three_samples_is_dropped(seed, size, count, at, as_torque) -> None:
    """Row 4. One above safety.max_force is no spike to be waited out: it stops the arm."""
    size = size / 10 if as_torque else size
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=3)
    spike = np.zeros(6)
    part = ANGULAR if as_torque else LINEAR
    spike[part] = size * direction / np.linalg.norm(direction)
    samples = np.tile(UP / 3, (90, 1))
    clean, spiky = Loop({}), Loop({})
    clean.run(90, samples)
    hit = samples.copy()
    hit[at : at + count] += spike
    spiky.run(90, hit)
    assert "wrench_spike" in names_in(spiky.history)
    change = spiky.history["V_WP_cmd"] - clean.history["V_WP_cmd"]
    assert lengths(change[:, LINEAR]).max() < 1e-3
    assert lengths(change[:, ANGULAR]).max() < 1e-3
    assert spiky.mode == "active"
    spiky.judge()


def test_a_jump_that_lasts_is_real() -> None:
    """Row 4."""
    loop = Loop({})
    loop.run(20, ZERO)
    loop.run(3, np.array([0, 0, -120.0, 0, 0, 0]))
    assert speed(loop.rows[-1])[-1] < 1e-12
    loop.run(10)
    assert speed(loop.rows[-1])[-1] > 0.01
    loop.judge()


# --- 5, 7: too much force ---


@pytest.mark.parametrize("size", [210.0, 1e4, 1e6, 1e12, 1e100])
@each_axis
def test_a_huge_force_that_lasts_is_cut_and_stops_the_arm(size: float, axis: int) -> None:
    """Rows 5 and 7."""
    loop = moving()
    huge = UP.copy()
    huge[axis] = size
    loop.run(100, huge)
    history = loop.judge()
    assert loop.mode == "stopped"
    name = "over_force" if axis < 3 else "over_torque"
    assert loop.controller.last_stop is not None
    assert name in loop.controller.last_stop.reasons
    assert lengths(history["F_P"][:, LINEAR]).max() <= 200 * (1 + 1e-9)
    assert lengths(history["F_P"][:, ANGULAR]).max() <= 30 * (1 + 1e-9)
    first = int(np.argmax((history["status"] & bits.STOPS) != 0))
    assert history["mode"][first] == bits.STOPPED, "within the cycle that sees it"


def test_a_cut_force_acts_like_one_of_the_size_it_was_cut_to() -> None:
    """Row 5: a twin that feels exactly the maximum: the same motion up to the tick that stops."""
    runs = []
    for size in (199.999999, 1e6):
        loop = Loop(free_config(**{"safety.max_force": 200.0, **ENVELOPE}))
        loop.run(10, ZERO)
        loop.run(2, np.array([0, 0, -size, 0, 0, 0]))
        runs.append(loop.history["F_P"])
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-5)


@pytest.mark.parametrize("stiffness", [2e4, 5e4])
def test_a_collision_with_a_stiff_wall_stops_the_arm_within_a_cycle(stiffness: float) -> None:
    """Row 7."""
    loop = Loop({**ENVELOPE, "admittance.damping": [20, 20, 20, 2, 2, 2]})
    ceiling = arm().fk(HOME)[2, 3] + 0.03

    def touch(k: int, q: np.ndarray) -> np.ndarray:
        X_WP = arm().fk(q)
        down = max(0.0, X_WP[2, 3] - ceiling) * stiffness
        return np.concatenate([X_WP[:3, :3].T @ [0, 0, 60 - down], np.zeros(3)])

    loop.run(600, touch)
    history = loop.judge()
    force = lengths(history["F_S_comp"][:, LINEAR])
    assert loop.mode == "stopped" and force.max() == pytest.approx(200)
    first = int(np.argmax(force >= 200 * (1 - 1e-9)))
    assert history["mode"][first] == bits.STOPPED
    assert history["mode"][first - 1] == bits.ACTIVE
