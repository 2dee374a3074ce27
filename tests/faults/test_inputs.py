"""Bad inputs and hard situations, as one tick after another sees them: every fault is provoked."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import ur_admittance as ua
from tests.support import (
    ANGULAR,
    AXES,
    LINEAR,
    ZERO,
    arm,
    free_config,
    lengths,
    moved,
    names_in,
    oracle,
    q_after,
    run,
)
from ur_admittance import Config, Controller, faults
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits, layout

HOME = arm().home
T = 0.002
NAN, INF = math.nan, math.inf
UP = np.array([0.0, 0, -30, 0, 0, 0])  # the probe looks down at home
ENVELOPE = {"max_linear_velocity": 0.25, "max_angular_velocity": 0.5}

each_axis = pytest.mark.parametrize("axis", range(6), ids=AXES)


class Loop:
    """A closed loop that remembers everything, for scenes of several acts."""

    def __init__(self, config: Config | dict[str, Any] | None = None, q: Any = HOME) -> None:
        if not isinstance(config, Config):
            config = Config.from_dict(ENVELOPE if config is None else config)
        self.controller = Controller(arm(), config)
        self.controller.activate(q)
        self.q = np.array(q, float)
        self.wrench = ZERO
        self.rows: list[np.ndarray] = []

    def run(self, ticks: int, wrench: Any = None, dt: float = T, **more: Any) -> np.ndarray:
        if wrench is not None:
            self.wrench = wrench
        history = run(self.controller, self.q, self.wrench, ticks, dt, **more)
        self.q = q_after(history, more.get("speed", 1.0))
        self.rows.append(history)
        return history

    @property
    def history(self) -> np.ndarray:
        return np.concatenate(self.rows)

    @property
    def mode(self) -> str:
        return self.controller.mode

    def judge(self) -> np.ndarray:
        """Hold the whole history to the oracle."""
        oracle(self.history, self.controller)
        return self.history


def moving(config: Config | dict[str, Any] | None = None) -> Loop:
    loop = Loop(config)
    loop.run(150, UP)
    assert lengths(loop.rows[-1]["V_WP_cmd"][-1, LINEAR]) > 0.1
    return loop


def speed(history: np.ndarray) -> np.ndarray:
    return lengths(history["V_WP_cmd"])


# --- every fault of the table, provoked ---


def at_a_wall() -> Loop:
    top = float(arm().fk(HOME)[2, 3])
    loop = Loop({"limits.workspace_max": [5, 5, top + 0.02]})
    loop.run(400, UP)
    return loop


def outside_the_box() -> Loop:
    top = float(arm().fk(HOME)[2, 3])
    loop = Loop({"limits.workspace_max": [5, 5, top - 0.05]})
    loop.run(200, UP)
    return loop


def near_the_end_of_a_joint() -> Loop:
    q = HOME.copy()
    q[5] = arm().q_max[5] - 0.0873 - 0.1
    loop = Loop({}, q)
    loop.run(400, np.array([0, 0, 0, 0, 0, 5.0]))
    return loop


def beyond_the_end_of_a_joint() -> Loop:
    q = HOME.copy()
    q[5] = arm().q_max[5] - 0.05
    loop = Loop({}, q)
    loop.run(300, np.array([0, 0, 0, 0, 0, 5.0]))
    return loop


def push(config: dict[str, Any], wrench: Any, ticks: int = 300, **more: Any) -> Loop:
    loop = Loop(config)
    loop.run(3)
    loop.run(ticks, np.asarray(wrench, float), **more)
    return loop


def straight_wrist() -> Loop:
    q = HOME.copy()
    q[4] = -0.02
    loop = Loop({}, q)
    loop.run(300, np.array([10.0, 10, 0, 1, 1, 0]))
    return loop


def hurried() -> Loop:
    """A long tick, after which the motion takes other joint speeds, and no time to get them."""
    loop = Loop({})
    loop.run(100, UP)
    loop.run(1, dt=0.009)
    loop.run(1, dt=1e-6)
    loop.run(5)
    return loop


def blocked_arm() -> Loop:
    return push({}, UP, 400, speed=0.0)


def broken_sensor(ticks: int) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        loop.run(ticks, np.array([NAN, 0, 0, 0, 0, 0]))
        return loop

    return scene


def spiked() -> Loop:
    loop = moving()
    loop.run(1, np.array([0, 0, 5000.0, 0, 0, 0]))
    loop.run(20, UP)
    return loop


def broken_joints(ticks: int) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        q = loop.q
        loop.q = np.full(6, NAN)
        loop.run(ticks)
        loop.q = q
        return loop

    return scene


def odd_time(dt: float) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        loop.run(1, dt=dt)
        return loop

    return scene


def aged(**ages: float) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        loop.run(60, **ages)
        return loop

    return scene


def silent_planner() -> Loop:
    loop = Loop({})
    loop.run(3)
    loop.controller.set_desired(arm().fk(HOME), [0, 0, 0.05, 0, 0, 0])
    loop.run(150)
    return loop


def leaping_planner() -> Loop:
    loop = Loop({})
    loop.run(3)
    loop.controller.set_desired(moved(arm().fk(HOME), [0, 0, 0.1]))
    loop.run(20)
    return loop


def frozen_sensor() -> Loop:
    loop = Loop({"safety.frozen_samples": 25})
    noise = np.random.default_rng(0).normal(scale=0.1, size=(50, 6))
    loop.run(50, UP / 2 + noise)
    loop.run(30, UP / 2)
    return loop


def asked_to_stop() -> Loop:
    loop = moving()
    loop.controller.stop()
    loop.run(150)
    return loop


def broken_solver() -> Loop:
    """At a singularity, with a damping that is no number, the least squares have no answer."""
    q = HOME.copy()
    q[4] = 0.0
    loop = Loop({}, q)
    loop.run(3)
    loop.controller._params["ik_damping"] = NAN
    loop.run(50, UP)
    return loop


PROVOKED: dict[str, Callable[[], Loop]] = {
    "speed_limit": lambda: push({"max_linear_velocity": 0.05}, UP),
    "acceleration_limit": lambda: push({"limits.max_linear_acceleration": 0.2}, UP),
    "jerk_limit": lambda: push({"limits.max_linear_jerk": 5.0}, UP),
    "workspace_limit": at_a_wall,
    "outside_workspace": outside_the_box,
    "joint_position_limit": near_the_end_of_a_joint,
    "joint_velocity_limit": lambda: push({"limits.joint_velocity": 0.2}, UP),
    "joint_acceleration_limit": lambda: push({"limits.joint_acceleration": 0.5}, UP),
    "singularity": straight_wrist,
    "beyond_acceleration": hurried,
    "lead_limit": blocked_arm,
    "stopping_distance": lambda: push(
        {"limits.joint_acceleration": 0.5, "limits.workspace_max": [10, 10, 0.55]}, UP
    ),
    "wrench_saturated": lambda: push({}, 10 * UP),
    "wrench_not_finite": broken_sensor(2),
    "wrench_spike": spiked,
    "joints_implausible": broken_joints(1),
    "bad_dt": odd_time(-1.0),
    "desired_stale": silent_planner,
    "desired_step": leaping_planner,
    "joint_outside": beyond_the_end_of_a_joint,
    "wrench_stale": aged(wrench_age=0.02),
    "wrench_frozen": frozen_sensor,
    "joints_stale": aged(joint_age=0.02),
    "time_gap": odd_time(0.03),
    "stop_requested": asked_to_stop,
    "wrench_lost": aged(wrench_age=0.2),
    "joints_lost": aged(joint_age=0.2),
    "over_force": lambda: push({}, 10 * UP),
    "over_torque": lambda: push({}, [0, 0, 0, 0, 50.0, 0]),
    "not_following": blocked_arm,
    "ik_failed": broken_solver,
}


def test_every_fault_of_the_table_is_provoked_here() -> None:
    without = [fault.name for fault in FAULTS if fault.name not in PROVOKED]
    assert without == []
    assert list(PROVOKED) == [fault.name for fault in FAULTS], "keep the order of the table"


@pytest.mark.parametrize("name", PROVOKED)
def test_a_fault_is_named_and_has_its_reaction(name: str) -> None:
    fault = faults.BY_NAME[name]
    loop = PROVOKED[name]()
    history = loop.judge()
    seen = (history["status"] & fault.mask) != 0
    assert seen.any(), "it was not said"
    first = int(np.argmax(seen))
    modes = set(history["mode"][first:].tolist())
    if fault.reaction == "hold":
        assert history["mode"][first] in (bits.HOLDING, bits.STOPPED)
    elif fault.reaction == "stop":
        assert modes == {bits.STOPPED}
        assert name in loop.controller.last_stop.reasons  # type: ignore[union-attr]
    elif not history["status"][first] & (bits.HOLDS | bits.STOPS):
        assert history["mode"][first] == bits.ACTIVE
    if fault.reaction in ("hold", "stop", "warn"):
        events = [event for event in loop.controller.events() if event.name == name]
        assert len(events) == 1
        assert events[0].time == pytest.approx(history["time"][first])
        if name not in WITHOUT_A_NUMBER:
            inside = abs(events[0].value) < abs(events[0].limit) * (1 - 1e-6)
            assert events[0].limit != 0 and not inside, "a value beyond its limit"


WITHOUT_A_NUMBER = ("stop_requested", "bad_dt", "wrench_not_finite")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_words_a_reaction_and_a_way_out(fault: faults.Fault) -> None:
    assert fault.reaction in ("limit", "warn", "hold", "stop")
    assert len(fault.words) > 10 and fault.recovery
    group = {"limit": bits.LIMITS, "hold": bits.HOLDS, "stop": bits.STOPS}.get(fault.reaction)
    warnings = 0xFFFF << 16
    assert fault.mask & (warnings if group is None else group)
    assert faults.words_of(fault.mask) == [f"{fault.name}: {fault.words}"]


# --- 1: samples that are no numbers ---


def in_state(state: str) -> Loop:
    loop = moving()
    if state == "holding":
        loop.run(30, wrench_age=0.02)
    elif state == "stopped":
        loop.controller.stop()
        loop.run(150)
    elif state == "leaving":
        loop.controller.deactivate()
        loop.run(3)
    elif state == "inactive":
        loop.controller.deactivate()
        loop.run(200)
    elif state == "at rest":
        loop.run(1000, ZERO)
    return loop


STATES = ("moving", "at rest", "holding", "stopped", "leaving", "inactive")


@each_axis
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_sample_that_is_no_number_does_no_harm_in_any_state(axis, state, bad) -> None:
    loop = in_state(state)
    broken = loop.wrench.copy()
    broken[axis] = bad
    loop.run(80, broken)
    loop.judge()
    assert "wrench_not_finite" in names_in(loop.rows[-1])
    if state in ("moving", "at rest", "holding", "stopped"):
        assert loop.mode == "stopped"
    assert speed(loop.rows[-1])[-1] == 0


@each_axis
def test_a_bad_sample_is_replaced_by_the_last_good_one_and_never_by_zero_force(axis: int) -> None:
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
    loop = moving()
    loop.run(1, **{which: 0.01})
    assert loop.mode == "holding"


@pytest.mark.parametrize("which", ["wrench_age", "joint_age"])
def test_an_age_that_is_no_number_is_a_sample_that_did_not_come(which: str) -> None:
    loop = moving()
    loop.run(5, **{which: NAN})
    assert loop.mode == "holding"
    loop.run(60, **{which: NAN})
    assert loop.mode == "stopped"
    loop.judge()


def test_while_joint_samples_are_missing_their_prediction_is_used() -> None:
    loop = moving()
    before = loop.q.copy()
    history = run(loop.controller, before, UP, 1, joint_age=0.02)
    assert loop.mode == "holding"
    predicted = loop.rows[-1]["q"][-1] + loop.rows[-1]["qd"][-1] * T
    np.testing.assert_allclose(history["q"][0], predicted, atol=1e-12)


@pytest.mark.parametrize("age", [-0.001, -1.0])
def test_a_wrench_from_the_future_is_not_trusted(age: float) -> None:
    loop = moving()
    loop.run(10, wrench_age=age)
    assert loop.mode == "holding"
    assert "wrench_not_finite" in names_in(loop.rows[-1])


# --- a hold ends by itself ---


@pytest.mark.parametrize("cause", ["wrench_age", "joint_age", "dt", "NaN"])
def test_a_hold_ends_after_fifty_good_cycles_from_zero_speed(cause: str) -> None:
    loop = moving()
    if cause == "dt":
        loop.run(1, dt=0.03)
    elif cause == "NaN":
        loop.run(10, np.full(6, NAN))
    else:
        loop.run(10, **{cause: 0.02})
    assert loop.mode == "holding"
    loop.run(200, UP)
    after = loop.rows[-1]
    resumed = int(np.argmax(after["mode"] == bits.ACTIVE))
    still = int(np.argmax(speed(after) == 0))
    assert resumed > 0 and speed(after)[still : resumed + 1].max() == 0
    assert resumed - still in (50, 51)
    assert loop.mode == "active" and speed(after)[-1] > 0.02, "it goes on"
    loop.judge()


def test_a_fault_that_returns_during_the_wait_begins_the_wait_anew() -> None:
    loop = moving()
    loop.run(100, wrench_age=0.02)
    loop.run(40, ZERO)
    loop.run(1, wrench_age=0.02)
    loop.run(49)
    assert loop.mode == "holding"
    loop.run(3)
    assert loop.mode == "active"
    loop.judge()


def test_a_stretched_spring_does_not_snap_back_after_a_hold() -> None:
    config = {"admittance.stiffness": [300, 300, 300, 30, 30, 30]}
    loop = Loop(config)
    loop.run(600, UP)
    stretched = loop.history["X_WP"][-1, 2, 3] - loop.history["X_WP"][0, 2, 3]
    loop.run(60, wrench_age=0.02)
    loop.run(1500, ZERO)
    assert stretched > 0.05
    after = loop.rows[-1]
    resumed = int(np.argmax(after["mode"] == bits.ACTIVE))
    assert speed(after)[resumed] == 0
    assert after["engagement"][resumed] == 0 and (np.diff(after["engagement"][resumed:]) >= 0).all()
    home = loop.history["X_WP"][0, :3, 3]
    assert lengths(after["X_WP"][-1, :3, 3] - home) < 1e-3, "the spring remembers home"
    loop.judge()


def test_a_hand_may_move_the_arm_during_a_hold() -> None:
    """It goes on from where it was left, from zero speed, with the free axes anchored there."""
    loop = moving()
    loop.run(100, wrench_age=0.02)
    loop.q = loop.q + np.array([0.2, -0.1, 0.1, 0.3, -0.2, 0.4])
    loop.run(300, ZERO)
    after = loop.rows[-1]
    assert loop.mode == "active"
    assert speed(after).max() < 1e-9
    np.testing.assert_allclose(after["X_WC"][-1], arm().fk(loop.q), atol=1e-9)


# --- 3: a frozen sensor ---


def test_a_frozen_sensor_holds_and_then_stops() -> None:
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
    noisy = Loop({"safety.frozen_samples": 5})
    noisy.run(300, np.random.default_rng(2).normal(size=(300, 6)))
    assert noisy.mode == "active"
    quiet = Loop({})
    quiet.run(2000, ZERO)
    assert quiet.mode == "active"


# --- 4: spikes ---


@settings(max_examples=40)
@given(
    st.integers(0, 2**31), st.floats(101, 1e4), st.integers(1, 3), st.integers(5, 60), st.booleans()
)
def test_a_spike_of_up_to_three_samples_is_dropped(seed, size, count, at, as_torque) -> None:
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
    """A twin that feels exactly the maximum: the same motion up to the tick that stops."""
    runs = []
    for size in (199.999999, 1e6):
        loop = Loop(free_config(**{"safety.max_force": 200.0, **ENVELOPE}))
        loop.run(10, ZERO)
        loop.run(2, np.array([0, 0, -size, 0, 0, 0]))
        runs.append(loop.history["F_P"])
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-5)


@pytest.mark.parametrize("stiffness", [2e4, 5e4])
def test_a_collision_with_a_stiff_wall_stops_the_arm_within_a_cycle(stiffness: float) -> None:
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


# --- 15: impossible joints ---


@each_axis
@pytest.mark.parametrize("bad", [NAN, INF, -INF, 3.0, 1e300, -0.5])
def test_one_impossible_joint_sample_is_a_warning_and_three_are_a_stop(axis, bad) -> None:
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


# --- 18: no wall clock ---


def package() -> Path:
    return Path(ua.__file__).parent


@pytest.mark.parametrize(
    "file",
    sorted([*package().joinpath("kernel").glob("*.py"), package() / "controller.py"]),
    ids=lambda file: file.stem,
)
def test_the_core_never_asks_for_the_wall_clock(file: Path) -> None:
    """Its only clock is dt. What compiles it may use the monotonic one."""
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
    rng = np.random.default_rng(seed)
    loop = Loop({})
    for dt in dts:
        loop.run(1, rng.uniform(-60, 60, 6) * [1, 1, 1, 0.1, 0.1, 0.1], dt=dt)
    loop.judge()


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
    x, y, z, w = Rotation.from_matrix(arm().fk(HOME)[:3, :3]).as_quat() * length
    loop = Loop(equilibrium([float(w), float(x), float(y), float(z)]))
    loop.run(100)
    assert speed(loop.judge()).max() < 1e-3


@pytest.mark.parametrize(
    "wxyz",
    [[0, 0, 0, 0], [1e-8, 0, 0, 0], [1, 1, 0, 0], [0.99, 0, 0, 0], [NAN, 0, 0, 0], [1, 0, 0]],
)
def test_a_quaternion_that_is_none_is_refused(wxyz) -> None:
    with pytest.raises(ua.ConfigError):
        equilibrium(wxyz)


# --- 34: no answer from the inverse kinematics ---


def test_one_failure_of_the_inverse_kinematics_slows_the_arm_down_inside_the_limits() -> None:
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
    loop = broken_solver()
    assert loop.mode == "stopped"
    loop.controller._params["ik_damping"] = 0.05
    loop.run(50)
    assert loop.mode == "stopped"


# --- 35: half a turn ---


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("off", [-1e-6, -1e-9, -1e-12, 0.0, 1e-12, 1e-9, 1e-6])
def test_a_desired_pose_half_a_turn_away_is_reached_without_turning_back(way, off) -> None:
    """Wherever the rounding of half a turn falls, one way round is chosen and kept."""
    q = HOME.copy()
    q[5] = 0.3
    loop = Loop({"max_angular_velocity": 2.0}, q)
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
    """The pull of its spring neither jumps nor changes sides."""
    loop = wound_up()
    history = loop.judge()
    assert np.abs(np.diff(history["offset"][:, 5])).max() < 0.01, "the offset jumped"
    acceleration = np.diff(history["offset_rate"][:, 5]) / T
    assert np.abs(acceleration).max() < 0.9 / 0.2
    loop.run(5000, ZERO)
    assert abs(loop.rows[-1]["offset"][-1, 5]) < 0.05
    assert loop.q[5] == pytest.approx(-2.0, abs=0.05), "it did not come back the way it went"


def test_a_spring_past_half_a_turn_keeps_its_way_back_through_a_hold() -> None:
    loop = wound_up()
    loop.run(20, wrench_age=0.02)
    loop.run(5000, ZERO)
    assert loop.mode == "active"
    assert loop.q[5] == pytest.approx(-2.0, abs=0.05)


def test_a_spring_past_half_a_turn_keeps_its_way_back_while_the_arm_is_blocked() -> None:
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
    loop = Loop({"limits.max_linear_jerk": jerk, "limits.max_angular_jerk": 4 * jerk})
    loop.run(3)
    for sign in (1, -1, 1):
        X_WD = moved(arm().fk(HOME), np.array(shift) * sign * 0.5, np.array(turn) * sign)
        loop.controller.set_desired(X_WD)
        loop.run(700)
    loop.judge()
    assert loop.mode == "active"


def test_a_reference_that_falls_silent_stands_still_and_the_arm_stays_compliant() -> None:
    loop = Loop({})
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
    loop = Loop({"output.mode": mode})
    loop.run(500, UP / 2, speed=share)
    assert loop.mode == "active"
    history = loop.history
    lead = lengths(history["X_WC"][:, :3, 3] - history["X_WP"][:, :3, 3])
    assert lead.max() <= 0.05 + 1e-9
    fastest = speed(loop.rows[-1])[-1]
    loop.run(500, UP / 2)
    assert speed(loop.rows[-1]).max() < 1.1 * fastest + 0.05
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


# --- anything at all ---


@settings(max_examples=60)
@given(st.integers(0, 2**31))
def test_whatever_comes_in_what_goes_out_keeps_to_the_limits(seed: int) -> None:
    mixture_of_everything(seed)


@pytest.mark.slow
def test_half_a_million_ticks_of_anything_keep_to_the_limits() -> None:
    for seed in range(1700):
        mixture_of_everything(seed)


def mixture_of_everything(seed: int) -> None:
    """All of the above at random, 40 acts of up to 14 ticks."""
    rng = np.random.default_rng(seed)
    loop = Loop({"limits.max_linear_jerk": float(rng.choice([0, 50]))})
    controller = loop.controller
    for _ in range(40):
        act = rng.integers(0, 12)
        wrench = rng.uniform(-80, 80, 6) * [1, 1, 1, 0.1, 0.1, 0.1]
        more: dict[str, Any] = {}
        if act == 0:
            wrench[rng.integers(6)] = rng.choice([NAN, INF, 1e9])
        elif act == 1:
            more["wrench_age"] = float(rng.choice([0.005, 0.02, NAN, -1]))
        elif act == 2:
            more["joint_age"] = float(rng.choice([0.005, 0.02, NAN, -1]))
        elif act == 3:
            more["dt"] = float(rng.choice([0, NAN, -1, 0.03, 1]))
        elif act == 4:
            X_WD = moved(arm().fk(HOME), rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3))
            if loop.mode != "inactive":
                controller.set_desired(X_WD, rng.uniform(-0.2, 0.2, 6))
        elif act == 5:
            controller.set(**{"admittance.stiffness": rng.uniform(0, 500, 6).tolist()})
        elif act == 6 and loop.mode == "stopped" and controller.at_rest:
            controller.reset()
        elif act == 7 and rng.random() < 0.2:
            controller.stop()
        elif act == 8 and rng.random() < 0.2:
            controller.deactivate()
        elif act == 9 and loop.mode == "inactive":
            controller.activate(loop.q)
            assert (loop.run(1, wrench)["qd"] == 0).all()
        loop.run(int(rng.integers(1, 15)), wrench, **more)
    for part in parts_between_activations(loop.history):
        oracle(part, controller)


def parts_between_activations(history: np.ndarray) -> list[np.ndarray]:
    """The tick counter begins anew at each activation."""
    starts = np.flatnonzero(np.diff(history["tick"]) != 1) + 1
    return np.split(history, starts)


def test_the_record_of_events_cannot_overflow() -> None:
    loop = Loop({})
    for k in range(200):
        loop.run(1, dt=-1.0 if k % 2 else T)
    assert len(loop.controller.events()) == layout.EVENTS
    assert loop.controller._state["event_count"] == 100
