"""Steps 1 and 9: what the checks take for good, what they put in its place, and what is decided."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.plain import plain, records
from ur_admittance import Config
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits, layout

check = plain("check")
NAN, INF = math.nan, math.inf
T = 0.002
CONFIGS = {n: Config.from_dict({"safety.frozen_samples": n}) for n in (0, 25)}


# --- time ---


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_step_is_used_as_it_is_or_the_nominal_one_is(dt: float) -> None:
    r = records(CONFIGS[0], dt=0.004)
    r.i.dt = dt
    check.check_time(r.p, r.s, r.i)
    good = 0 < dt <= 0.1
    assert r.s.dt == (dt if good else T) and r.s.dt_prev == 0.004
    assert bool(r.s.status & bits.BAD_DT) == (not good) == r.s.bad_dts
    assert bool(r.s.status & bits.TIME_GAP) == (dt > 5 * T + 1e-9)
    assert r.s.hold == max(r.s.dt, 5 * T), "a command must do no harm until the latest next one"


# --- joints ---


@given(st.lists(st.floats(-0.05, 0.05), min_size=6, max_size=6), st.floats(1e-4, 0.1))
def test_a_joint_may_jump_three_times_as_far_as_it_can_go_and_a_thousandth(jumps, dt) -> None:
    r = records(CONFIGS[0], dt=dt, dt_prev=T, qd_prev=np.full(6, 0.1))
    before = r.s.q.copy()
    r.i.q[:] = before + jumps
    most = 3 * r.p.qd_max * max(dt, T) + 1e-3
    sane = bool((np.abs(r.i.q - before) <= most).all())
    check.check_joints(r.p, r.s, r.i)
    assert bool(r.s.status & bits.JOINTS_IMPLAUSIBLE) == (not sane) == r.s.bad_joints
    np.testing.assert_array_equal(r.s.q, r.i.q if sane else before + 0.1 * dt)


@pytest.mark.filterwarnings("ignore:invalid value")  # NumPy's, of inf - inf
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("state", ["fresh", "inactive", "at rest and held"])
def test_an_arm_that_may_be_anywhere_is_still_nowhere_without_a_number(state, bad) -> None:
    def look(value: float) -> int:
        r = records(CONFIGS[0])
        r.s.seeding = state == "fresh"
        r.s.at_rest = state == "at rest and held"
        r.s.mode = bits.INACTIVE if state == "inactive" else r.s.mode
        r.s.mode = bits.HOLDING if r.s.at_rest else r.s.mode
        r.i.q[3] = value
        check.check_joints(r.p, r.s, r.i)
        return int(r.s.status)

    assert look(5.0) == 0, "a hand may have moved it"
    assert look(bad) & bits.JOINTS_IMPLAUSIBLE


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (0.0, 0),
        (0.0099, 0),
        (0.01, bits.JOINTS_STALE),
        (0.0999, bits.JOINTS_STALE),
        (0.1, bits.JOINTS_STALE | bits.JOINTS_LOST),
        (INF, bits.JOINTS_STALE | bits.JOINTS_LOST),
    ],
)
def test_joints_are_judged_by_their_age(age: float, said: int) -> None:
    r = records(CONFIGS[0], qd_prev=np.full(6, 0.2))
    before = r.s.q.copy()
    r.i.joint_age = age
    check.check_joints(r.p, r.s, r.i)
    assert r.s.status == said and r.s.joint_silence == age
    np.testing.assert_allclose(r.s.q, before + (0.2 * T if said else 0.0), rtol=0, atol=1e-15)


def test_an_age_that_makes_no_sense_is_silence_that_adds_up() -> None:
    r = records(CONFIGS[0])
    r.i.joint_age = NAN
    for k in range(1, 51):
        r.s.status = 0
        check.check_joints(r.p, r.s, r.i)
        assert r.s.joint_silence == pytest.approx(k * T)
        assert bool(r.s.status & bits.JOINTS_STALE) == (k >= 5)
        assert bool(r.s.status & bits.JOINTS_LOST) == (k >= 50)


# --- the wrench's age ---


@given(st.floats(0, 0.3), st.floats(0, 0.3), st.integers(0, 120), st.sampled_from([0, 25]))
def test_one_clock_tells_the_silence_of_the_sensor(age, silence, frozen, samples) -> None:
    r = records(CONFIGS[samples])
    r.s.wrench_silence, r.s.frozen, r.i.wrench_age, r.s.wrench_seen = silence, frozen, age, 1
    check.check_wrench_age(r.p, r.s, r.i)
    is_frozen = samples > 0 and frozen >= samples
    longest = max(age, silence, (frozen - samples) * T if is_frozen else 0.0)
    assert bool(r.s.status & bits.WRENCH_FROZEN) == is_frozen
    assert bool(r.s.status & bits.WRENCH_STALE) == (longest >= 0.01 - 1e-9)
    assert bool(r.s.status & bits.WRENCH_LOST) == (longest >= 0.1 - 1e-9)


# --- the decision ---

HOLD, STOP = bits.WRENCH_STALE, bits.OVER_FORCE
A, H, S, L, OFF = bits.ACTIVE, bits.HOLDING, bits.STOPPED, bits.LEAVING, bits.INACTIVE


@pytest.mark.parametrize(
    ("mode", "status", "then"),
    [
        (A, 0, A), (A, bits.SPEED_LIMIT | bits.WRENCH_SPIKE, A), (A, HOLD, H), (A, STOP, S),
        (A, HOLD | STOP, S), (H, 0, H), (H, HOLD, H), (H, STOP, S), (S, 0, S), (S, HOLD, S),
        (S, STOP, S), (L, HOLD | STOP, L), (OFF, HOLD | STOP, OFF),
    ],
)  # fmt: skip
def test_the_mode_follows_from_the_status(mode: int, status: int, then: int) -> None:
    r = records(CONFIGS[0])
    r.s.mode, r.s.status = mode, status | bits.LEAD_LIMIT
    check.decide(r.s)
    assert r.s.mode == then
    if mode == A:
        assert r.s.reasons == status & (bits.HOLDS | bits.STOPS)


def test_a_hold_ends_after_its_good_ticks_at_rest_and_a_stop_never() -> None:
    for mode, ends in ((bits.HOLDING, True), (bits.STOPPED, False)):
        r = records(CONFIGS[0], at_rest=1, good_ticks=0)
        r.s.mode = mode
        ticks = 0
        while r.s.mode == mode and ticks < 300:
            check.decide(r.s)
            ticks += 1
        assert (ticks == check.GOOD_TICKS + 1) == ends


def test_an_arm_that_still_brakes_does_not_count_its_good_ticks() -> None:
    r = records(CONFIGS[0], at_rest=0)
    r.s.mode = bits.HOLDING
    for _ in range(200):
        check.decide(r.s)
    assert r.s.mode == bits.HOLDING and r.s.good_ticks == 0


# --- events ---


@given(st.lists(st.sets(st.sampled_from([f.mask for f in FAULTS])), min_size=1, max_size=8))
def test_a_fault_is_written_down_once_when_it_is_new(statuses) -> None:
    r = records(CONFIGS[0])
    expected, before = [], set()
    for k, faults in enumerate(statuses):
        r.s.status, r.s.time = sum(faults), 0.1 * k
        check.note_events(r.p, r.s, r.i)
        new = sorted(f for f in faults - before if f > bits.LIMITS)
        expected += [(mask.bit_length() - 1, 0.1 * k) for mask in new]
        before = faults
    assert r.s.event_count == len(expected)
    last = range(max(0, len(expected) - layout.EVENTS), len(expected))
    noted = [r.s.events[k % layout.EVENTS] for k in last]
    assert [(int(e.bit), float(e.time)) for e in noted] == expected[last.start :]


def test_the_joint_that_is_farthest_outside_is_the_one_that_is_told() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        r = records(CONFIGS[0], q=rng.uniform(-9, 9, 6))
        over = np.maximum(r.s.q - r.p.q_max, r.p.q_min - r.s.q)
        n = int(np.argmax(over))
        value, limit = check.joint_outside(r.p, r.s)
        if over[n] <= 0:
            assert (value, limit) == (0.0, 0.0)
        else:
            assert value == r.s.q[n]
            assert limit == (r.p.q_max if r.s.q[n] > 0 else r.p.q_min)[n]


@pytest.mark.parametrize("age", [0.0, NAN, 0.2])
def test_the_silence_that_is_told_is_that_of_which_a_frozen_sensor_is_judged(age: float) -> None:
    r = records(CONFIGS[25])
    r.s.wrench_silence, r.s.frozen, r.i.wrench_age, r.s.wrench_seen = 0.0, 85, age, 1
    check.check_wrench_age(r.p, r.s, r.i)
    assert r.s.status & bits.WRENCH_LOST
    for fault, limit in ((bits.WRENCH_STALE, 0.01), (bits.WRENCH_LOST, 0.1)):
        value = max(60 * T, 0.2 if age == 0.2 else 0.0)
        assert check.measure(r.p, r.s, r.i, fault) == pytest.approx((value, limit))


def test_joints_that_are_lost_by_leaps_are_told_by_the_leap() -> None:
    r = records(CONFIGS[0])
    r.i.q[:] = r.s.q + 0.5
    for _ in range(3):
        check.check_joints(r.p, r.s, r.i)
    assert r.s.status & bits.JOINTS_LOST
    value, limit = check.measure(r.p, r.s, r.i, bits.JOINTS_LOST)
    assert value == pytest.approx(0.5) and limit == 3 * r.p.qd_max[0] * T + 1e-3
