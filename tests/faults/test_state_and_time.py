"""Faults of joint states and of time: impossible joints, no wall clock, odd steps."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ur_admittance as ua
from tests.faults.support import INF, NAN, UP, Loop, T, in_state, moving, speed
from tests.support import (
    AXES,
    names_in,
)
from ur_admittance.kernel import bits

each_axis = pytest.mark.parametrize("axis", range(6), ids=AXES)


# --- 1: samples that are no numbers ---

STATES = ("moving", "at rest", "holding", "stopped", "leaving", "inactive")


# --- 15: impossible joints ---


@each_axis
@pytest.mark.parametrize("bad", [NAN, INF, -INF, 3.0, 1e300, -0.5])
def test_one_impossible_joint_sample_is_a_warning_and_three_are_a_stop(axis, bad) -> None:
    """Row 15."""
    loop, twin = moving(), moving()
    for count, mode in ((1, "active"), (2, "active"), (3, "stopped")):
        for _ in range(count):
            q = loop.q.copy()
            q[axis] = q[axis] + bad if math.isfinite(bad) else bad
            predicted = loop.rows[-1]["q"][-1] + loop.rows[-1]["qd"][-1] * T
            good, loop.q = loop.q, q
            history = loop.run(1)
            assert "joints_implausible" in names_in(history)
            np.testing.assert_allclose(history["q"][0], predicted, atol=1e-9)
            loop.q = good + history["qd"][0] * T
            twin.run(1)
        assert loop.mode == mode, count
        if mode == "active":
            loop.run(5)
            twin.run(5)
            np.testing.assert_allclose(loop.rows[-1]["qd"], twin.rows[-1]["qd"], atol=1e-9)
    loop.run(200)
    loop.judge()
    assert speed(loop.rows[-1])[-1] == 0


# --- 63: joints that no longer change ---


def test_joints_that_stand_still_while_the_arm_is_told_to_move_stop_it() -> None:
    """Row 63: as those of an arm that does not follow, as soon as that is believed."""
    loop = moving()
    safety, fastest = loop.controller.config.safety, speed(loop.rows[-1])[-1]
    history = loop.run(600, UP, speed=0.0)
    assert loop.mode == "stopped"
    assert loop.controller.last_stop is not None
    assert loop.controller.last_stop.reasons == ("not_following",)
    braking = history["mode"] == bits.STOPPED
    most = safety.max_tracking_error / fastest + safety.tracking_timeout
    assert np.argmax(braking) * T <= most
    loop.judge()


# --- 18: no wall clock ---


def package() -> Path:
    return Path(ua.__file__).parent


@pytest.mark.parametrize(
    "file",
    sorted([*package().joinpath("kernel").glob("*.py"), package() / "controller/controller.py"]),
    ids=lambda file: file.stem,
)
def test_the_core_never_asks_for_the_wall_clock(file: Path) -> None:
    """Row 18: its only clock is dt. What compiles it may use the monotonic one."""
    forbidden = {"time", "time_ns", "localtime", "gmtime", "now", "utcnow", "today"}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in forbidden:
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            assert owner not in ("time", "datetime", "date"), f"{file.name}:{node.lineno}"
        if isinstance(node, ast.ImportFrom):
            assert node.module != "datetime"
            assert node.module != "time" or not {a.name for a in node.names} & forbidden


# --- 19: odd times ---


@pytest.mark.parametrize("bad", [0.0, -0.0, -1.0, -INF, NAN])
@pytest.mark.parametrize("state", STATES)
def test_a_time_step_that_makes_no_sense_becomes_the_nominal_one(bad: float, state: str) -> None:
    """Row 19."""
    loop, twin = in_state(state), in_state(state)
    ours, theirs = loop.run(20, dt=bad), twin.run(20, dt=T)
    assert (ours["dt"] == T).all()
    np.testing.assert_array_equal(ours["qd"], theirs["qd"])
    assert "bad_dt" in names_in(ours)
    assert loop.controller._state["bad_dts"] == 20
    loop.judge()


@pytest.mark.parametrize(
    ("dt", "held", "used"),
    [(0.01, False, 0.01), (0.0101, True, 0.0101), (0.02, True, 0.02), (0.1, True, 0.1),
     (0.11, True, T), (1.0, True, T), (1e300, True, T), (INF, True, T)],
)  # fmt: skip
def test_a_gap_of_more_than_five_periods_holds_the_arm(dt, held, used) -> None:
    """Row 19."""
    loop = moving()
    history = loop.run(1, dt=dt)
    assert (loop.mode == "holding") == held
    assert history["dt"][0] == used
    loop.run(300)
    assert loop.mode == "active"
    loop.judge()


@settings(max_examples=30)
@given(st.lists(st.one_of(st.floats(1e-7, 0.1), st.sampled_from([0.0, -1.0, NAN, INF, 1.0])),
                min_size=20, max_size=80), st.integers(0, 2**31))  # fmt: skip
def test_whatever_the_clock_says_the_limits_hold(dts, seed) -> None:
    """Row 19."""
    rng = np.random.default_rng(seed)
    loop = Loop({})
    for dt in dts:
        loop.run(1, rng.uniform(-60, 60, 6) * [1, 1, 1, 0.1, 0.1, 0.1], dt=dt)
    loop.judge()
