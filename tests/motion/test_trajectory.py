"""A planned joint trajectory: its polynomials, its refusals, and a plan that waits for the arm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline

from ur_admittance import RobotModel
from ur_admittance.errors import RobotError
from ur_admittance.motion.trajectory import FREE, HELD, PATIENCE, Follower, JointPath, Tolerances

MODEL = RobotModel.ur("ur5e")
TIMES = [0.0, 0.7, 1.1, 2.5]
DT = 0.002


@pytest.fixture
def points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.normal(size=(4, 6)) for _ in range(3))
    qd[-1] = 0.0
    return q, qd, qdd


def plan() -> JointPath:
    """Two seconds, from home, 0.2 rad about the base and back half of it."""
    turns = np.array([[0.0], [0.2], [0.1]]) * np.eye(6)[0]
    return JointPath([0.0, 1.0, 2.0], MODEL.home + turns, np.zeros((3, 6)))


@pytest.mark.parametrize("t", [0.0, 0.3, 0.7, 0.9, 1.8, 2.4999])
def test_points_are_joined_as_by_other_peoples_splines(points, t: float):
    q, qd, qdd = points
    cubic, quintic = (
        CubicHermiteSpline(TIMES, q, qd),
        BPoly.from_derivatives(TIMES, np.stack([q, qd, qdd], axis=1)),
    )
    for path, oracle in ((JointPath(TIMES, q, qd), cubic), (JointPath(TIMES, q, qd, qdd), quintic)):
        angles, rates = path.at(t)
        assert np.allclose(angles, oracle(t), atol=1e-9)
        assert np.allclose(rates, oracle.derivative()(t), atol=1e-8)
    angles, _ = JointPath(TIMES, q).at(t)
    assert np.allclose(angles, [np.interp(t, TIMES, column) for column in q.T])


def test_before_and_after_it_stands(points):
    path = JointPath([0.5, 1.0, 2.0, 3.0], *points)
    for t, k in ((0.2, 0), (3.0, 3), (9.0, 3)):
        angles, rates = path.at(t)
        assert np.array_equal(angles, points[0][k]) and not rates.any()


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
    follower, steps = Follower(MODEL, plan()), 0
    while not follower.outcome:
        follower.follow(DT, follower.desired[0])
        steps += 1
    assert follower.outcome == "reached" and steps * DT == pytest.approx(2.0, abs=2 * DT)


def test_the_twist_is_the_derivative_of_the_pose_also_while_the_pace_changes():
    follower, rng = Follower(MODEL, plan()), np.random.default_rng(1)
    before = follower.desired[0]
    for _ in range(400):
        X = before.copy()
        X[:3, 3] += [rng.uniform(0.0, 0.1), 0.0, 0.0]
        follower.follow(DT, X)
        now, V = follower.desired
        assert np.allclose((now[:3, 3] - before[:3, 3]) / DT, V[:3], atol=2e-3)
        before = now


def test_the_plan_waits_for_an_arm_that_is_held_and_goes_on_when_it_is_let_go():
    follower = Follower(MODEL, plan())
    for _ in range(250):
        follower.follow(DT, follower.desired[0])
    held = follower.desired[0].copy()
    held[2, 3] += HELD[0] + 0.05
    for _ in range(1000):
        follower.follow(DT, held)
    stood = follower.t
    assert follower.pace == 0.0 and not follower.outcome and stood < 0.75
    while not follower.outcome:
        follower.follow(DT, follower.desired[0])
    assert follower.outcome == "reached"


def test_a_little_give_does_not_slow_it():
    follower = Follower(MODEL, plan())
    for _ in range(500):
        X = follower.desired[0].copy()
        X[2, 3] += 0.9 * FREE[0]
        follower.follow(DT, X)
    assert follower.t == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("off", "words"), [(0.2, "it was held back: "), (0.015, "the goal was not reached: ")]
)
def test_what_cannot_be_reached_ends_with_the_reason(off: float, words: str):
    follower, seconds = Follower(MODEL, plan()), 0.0
    while not follower.outcome:
        X = follower.desired[0].copy()
        X[2, 3] += off
        follower.follow(0.01, X)
        seconds += 0.01
        assert seconds < 2.0 + PATIENCE + 1.0
    assert follower.outcome.startswith(words) and f"{1e3 * off:.0f} mm" in follower.outcome


def test_the_robots_own_slider_slows_it_and_is_no_hindrance():
    follower = Follower(MODEL, plan())
    for _ in range(300):
        follower.follow(0.02, follower.desired[0], scaling=0.0)
    assert not follower.outcome and follower.t < 0.2


def test_a_plan_that_is_told_to_brake_comes_to_rest_on_its_way():
    follower = Follower(MODEL, plan())
    for _ in range(200):
        follower.follow(DT, follower.desired[0])
    follower.brake("enough")
    rates = []
    while not follower.outcome:
        follower.follow(DT, follower.desired[0])
        rates.append(np.abs(follower.joints[1]).max())
    assert follower.outcome == "enough" and follower.pace == 0.0
    assert len(rates) * DT <= 0.26 and 0.4 < follower.t < 0.7
    assert max(-np.diff(rates)) < 0.3 * 4.5 * DT  # rad/s: at 4 / s off the pace, no jump


def test_a_joint_that_is_off_its_tolerance_ends_the_plan_with_its_name():
    follower = Follower(MODEL, plan(), Tolerances(path=np.full(6, 0.05)))
    for _ in range(1000):
        X, q = follower.desired[0], follower.joints[0]
        follower.follow(DT, X, q=q + (0.06 * np.eye(6)[2] if follower.t > 0.5 else 0.0))
        if follower.outcome:
            break
    assert follower.outcome.startswith("elbow_joint was 0.060 rad off the plan, at most 0.05")
    assert 0.5 < follower.t < 0.8


@pytest.mark.parametrize(("off", "there"), [(0.02, True), (0.04, False)])
def test_the_goal_may_be_told_by_joint_and_the_patience_too(off: float, there: bool):
    follower = Follower(MODEL, plan(), Tolerances(goal=np.full(6, 0.03), patience=0.5))
    q = MODEL.home + (0.1 + off) * np.eye(6)[0]
    while not follower.outcome:
        follower.follow(DT, MODEL.fk(q) if follower.t >= 2.0 else follower.desired[0], q=q)
    assert (follower.outcome == "reached") == there
    assert there or "the goal was not reached: after 0.5 s" in follower.outcome


def test_a_plan_of_years_is_looked_at_in_no_time():
    turns = np.array([[0.0], [0.2]]) * np.eye(6)[0]
    assert JointPath([0.0, 1e9], MODEL.home + turns).problem(MODEL, MODEL.home) == ""
