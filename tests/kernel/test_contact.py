"""What is touched, how it is felt out, and what it does to the law."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernel.plain import plain, records
from tests.support import arm
from ur_admittance import Config
from ur_admittance.kernel import bits

contact, contact_motion = plain("contact"), plain("contact_motion")
DOWN = np.array([0.0, 0, -1])


def feeling(**values):
    r = records(Config.from_dict({"contact.adapt": True, **values}))
    r.s.dt = 0.002
    return r


def move(r, way, force, ticks: int) -> None:
    """Feel out a straight way, m from start to end, with the force as a function of the place."""
    start = r.s.p_WP.copy()
    for k in range(ticks):
        place = start + np.asarray(way) * (k + 1) / ticks
        r.s.p_WP[:] = place
        f_W = force(place - start)
        r.s.F_S_comp[:3] = r.p.R_PS.T @ (r.s.R_WP.T @ f_W)
        contact.feel(r.p, r.s)


def wall(stiffness: float, normal: np.ndarray):
    return lambda place: normal * stiffness * max(0.0, -float(normal @ place))


@pytest.mark.parametrize("stiffness", [30e3, 60e3, 90e3])
def test_the_stiffness_and_the_normal_of_a_wall_are_found(stiffness: float) -> None:
    r, normal = feeling(), np.array([0.6, 0.0, 0.8])
    move(r, -normal * 2e-3, wall(stiffness, normal), 20)
    assert r.s.touch_stiffness == pytest.approx(stiffness, rel=0.25)
    assert r.s.touch_stiffness <= stiffness * (1 + 1e-9)
    assert r.s.touch_normal @ normal == pytest.approx(1, abs=1e-6)


def test_no_wall_is_stiffer_than_it_may_count() -> None:
    r = feeling(**{"contact.max_stiffness": 30e3})
    move(r, DOWN * 2e-3, wall(90e3, -DOWN), 20)
    assert r.s.touch_stiffness == 30e3


def test_noise_alone_is_nothing_that_is_touched() -> None:
    r, rng = feeling(), np.random.default_rng(1)
    start = r.s.p_WP.copy()
    for _ in range(5000):
        r.s.p_WP[:] = start + rng.normal(0, 5e-6, 3)
        r.s.F_S_comp[:3] = rng.normal(0, 0.2, 3)
        contact.feel(r.p, r.s)
    assert r.s.touch_stiffness < 2000  # less than what would be damped at D = 80


def test_a_force_that_leads_the_tool_is_nothing_that_is_touched() -> None:
    r = feeling()
    move(r, DOWN * 0.02, lambda place: 5 * DOWN + 500 * place, 100)
    assert r.s.touch_stiffness == 0


def test_the_way_makes_it_forget_and_time_does_not() -> None:
    r = feeling()
    move(r, DOWN * 1e-3, wall(50e3, -DOWN), 10)
    for _ in range(20):  # the last of the motion is still in the window
        contact.feel(r.p, r.s)
    held = r.s.touch_stiffness
    for _ in range(500):
        contact.feel(r.p, r.s)
    assert r.s.touch_stiffness == held > 30e3
    move(r, -DOWN * 3e-3, lambda _: 0.0 * DOWN, 60)
    assert r.s.touch_stiffness < 0.05 * held


def touching(stiffness: float, normal: np.ndarray, **values):
    r = feeling(**values)
    r.s.touch_stiffness = stiffness
    r.s.touch_normal[:] = normal
    r.s.mass[:], r.s.damping[:] = 8.0, 80.0
    plain("spatial").set_quaternion(r.s.wxyz_WD, tuple(r.s.wxyz_WP))
    return r


@pytest.mark.parametrize("frame", ["base", "probe"])
def test_only_the_motion_along_the_normal_is_damped(frame: str) -> None:
    normal = np.array([0.0, 0.6, 0.8])
    r = touching(50e3, normal, **{"admittance.frame": frame})
    turn = np.eye(3) if frame == "base" else arm().fk(arm().home)[:3, :3]
    r.s.v[:3] = turn.T @ np.array([0.05, 0.02, 0.03])
    contact.damp(r.p, r.s)
    v = turn @ r.s.v[:3]
    assert r.s.touch_damping == pytest.approx(0.03 * 50e3 - 80)
    assert v[0] == pytest.approx(0.05)
    across = np.array([0.0, 0.8, -0.6])
    assert v @ across == pytest.approx(np.array([0.05, 0.02, 0.03]) @ across)
    slowed = (0.05 * 0 + 0.02 * 0.6 + 0.03 * 0.8) / (1 + 0.002 * r.s.touch_damping / 8)
    assert v @ normal == pytest.approx(slowed)


def test_a_soft_thing_is_damped_critically() -> None:
    r = touching(2000.0, -DOWN)
    contact.damp(r.p, r.s)
    assert r.s.touch_damping + 80 == pytest.approx(2 * np.sqrt(8.0 * 2000))


def test_what_the_law_damps_by_itself_is_not_damped_beyond_it() -> None:
    r = touching(150.0, -DOWN)
    r.s.v[:3] = [0.05, 0.02, 0.03]
    contact.damp(r.p, r.s)
    np.testing.assert_array_equal(r.s.v[:3], [0.05, 0.02, 0.03])
    assert r.s.touch_damping == 0


def test_the_law_of_a_stiff_thing_feels_the_force_late_and_that_of_a_soft_one_ahead() -> None:
    felt = []
    for stiffness in (2e3, 50e3):
        r = touching(
            stiffness, -DOWN, **{"admittance.frame": "base", "admittance.deadband_force": 0}
        )
        r.s.touch_steady[:], r.s.touch_F[0] = -2.0 * DOWN, -6.0 * DOWN
        r.s.touch_ticks, r.s.F_law[:3] = 1, -6.0 * DOWN
        r.s.F_P[:3] = r.s.R_WP.T @ (-6.0 * DOWN)
        contact.sharpen(r.p, r.s)
        felt.append(r.s.F_law[2])
    assert felt[1] == pytest.approx(2.0)
    assert 6.0 < felt[0] < 8.0


def test_a_desired_pose_that_moves_into_a_wall_presses_no_harder_for_the_damper() -> None:
    r = touching(50e3, -DOWN, **{"admittance.frame": "base"})
    r.s.V_WD[:3] = 0.02 * DOWN
    r.s.v[:3] = -0.02 * DOWN  # the tool stands
    contact.damp(r.p, r.s)
    np.testing.assert_allclose(r.s.v[:3], -0.02 * DOWN, atol=1e-15)


def test_an_axis_that_is_switched_off_takes_no_damping() -> None:
    axes = [True, True, False, True, True, True]
    r = touching(50e3, -DOWN, **{"admittance.frame": "base", "admittance.enabled_axes": axes})
    r.s.v[:3] = [0.05, 0.02, 0.0]
    contact.damp(r.p, r.s)
    np.testing.assert_array_equal(r.s.v[:3], [0.05, 0.02, 0.0])


def test_braking_is_towards_the_wish_to_rest_and_no_harder_than_allowed() -> None:
    r = touching(50e3, -DOWN, **{"limits.max_contact_braking": 12.0})
    r.s.touch_damping = 1000.0
    r.s.V_mem[:3] = [0.05, 0.0, -0.1]
    r.s.V_track[:3] = [0.05, 0.0, 0.05]
    contact_motion.allow_braking(r.p, r.s)
    np.testing.assert_allclose(r.s.brake, [0, 0, (12.0 - r.p.a_max) * 0.002])
    r.s.V_mem[2] = -0.001
    contact_motion.allow_braking(r.p, r.s)
    np.testing.assert_allclose(r.s.brake, [0, 0, 0.001])  # to rest; away only as it ever may
    r.s.V_track[2] = -0.2
    contact_motion.allow_braking(r.p, r.s)
    assert not r.s.brake.any()  # faster into the wall: never


def test_without_contact_there_is_no_harder_braking() -> None:
    r = feeling()
    r.s.V_mem[2], r.s.V_track[2] = -0.1, 0.1
    contact_motion.allow_braking(r.p, r.s)
    assert not r.s.brake.any()


def test_the_lead_is_that_of_the_lag() -> None:
    r = feeling(**{"arm.lag": 0.01, "admittance.frame": "base"})
    r.s.v[:3] = [0.004, 0.0, 0.0]
    contact_motion.lead_lag(r.p, r.s, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(r.s.lead, [0.8 * 0.01 * 0.004 / 0.002, 0, 0])
    np.testing.assert_allclose(r.s.V_track[:3], r.s.lead)
    r.s.v[:3] = [0.1, 0.0, 0.0]  # harder than the tool may accelerate
    contact_motion.lead_lag(r.p, r.s, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(r.s.lead, [0.8 * 0.01 * r.p.a_max, 0, 0])


def test_what_a_limit_took_of_the_lead_comes_in_the_next_tick() -> None:
    r = touching(50e3, -DOWN, **{"arm.lag": 0.01, "admittance.frame": "base"})
    r.s.touch_damping = 1000.0
    r.s.V_arm[:] = r.s.V_prev[:3] = 0.01 * DOWN  # the arm still goes in; the law is at rest
    for _ in range(3):
        r.s.V_track[:3] = 0.0
        contact_motion.lead_lag(r.p, r.s, (0.0, 0.0, 0.0))
        most = contact.joint_acceleration(r.p, r.s, r.s.touch_normal)
        np.testing.assert_allclose(r.s.lead, [0, 0, 0.008 * min(0.01 / 0.002, 1.5 * most)])


def test_a_lagging_arm_brakes_as_hard_as_it_may_by_a_command_ahead_of_it() -> None:
    r = touching(50e3, -DOWN, **{"limits.max_contact_braking": 12.0, "arm.lag": 0.01})
    r.s.touch_damping = 1000.0
    r.s.V_mem[2] = r.s.V_arm[2] = -0.1
    r.s.V_track[2], r.s.lead[2] = 0.1, 0.1
    contact_motion.allow_braking(r.p, r.s)
    # (command - arm) / (lag + dt) is its acceleration, the tool's own limit included
    command = -0.1 + r.s.brake[2] + r.p.a_max * 0.002
    assert (command + 0.1) / (0.008 + 0.002) == pytest.approx(12.0)


def test_a_number_that_is_none_leaves_nothing_touched() -> None:
    r = feeling()
    r.s.F_S_comp[:3] = np.nan
    for _ in range(20):
        contact.feel(r.p, r.s)
    assert r.s.touch_stiffness == 0
    contact_motion.note_contact(r.s)
    assert not r.s.status & (bits.CONTACT_BRAKING | bits.CONTACT_DAMPING)
