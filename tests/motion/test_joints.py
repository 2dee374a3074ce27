"""Ways of the joints: what is no plan is refused, limits are kept, tolerances end it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.motion.support import DT, MODEL, Arm, plan
from ur_admittance import Config, ConfigError
from ur_admittance.controller.packing import pack
from ur_admittance.errors import RobotError
from ur_admittance.motion.joints import SHARE, Follower, JointPath, Tolerances, straight

joints = some.lists(some.floats(-2.9, 2.9), min_size=6, max_size=6).map(np.array)


@pytest.mark.parametrize(
    ("times", "q", "qd", "words"),
    [
        ([], np.zeros((0, 6)), None, "a point at least"),
        ([0.0, 1.0], np.zeros((2, 5)), None, "must have six positions"),
        ([0.0, 1.0], np.zeros((2, 6)), np.zeros((1, 6)), "must have six velocities"),
        ([0.0, 1.0], np.full((2, 6), np.nan), None, "positions of point 1 must be finite"),
        ([1.0, 1.0], np.zeros((2, 6)), None, "must rise from point to point"),
        ([-1.0, 1.0], np.zeros((2, 6)), None, "must rise from point to point"),
        ([0.0, np.inf], np.zeros((2, 6)), None, "must rise from point to point"),
        ([0.0, 1.0], np.zeros((2, 6)), np.ones((2, 6)), "it must end at rest"),
        ("soon", np.zeros((2, 6)), None, "time_from_start: must be numbers, got 'soon'"),
        ([[0.0], [1.0]], np.zeros((2, 6)), None, "a time for each"),
        ([0.0, 1.0], "there", None, "positions: must be numbers, got 'there'"),
        ([0.0, 1.0], [[0.0] * 6, [0.0]], None, "positions: must be numbers"),
        ([0.0, 1.0], np.zeros((2, 6)), "fast", "velocities: must be numbers, got 'fast'"),
    ],
)
def test_what_is_no_trajectory_is_refused(times, q, qd, words: str):
    with pytest.raises(RobotError, match=words):
        JointPath(times, q, qd)


def test_a_plan_must_begin_where_the_arm_is_and_stay_inside_its_joints():
    assert plan().problem(MODEL, MODEL.home) == ""
    found = plan().problem(MODEL, MODEL.home + 0.3 * np.eye(6)[2])
    assert "begins 0.300 rad from where elbow_joint is" in found
    fast = JointPath([0.0, 0.1], MODEL.home + np.array([[0.0], [1.0]]) * np.eye(6)[1])
    assert "shoulder_lift_joint is at 10.000 rad/s" in fast.problem(MODEL, MODEL.home)
    far = JointPath([0.0, 20.0], MODEL.home + np.array([[0.0], [7.0]]) * np.eye(6)[0])
    assert "shoulder_pan_joint is at" in far.problem(MODEL, MODEL.home)


def test_an_arm_that_follows_is_there_in_time():
    arm = Arm(motion := Follower(MODEL, plan()))
    arm.to_the_end()
    assert motion.outcome == "reached" and len(arm.goals) * DT == pytest.approx(2.0, abs=2 * DT)


def test_a_joint_that_is_off_its_tolerance_ends_the_plan_with_its_name():
    arm = Arm(motion := Follower(MODEL, plan(), Tolerances(path=np.full(6, 0.05))))
    while not motion.outcome:
        arm.out["q"] = motion.joints[0] + (0.06 * np.eye(6)[2] if motion.t > 0.5 else 0.0)
        arm.tick()
    assert motion.outcome.startswith("elbow_joint was 0.060 rad off the plan, at most 0.05")
    assert 0.5 < motion.t < 0.8


@pytest.mark.parametrize(("off", "there"), [(0.02, True), (0.04, False)])
def test_the_goal_may_be_told_by_joint_and_the_patience_too(off: float, there: bool):
    motion = Follower(MODEL, plan(), Tolerances(goal=np.full(6, 0.03), patience=0.5))
    arm, q = Arm(motion), MODEL.home + (0.1 + off) * np.eye(6)[0]
    while not motion.outcome:
        arm.out["q"] = q
        if motion.t >= 2.0:
            arm.out["X_WP"] = MODEL.fk(q)
        arm.tick()
    assert (motion.outcome == "reached") == there
    assert there or "the goal was not reached: after 0.5 s" in motion.outcome


def test_a_plan_of_years_is_looked_at_in_no_time():
    turns = np.array([[0.0], [0.2]]) * np.eye(6)[0]
    assert JointPath([0.0, 1e9], MODEL.home + turns).problem(MODEL, MODEL.home) == ""


@settings(max_examples=25)
@given(start=joints, goal=joints)
def test_a_way_keeps_half_of_every_limit_by_finite_differences(start, goal) -> None:
    config = Config()
    way = straight(MODEL, config, start, goal)
    limits = pack(config, MODEL)[0]
    times = np.linspace(0, way.seconds, 400)
    q = np.array([way.at(t)[0] for t in times])
    h = times[1]
    points = np.array([MODEL.fk(a)[:3, 3] for a in q])
    half = SHARE * 1.02  # what differences of 400 samples are off by
    qd, v = np.diff(q, axis=0) / h, np.diff(points, axis=0) / h
    assert np.all(np.abs(qd) <= half * limits.qd_max)
    assert np.all(np.abs(np.diff(qd, axis=0) / h) <= half * limits.qdd_max)
    assert np.linalg.norm(v, axis=1).max() <= half * limits.v_max
    assert np.linalg.norm(np.diff(v, axis=0) / h, axis=1).max() <= half * limits.a_max
    assert q[0] == pytest.approx(start) and q[-1] == pytest.approx(goal)
    assert not way.at(0.0)[1].any() and not way.at(way.seconds + 1)[1].any()


def test_a_home_outside_the_joints_range_is_refused_by_name() -> None:
    goal = MODEL.home + np.array([0, 0, 9, 0, 0, 0])
    with pytest.raises(ConfigError, match=r"home: elbow_joint must be from -3.05"):
        straight(MODEL, Config(), MODEL.home, goal)


def test_a_way_that_leaves_the_workspace_is_refused_before_it_begins() -> None:
    config = Config.from_dict({"limits.workspace_max": [10, 0.3, 10]})
    goal = MODEL.home + np.array([1.0, 0, 0, 0, 0, 0])
    with pytest.raises(ConfigError, match=r"leaves the workspace at \[0\.\d+, 0\.3"):
        straight(MODEL, config, MODEL.home, goal)
