"""What is true of every motion: from rest to rest, as fast as it says, braked on its way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.motion.support import CONFIG, DT, HOME, MODEL, MOTIONS, Arm, away, plan
from ur_admittance import Config, ConfigError, Controller
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.motion.base import Leading, must_follow
from ur_admittance.motion.joints import Follower
from ur_admittance.motion.pace import FREE, HELD, PATIENCE, between
from ur_admittance.motion.straight import Straight

each_motion = pytest.mark.parametrize("name", MOTIONS)
SPEEDS = {  # m/s and rad/s: slowly; half of every limit; 0.9 of what was taught, and the way there
    "straight in space": (0.05, 0.1),
    "straight in the joints": (
        0.5 * CONFIG.max_linear_velocity,
        0.5 * CONFIG.max_angular_velocity,
    ),
    "taught": (0.9 * 1.5 * 0.05 * 1.01, 0.9 * 1.5 * 0.15 * 1.01),
}


@each_motion
def test_it_starts_and_ends_at_rest_and_its_twist_is_the_derivative_of_its_pose(name: str):
    arm = Arm(MOTIONS[name]())
    arm.to_the_end()
    assert arm.motion.outcome == "reached"
    V, X = arm.twists, arm.poses
    steps = [between(*pair) / DT for pair in itertools.pairwise(X)]
    leap = 0.31 * (name == "planned by positions alone")  # at its second point
    assert np.abs(V[0]).max() < 3e-3 and not V[-1].any()
    assert np.abs(np.diff(V, axis=0)).max() < 0.02 + leap
    off = np.abs((V[1:] + V[:-1]) / 2 - steps).max(axis=1)
    assert np.sort(off)[-3] < 3e-3 and off.max() < 3e-3 + leap
    assert arm.tick() is None, "it is over"


@each_motion
def test_it_is_never_faster_than_it_says(name: str):
    arm = Arm(MOTIONS[name]())
    arm.to_the_end()
    if name in SPEEDS:
        for part, most in zip((LINEAR, ANGULAR), SPEEDS[name], strict=True):
            assert np.linalg.norm(arm.twists[:, part], axis=1).max() <= most * (1 + 1e-3)


@each_motion
def test_told_to_brake_it_comes_to_rest_on_its_way(name: str):
    whole, arm = Arm(MOTIONS[name]()), Arm(MOTIONS[name]())
    whole.to_the_end()
    arm.tick(len(whole.poses) // 2)
    before = len(arm.goals)
    arm.motion.brake("enough")
    arm.to_the_end()
    assert arm.motion.outcome == "enough" and not arm.twists[-1].any()
    assert 0.05 < (len(arm.goals) - before) * DT <= 0.26  # s
    nearest = min(np.abs(between(arm.poses[-1], X)).max() for X in whole.poses)
    assert nearest < 1e-3
    assert np.abs(np.diff(arm.twists[before:], axis=0)).max() < 0.02, "it does not leap"


@each_motion
@pytest.mark.parametrize("mode", [bits.HOLDING, bits.STOPPED, bits.LEAVING])
def test_in_a_hold_no_time_passes_and_it_goes_on_from_rest(name: str, mode: int):
    arm = Arm(MOTIONS[name]())
    arm.tick(500)
    X = arm.poses[-1]
    arm.out["mode"] = mode
    assert arm.tick(5000) is None and not arm.motion.outcome
    arm.out["mode"] = bits.ACTIVE
    goal = arm.tick()
    assert goal is not None
    assert np.abs(between(X, goal.X_WD)).max() < 1e-4 and np.abs(goal.V_WD).max() < 3e-3
    arm.to_the_end()
    assert arm.motion.outcome == "reached"
    arm = Arm(MOTIONS[name]())
    arm.tick(500)
    arm.out["mode"] = mode
    arm.motion.brake("enough")
    arm.tick()
    assert arm.motion.outcome == "enough", "it is at rest already"


@each_motion
def test_slowed_to_a_half_it_takes_twice_as_long(name: str):
    ticks = []
    for dt in (DT, 0.5 * DT):
        arm = Arm(MOTIONS[name]())
        arm.out["dt"] = dt
        arm.to_the_end()
        ticks.append(len(arm.goals))
    assert ticks[1] == pytest.approx(2 * ticks[0], rel=0.01)


@each_motion
def test_it_waits_for_an_arm_that_is_held_and_goes_on_when_it_is_let_go(name: str):
    arm = Arm(MOTIONS[name]())
    arm.tick(400)
    arm.off = np.array([0.0, 0.0, HELD[0] + 0.05])
    arm.tick(200)
    X = arm.poses[-1]
    arm.tick(1000)
    assert not arm.twists[-1].any() and not arm.motion.outcome
    np.testing.assert_array_equal(arm.poses[-1], X)
    arm.off[:] = 0.0
    arm.to_the_end()
    assert arm.motion.outcome == "reached"


def test_a_little_give_does_not_slow_it():
    arm = Arm(motion := Follower(MODEL, plan()))
    arm.off[2] = 0.9 * FREE[0]
    arm.tick(500)
    assert motion.t == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("off", "words"), [(0.2, "it was held back: "), (0.015, "the goal was not reached: ")]
)
def test_what_cannot_be_reached_ends_with_the_reason(off: float, words: str):
    arm = Arm(motion := Follower(MODEL, plan()))
    arm.off[2], arm.out["dt"] = off, 0.01
    arm.to_the_end()
    assert len(arm.goals) * 0.01 < 2.0 + PATIENCE + 1.0
    assert motion.outcome.startswith(words) and f"{1e3 * off:.0f} mm" in motion.outcome
    assert not arm.twists[-1].any()


def test_an_arm_that_is_nowhere_is_waited_for():
    arm = Arm(motion := Straight(away()))
    arm.tick(10)
    arm.off[:] = np.nan
    arm.tick(500)
    assert motion.pace == 0.0 and not motion.outcome


def test_a_controller_is_handed_the_goals():
    controller = Controller(MODEL, CONFIG)
    lead, q = Leading(controller, Straight(away())), MODEL.home.copy()
    controller.activate(q)
    while not lead.motion.outcome:
        q += controller.update(q, np.zeros(6), DT)["qd"] * DT
        lead()
    for _ in range(1000):
        q += controller.update(q, np.zeros(6), DT)["qd"] * DT
    np.testing.assert_allclose(MODEL.fk(q), away(), atol=1e-4)
    assert not np.allclose(MODEL.fk(q), HOME, atol=1e-2)


def test_gains_with_which_an_arm_would_not_follow_are_refused():
    must_follow(CONFIG.velocity_gain())
    for gains in (
        [0.0] * 6,
        [5.0] * 5 + [float("nan")],
        Config.preset("velocity-law").velocity_gain(),
    ):
        with pytest.raises(ConfigError, match=r"velocity_gain: is 0"):
            must_follow(gains)
