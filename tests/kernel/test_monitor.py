"""The port watched: energy as a spring's potential gives it, and shaking told from work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.plain import Records, plain, records
from ur_admittance.kernel import bits

monitor, kinematics = plain("monitor"), plain("kinematics")
AXIS = np.array([1.0, 2.0, -2.0]) / 3.0


def sensor_point(r: Records) -> np.ndarray:
    return r.s.p_WP + r.s.R_WP @ r.p.p_PS


def feel(r: Records, force: np.ndarray, torque: np.ndarray) -> None:
    """What the sensor reports of a force and a torque at S, both given in W axes."""
    R_SW = (r.s.R_WP @ r.p.R_PS).T
    r.s.F_S_comp[:3], r.s.F_S_comp[3:] = R_SW @ force, R_SW @ torque


@settings(max_examples=4)
@given(st.integers(0, 2**31))
def test_the_energy_is_what_a_spring_gave_away(seed: int) -> None:
    """A spring in space holds the sensor's point, along a random motion of all joints."""
    rng = np.random.default_rng(seed)
    r = records()
    r.p.p_PS[:] = rng.normal(size=3) * 0.1
    home, swing, phase = r.s.q.copy(), rng.normal(size=6) * 0.3, rng.uniform(0, 6, 6)
    anchor = sensor_point(r) + rng.normal(size=3) * 0.3
    held = []
    for t in np.linspace(0.0, 1.0, 401):
        r.s.q[:] = home + swing * (np.sin(5 * t + phase) - np.sin(phase))
        kinematics.kinematics(r.p, r.s)
        stretch = anchor - sensor_point(r)
        feel(r, 50.0 * stretch, np.zeros(3))
        monitor.account(r.p, r.s)
        held.append(0.5 * 50.0 * stretch @ stretch)
    gone = held[0] - np.array(held)
    assert r.s.energy == pytest.approx(gone[-1], abs=0.02 * np.ptp(gone))
    assert r.s.energy_given == pytest.approx(max(0.0, -gone.min()), abs=0.02 * np.ptp(gone))


def test_a_torque_works_by_the_angle_it_turns() -> None:
    r = records()
    axis, home = r.s.J[3:, 5].copy(), r.s.q[5]  # of the last joint, which turns the tool alone
    for angle in np.linspace(0.0, 0.8, 201):
        r.s.q[5] = home + angle
        kinematics.kinematics(r.p, r.s)
        feel(r, np.zeros(3), 2.0 * axis)
        monitor.account(r.p, r.s)
    assert r.s.energy == pytest.approx(1.6, rel=1e-9)


def test_an_arm_that_is_placed_anew_has_not_worked_on_the_way() -> None:
    r = records()
    feel(r, np.array([0.0, 0.0, 30.0]), np.zeros(3))
    monitor.account(r.p, r.s)
    r.s.q[1] += 0.5
    kinematics.kinematics(r.p, r.s)
    r.s.seeding = bits.SEED_ALL
    monitor.account(r.p, r.s)
    assert r.s.energy == 0.0


def shaken(force, way=lambda t: 0.0, seconds: float = 2.0) -> tuple[float, float]:
    """When a force along AXIS, N at a time, is damped, s, and when it is called unstable.

    Args:
        way: how the tool moves along AXIS meanwhile, m/s.
    """
    r = records()
    r.p.monitor = 1
    damped = unstable = np.inf
    for t in np.arange(0.0, seconds, r.s.dt):
        r.s.port_F[:3], r.s.port_way[:] = force(t) * AXIS, way(t) * r.s.dt * AXIS
        r.s.status = 0
        monitor.watch(r.p, r.s)
        if r.s.calm == 1.0:
            damped = min(damped, t)
        if r.s.status & bits.CONTACT_UNSTABLE:
            unstable = min(unstable, t)
    return damped, unstable


@pytest.mark.parametrize("hertz", [1.5, 4.0, 10.0, 30.0])
def test_what_shakes_without_work_is_damped_after_two_half_waves_and_stopped(hertz: float) -> None:
    damped, unstable = shaken(lambda t: 10.0 * np.sin(2 * np.pi * hertz * t), seconds=4.0)
    assert 0.5 / hertz < damped < 1.5 / hertz
    assert damped < unstable
    assert 0.33 - 0.5 / hertz < unstable < max(0.33, 2.5 / hertz) + 1.0 / hertz


@pytest.mark.parametrize(
    ("hertz", "size"), [(10.0, 0.9), (1.0, 2.5), (45.0, 2.5)], ids=["small", "slow", "fast"]
)
def test_what_is_too_small_too_slow_or_too_fast_is_no_contact_oscillation(hertz, size) -> None:
    swing = lambda t: size * monitor.SWING * np.sin(2 * np.pi * hertz * t)  # noqa: E731
    assert shaken(swing, seconds=4.0) == (np.inf, np.inf)


@pytest.mark.parametrize("hertz", [2.0, 5.0, 12.0])
def test_a_hand_works_and_a_wall_that_is_shaken_does_not(hertz: float) -> None:
    force = lambda t: 10.0 * np.sin(2 * np.pi * hertz * t)  # noqa: E731
    hand = lambda t: 0.02 * np.sin(2 * np.pi * hertz * t)  # noqa: E731
    wall = lambda t: 0.02 * np.cos(2 * np.pi * hertz * t)  # noqa: E731
    assert shaken(force, hand) == (np.inf, np.inf)
    assert max(shaken(force, wall)) < np.inf


def test_what_abates_is_damped_and_not_stopped() -> None:
    ring = lambda t: 60.0 * np.exp(-2.0 * t) * np.sin(2 * np.pi * 6.0 * t)  # noqa: E731
    damped, unstable = shaken(ring)
    assert damped < np.inf
    assert unstable == np.inf


@given(
    st.floats(0, 1),
    st.floats(-1, 1),
    st.floats(0.1, 50),
    st.floats(1, 1000),
)
def test_the_further_damping_is_an_implicit_step_of_a_damper(calm, v, mass, damping) -> None:
    r = records(calm=calm)
    r.s.mass[:], r.s.damping[:], r.s.v[:] = mass, damping, v
    r.s.dx[:] = v * r.s.dt
    r.p.enabled[1] = 0
    monitor.calm_down(r.p, r.s)
    after = mass * v / (mass + calm * damping * r.s.dt)  # M (v' - v) = -calm D v' dt
    expected = np.full(6, v)
    expected[[0, 2]] = after
    np.testing.assert_allclose(r.s.v, expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(r.s.dx, expected * r.s.dt, rtol=1e-9, atol=1e-18)
