"""What contact asks of the arm: a lead that undoes its lag, and brakes with a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from tests.kernel.plain import Records, plain, records
from ur_admittance.kernel import bits

motion = plain("contact_motion")
seeds = st.integers(0, 2**31)
LAG = 0.025  # s; four fifths of it are made up for
MADE_UP = 0.8 * LAG


def lagging(**state: Any) -> Records:
    r = records(**state)
    r.p.arm_lag, r.p.a_max, r.p.contact_braking = LAG, 5.0, 20.0
    r.s.J_inverse[:] = np.linalg.inv(r.s.J)
    return r


def random_direction(rng: np.random.Generator) -> np.ndarray:
    n = rng.normal(size=3)
    return n / np.linalg.norm(n)


def test_what_the_arm_makes_of_its_commands_is_their_low_pass() -> None:
    r, commands = lagging(), np.random.default_rng(1).normal(size=(400, 3))
    made = []
    for command in commands:
        r.s.V_prev[:3] = command
        motion.lead_lag(r.p, r.s, (0.0, 0.0, 0.0))
        made.append(r.s.V_arm.copy())
    share = r.s.dt / (MADE_UP + r.s.dt)
    expected = lfilter([share], [1.0, share - 1.0], commands, axis=0)
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("acceleration", [0.5, -2.0])
def test_with_the_lead_an_arm_that_lags_makes_what_the_law_wishes(acceleration: float) -> None:
    """The arm is `lag v' = command - v`, solved exactly from tick to tick; the law accelerates."""
    r, v, last = lagging(), 0.0, 0.0
    keeps = np.exp(-r.s.dt / MADE_UP)
    for k in range(1, 100):
        wish = acceleration * k * r.s.dt
        r.s.v[:3] = r.s.V_track[:3] = [wish, 0.0, 0.0]
        motion.lead_lag(r.p, r.s, (last, 0.0, 0.0))
        v = keeps * v + (1.0 - keeps) * float(r.s.V_track[0])
        last = wish
    behind = abs(wish - v) / abs(acceleration)
    assert behind < 0.1 * MADE_UP, "without the lead it is the whole lag"


def test_the_lead_is_bounded_by_what_the_arm_can_accelerate() -> None:
    r = lagging()
    r.s.v[:3] = [1.0, 0.0, 0.0]  # from rest, in one tick: 500 m/s^2
    motion.lead_lag(r.p, r.s, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(r.s.lead, [5.0 * MADE_UP, 0.0, 0.0], rtol=1e-12)


def test_an_arm_of_unknown_lag_is_told_what_the_law_wishes() -> None:
    r = lagging()
    r.p.arm_lag = 0.0
    r.s.v[:3], r.s.V_track[:3] = 0.3, 0.2
    motion.lead_lag(r.p, r.s, (0.0, 0.0, 0.0))
    assert (r.s.V_track[:3] == 0.2).all()
    assert not r.s.lead.any()


def test_the_normal_is_of_what_presses_else_of_what_is_felt() -> None:
    r = lagging()
    r.s.touch_normal[:] = [0.0, 0.0, 1.0]
    assert not np.any(motion.braked_normal(r.s)), "nothing is damped yet"
    r.s.touch_damping = 100.0
    assert tuple(motion.braked_normal(r.s)) == (0.0, 0.0, 1.0)
    r.s.force_normal[:] = [1.0, 0.0, 0.0]
    assert tuple(motion.braked_normal(r.s)) == (1.0, 0.0, 0.0)


@settings(max_examples=200)
@given(seeds)
def test_brakes_act_along_the_normal_towards_the_wish_and_within_their_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = lagging(touch_damping=100.0)
    n = random_direction(rng)
    r.s.touch_normal[:] = n
    r.s.V_mem[:3], r.s.V_track[:3], r.s.V_arm[:] = rng.normal(size=(3, 3)) * 0.2
    motion.allow_braking(r.p, r.s)
    brake = float(r.s.brake @ n)
    now, wish = float(r.s.V_mem[:3] @ n), float(r.s.V_track[:3] @ n)
    np.testing.assert_allclose(r.s.brake, brake * n, atol=1e-15)
    assert abs(brake) <= 20.0 * (r.s.dt + MADE_UP) - 5.0 * r.s.dt + 1e-12
    assert brake * (wish - now) >= 0.0, "towards the wish"
    assert abs(brake) <= abs(wish - now) + 1e-12, "and not beyond it"
    assert abs(now + brake) <= abs(now) + 1e-12, "it slows down: there is no lead"


@settings(max_examples=100)
@given(seeds)
def test_the_arm_itself_never_brakes_harder_than_it_may_towards_a_wall(seed: int) -> None:
    """The command may be ahead of the arm by the lag: what it makes is what is bounded."""
    rng = np.random.default_rng(seed)
    r = lagging(touch_damping=100.0)
    r.s.touch_normal[:] = [0.0, 0.0, 1.0]
    made = -rng.uniform(0.0, 0.5)
    r.s.V_arm[2], r.s.V_mem[2] = made, made + rng.uniform(-0.1, 0.1)
    r.s.V_track[2] = r.s.lead[2] = rng.uniform(0.0, 2.0)
    motion.allow_braking(r.p, r.s)
    command = r.s.V_mem[2] + r.s.brake[2] + r.p.a_max * r.s.dt
    if r.s.brake[2] > 0.0:
        most = 20.0 * (r.s.dt + MADE_UP)  # so that the lag's low-pass makes 20 m/s^2 of it
        assert command - made <= most + 1e-12


@pytest.mark.parametrize("why", ["nothing is touched", "the arm brakes no harder"])
def test_without_reason_there_is_no_brake(why: str) -> None:
    r = lagging(touch_damping=100.0)
    r.s.touch_normal[:], r.s.V_mem[2], r.s.V_arm[2] = [0.0, 0.0, 1.0], -0.3, -0.3
    if why == "nothing is touched":
        r.s.touch_damping = 0.0
    else:
        r.p.contact_braking = r.p.a_max
    motion.allow_braking(r.p, r.s)
    assert not r.s.brake.any()


@pytest.mark.parametrize(
    ("name", "value", "bit"),
    [
        ("touch_damping", 1.0, bits.CONTACT_DAMPING),
        ("brake", [0.0, -0.01, 0.0], bits.CONTACT_BRAKING),
        ("calm", 0.5, bits.CONTACT_OSCILLATION),
    ],
)
def test_each_of_them_is_said_in_the_status(name: str, value: object, bit: int) -> None:
    r = lagging(**{name: value})
    motion.note_contact(r.s)
    assert r.s.status == bit
