"""The last line before the robot: whatever is commanded, what is sent keeps every joint limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chain.support import DT, Wired
from tests.support import arm
from ur_admittance import ModelError
from ur_admittance.chain import Link, positions, velocities
from ur_admittance.chain import compiled as places
from ur_admittance.chain.guard import Guard
from ur_admittance.chain.interfaces import Interfaces
from ur_admittance.kernel import bits, layout

JOINTS = arm().joint_names


def commanding(names: tuple[str, ...]) -> Link:
    return Wired("forward", commands=names)


class Arm:
    """A guard with an arm behind it that does what it is told, and what one may write to it."""

    def __init__(self, *links: Link, q: np.ndarray | None = None, **limits: np.ndarray) -> None:
        self.interfaces = Interfaces(JOINTS)
        self.guard = Guard(
            self.interfaces, arm(), 500.0,
            limits.get("joint_velocity"), limits.get("joint_acceleration"),
        )  # fmt: skip
        self.values = self.interfaces.values
        self.q = np.array(arm().home if q is None else q)
        self.values[places.Q : places.QD] = self.q
        self.guard.begin(self.q)
        self.guard.wire(links, None)

    def told(self, wish: np.ndarray, dt: float = DT) -> int:
        """One cycle with a wish for each joint, rad/s or rad. Returns what the guard returns."""
        first = places.Q_CMD if self.guard.by_position else places.QD_CMD
        self.values[places.Q : places.QD] = self.q
        self.values[first : first + 6] = wish
        wrong = self.guard.finish(dt)
        sent = self.values[places.Q_CMD : places.OWN]
        self.q = sent.copy() if self.guard.by_position else self.q + self.guard.qd * dt
        return wrong


huge = st.sampled_from([math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 1e300, 0.0])
wild = st.one_of(st.floats(-30, 30), huge)
wishes = st.lists(wild, min_size=6, max_size=6).map(np.array)
moments = st.tuples(wishes, st.integers(1, 40), st.floats(5e-4, 0.1))
starts = st.tuples(st.sampled_from([0.0, 1e-6, 0.05, 3.0]), st.sampled_from([-1.0, 1.0]))


@settings(max_examples=150)
@given(starts, st.lists(moments, min_size=1, max_size=12), st.booleans())
def test_no_wish_makes_a_joint_faster_harder_or_go_farther_than_it_may(start, todo, by_position):
    away, side = start
    model = arm()
    end = model.q_max if side > 0 else model.q_min
    loop = Arm(commanding((positions if by_position else velocities)(JOINTS)), q=end - side * away)
    before = np.zeros(6)
    for wish, times, dt in todo:
        for _ in range(times):
            was = loop.q
            wrong = loop.told(wish, dt)
            qd = loop.guard.qd
            assert np.isfinite(qd).all() and np.isfinite(loop.q).all()
            assert (np.abs(qd) <= model.qd_max * (1 + 1e-9)).all()
            assert (np.abs(qd - before) <= model.qdd_max * dt * (1 + 1e-9)).all()
            assert (loop.q <= model.q_max + 1e-9).all() and (loop.q >= model.q_min - 1e-9).all()
            np.testing.assert_allclose(loop.q - was, qd * dt, atol=1e-12)
            if wrong:
                assert not np.isfinite(wish[wrong - 1])
            else:
                assert np.isfinite(wish).all()
            before = qd.copy()
    stops = np.max(np.abs(before) / model.qdd_max)
    for _ in range(math.ceil(stops / DT) + 2):
        loop.told(np.full(6, math.nan))
    assert loop.guard.at_rest and not loop.guard.qd.any()


@pytest.mark.parametrize("by_position", [False, True])
def test_a_command_inside_the_limits_passes_to_the_last_bit(by_position: bool) -> None:
    loop = Arm(commanding((positions if by_position else velocities)(JOINTS)))
    rng = np.random.default_rng(2)
    phase, home = rng.uniform(1.0, 4.0, 6), loop.q.copy()
    for k in range(1000):
        t = k * DT
        swing = np.sin(phase * t) ** 2  # starts at rest
        wish = home + 0.2 * swing if by_position else 0.3 * swing
        assert loop.told(wish) == 0
        sent = loop.q if by_position else loop.guard.qd
        np.testing.assert_array_equal(sent, wish)
    assert loop.guard.limited == 0
    assert not loop.guard.at_rest


def test_a_target_out_of_reach_is_approached_and_met_without_going_past() -> None:
    loop = Arm(commanding(positions(JOINTS)))
    goal, way = np.add(loop.q, [0.5, -0.4, 0.3, 0.2, -0.1, 0.05]), []
    for _ in range(800):
        loop.told(goal)
        way.append(loop.q.copy())
    np.testing.assert_array_equal(loop.q, goal)
    left = (goal - np.array(way)) * np.sign(goal - arm().home)
    assert (left >= -1e-12).all()
    assert loop.guard.limited > 0 and loop.guard.at_rest


@pytest.mark.parametrize("speed", [0.1, 1.0, 2.5])
def test_a_target_that_was_lost_by_a_hair_while_it_moves_is_caught_up_with(speed: float) -> None:
    """A joint that braked to the standing target it saw would never come near a moving one."""
    loop = Arm(commanding(positions(JOINTS)), q=np.full(6, -2.0))
    goal, hair, lags = loop.q.copy(), 2 * arm().qdd_max * DT**2, []
    for k in range(1000):
        goal = goal + min(speed, 3.0 * k * DT) * DT + hair * (k == 600)
        loop.told(goal)
        lags.append(goal - loop.q)
    assert np.max(lags) < 2 * hair.max()
    np.testing.assert_array_equal(lags[605:], 0.0)


@settings(max_examples=40)
@given(st.floats(0.05, 1.2), st.floats(0.3, 4.0))
def test_a_target_too_fast_for_the_joints_is_met_again_when_it_has_slowed_down(reach, rate):
    """A swing that the joints may not follow, which dies away."""
    loop = Arm(commanding(positions(JOINTS)))
    home = loop.q.copy()
    for k in range(4000):
        fade = max(0.0, 1.0 - k / 3000)
        goal = home + reach * fade * np.sin(2 * math.pi * rate * k * DT)
        loop.told(goal)
    np.testing.assert_array_equal(loop.q, goal)


def test_joints_that_nobody_commands_brake_together_along_a_line_and_the_others_go_on() -> None:
    loop = Arm(commanding(velocities(JOINTS)))
    wish = np.array([0.3, -0.2, 0.4, 0.6, -0.5, 0.1])
    for _ in range(200):
        loop.told(wish)
    np.testing.assert_array_equal(loop.guard.qd, wish)
    loop.guard.wire([commanding(velocities(JOINTS[:2]))], None)
    seconds, speeds = np.max(np.abs(wish[2:]) / arm().qdd_max[2:]), []
    for _ in range(math.ceil(seconds / DT) + 1):
        loop.told(wish)
        speeds.append(loop.guard.qd.copy())
    np.testing.assert_array_equal(np.array(speeds)[:, :2], np.tile(wish[:2], (len(speeds), 1)))
    shares = np.array(speeds)[:, 2:] / wish[2:]
    np.testing.assert_allclose(shares, shares[:, :1] * np.ones(4), atol=1e-12)
    assert not speeds[-1][2:].any() and speeds[-3][2:].any()


def test_a_command_that_is_no_number_is_told_by_its_joint() -> None:
    loop = Arm(commanding(velocities(JOINTS)))
    loop.told(np.full(6, 0.01))
    assert loop.told(np.array([0, 0, 0, math.nan, 0, 0])) == 4
    assert loop.told(np.zeros(6)) == 0


def test_a_command_that_nobody_gives_is_not_looked_at() -> None:
    loop = Arm(commanding(velocities(JOINTS[:1])))
    assert loop.told(np.array([0.01, math.nan, math.inf, 5, 5, 5])) == 0
    np.testing.assert_array_equal(loop.guard.qd, [0.01, 0, 0, 0, 0, 0])


def test_from_velocities_to_positions_the_arm_goes_on_from_where_it_was_measured() -> None:
    loop = Arm(commanding(velocities(JOINTS)))
    for _ in range(50):
        loop.told(np.full(6, 0.1))
    measured = loop.values[places.Q : places.QD] = loop.q.copy()
    loop.guard.wire([commanding(positions(JOINTS))], None)
    assert loop.guard.by_position
    loop.told(measured + 0.1 * DT)
    np.testing.assert_allclose(loop.q, measured + 0.1 * DT, atol=1e-15)


def test_the_limits_may_be_lower_than_the_arms_own_and_are_checked() -> None:
    slow, weak = np.full(6, 0.05), np.full(6, 0.5)
    loop = Arm(commanding(velocities(JOINTS)), joint_velocity=slow, joint_acceleration=weak)
    loop.told(np.ones(6))
    np.testing.assert_allclose(loop.guard.qd, 0.5 * DT)
    for _ in range(100):
        loop.told(np.ones(6))
    np.testing.assert_allclose(loop.guard.qd, 0.05)
    assert loop.guard.limited == 101
    for wrong in ({"joint_velocity": slow[:5]}, {"joint_acceleration": weak * math.nan}):
        with pytest.raises(ModelError, match=next(iter(wrong))):
            Arm(**wrong)


def test_the_trace_is_the_last_two_seconds_oldest_first() -> None:
    loop = Arm(commanding(velocities(JOINTS)))
    clock = loop.interfaces.names.index("time")
    for k in range(1300):
        loop.values[clock] = k
        loop.told(np.full(6, 1e-3 * math.sin(k)))
        if k in (0, 41, 998):
            np.testing.assert_array_equal(loop.guard.trace()[:, clock], np.arange(k + 1))
    trace = loop.guard.trace()
    assert trace.shape == (1000, len(loop.interfaces.names))
    np.testing.assert_array_equal(trace[:, clock], np.arange(300, 1300))
    sent = trace[-1, loop.interfaces.names.index(f"command/{JOINTS[0]}/velocity")]
    assert sent == loop.guard.qd[0]


def test_what_is_shown_is_the_laws_record_with_what_is_really_sent() -> None:
    law = layout.new_outputs()
    law["tick"], law["mode"], law["status"] = 17, bits.HOLDING, bits.JERK_LIMIT
    law["qd"], law["q_ref"] = 0.5, 0.25
    link = commanding(velocities(JOINTS))
    loop = Arm(link)
    loop.guard.wire([link], law)
    loop.told(np.full(6, 0.01))
    shown = loop.guard.outputs[0]
    assert (shown["tick"], shown["mode"], shown["status"]) == (17, bits.HOLDING, bits.JERK_LIMIT)
    np.testing.assert_array_equal(shown["qd"], 0.01)
    np.testing.assert_array_equal(shown["q_ref"], 0.25)
    np.testing.assert_array_equal(law["qd"], 0.5)
    loop.guard.halted = True
    loop.told(np.full(6, 0.01))
    assert loop.guard.outputs["mode"] == bits.STOPPED
    assert loop.guard.outputs["status"] == bits.JERK_LIMIT | bits.STOP_REQUESTED


def test_without_a_law_time_joints_and_wrench_are_shown() -> None:
    loop = Arm(commanding(velocities(JOINTS)))
    loop.values[places.WRENCH : places.TIMES] = np.arange(6)
    for _ in range(10):
        before = loop.q
        loop.told(np.full(6, 0.01))
    shown = loop.guard.outputs[0]
    assert shown["tick"] == 10 and shown["time"] == pytest.approx(10 * DT)
    np.testing.assert_array_equal(shown["q"], before)
    np.testing.assert_array_equal(shown["wrench"], np.arange(6))
    assert shown["mode"] == bits.ACTIVE and shown["status"] == 0


def test_after_a_failure_an_obstacle_is_pressed_no_longer_once_the_arm_stands() -> None:
    """Commanded by position, with an obstacle that keeps the joints 0.02 rad behind."""
    loop = Arm(commanding(positions(JOINTS)))
    guard, goal = loop.guard, loop.q + 0.1
    for _ in range(400):
        loop.told(goal)
    measured, sent = goal - 0.02, []
    guard.halted = True
    guard.wire([], None)
    for _ in range(300):
        loop.values[places.Q : places.QD] = measured
        guard.hold_measured(DT)
        guard.finish(DT)
        sent.append(loop.values[places.Q_CMD : places.OWN].copy())
    np.testing.assert_array_equal(sent[0], goal)
    np.testing.assert_allclose(sent[48], goal, atol=1e-12)  # for 0.1 s it has to stand
    np.testing.assert_allclose(sent[-1], measured, atol=1e-12)
    rates = np.diff(sent, axis=0) / DT
    assert (np.abs(np.diff(rates, axis=0)) <= arm().qdd_max * DT * (1 + 1e-6)).all()
