"""A robot slowed by its slider or its safety: the chain keeps its pace, and nothing winds up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ur_admittance as ua
from tests.support import arm, moved
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    Link,
    PosePlayer,
    ScaledTrajectory,
    VelocityForward,
    Waypoint,
)
from ur_admittance.robots.sim import ScriptedPush, SimRobot

HOME = arm().fk(arm().home)
FAR = moved(HOME, [0.1, -0.15, 0.05])
BY_POSITION = {"output.mode": "position"}
STIFF = {"admittance.stiffness": [400] * 3 + [20] * 3}


class Run:
    """A chain on the simulated arm whose slider moves; what came of it, one row a cycle."""

    def __init__(
        self,
        scaling: Callable[[float], float],
        *above: Link,
        below: Link | None = None,
        settings: dict | None = None,
        push: tuple[float, float] = (0.0, 0.0),
        seconds: float = 4.0,
        ideal: bool = False,
    ) -> None:
        hand = ScriptedPush([(*push, np.array([0.0, 20.0, 0, 0, 0, 0]))])
        config = ua.Config.from_dict({**BY_POSITION, **(settings or {})})
        rows: list[tuple] = []
        with SimRobot("ur5e", hand=hand, realtime=False, ideal=ideal, seed=1) as robot:
            self.manager = ControllerManager(robot.model)
            names = [link.name for link in above]
            law = AdmittanceLink(ua.Controller(robot.model, config), desired=names)
            below = below or ScaledTrajectory("admittance")
            self.manager.load(*above, law, below)
            self.manager.switch(activate=[*names, "admittance", below.name])

            def each(state, out):
                robot.speed_scaling = scaling(state.joint_time)
                lead = np.abs(out["q_ref"] - state.q).max()
                rows.append(
                    (state.joint_time, robot.X_WP[:3, 3], out["X_WD"][:3, 3].copy(), lead,
                     out["qd"].copy(), state.qd.copy())
                )  # fmt: skip

            self.summary = self.manager.run(robot, seconds=seconds, each=each)
        columns = zip(*rows, strict=True)
        self.t, self.p, self.p_WD, self.lead, self.qd, self.qd_measured = map(np.array, columns)
        self.v = np.gradient(self.p, self.t, axis=0)

    def between(self, start: float, end: float) -> np.ndarray:
        return (self.t >= start) & (self.t < end)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_a_trajectory_takes_as_much_longer_as_the_robot_is_slower(scale):
    player = PosePlayer(arm(), [Waypoint(1.5, FAR)])
    run = Run(lambda t: scale, player, settings=STIFF, seconds=1.5 / scale + 1.0)
    assert run.summary.mode == "inactive"
    arrived = run.t[np.linalg.norm(run.p_WD - FAR[:3, 3], axis=1) < 1e-4][0]
    assert arrived == pytest.approx(1.5 / scale, rel=0.1)
    np.testing.assert_allclose(run.p[-1], FAR[:3, 3], atol=2e-3)
    behind = np.linalg.norm(run.p - run.p_WD, axis=1)
    assert behind.max() < 0.012


def test_a_pushed_arm_at_30_percent_moves_at_30_percent_and_winds_nothing_up():
    full = Run(lambda t: 1.0, push=(0.2, 9.0), seconds=2.0)
    slow = Run(lambda t: 0.3, push=(0.2, 9.0), seconds=2.0)
    assert slow.summary.mode == full.summary.mode == "inactive"
    speed = [r.v[r.between(1.2, 1.9), 1].mean() for r in (full, slow)]
    assert speed[1] == pytest.approx(0.3 * speed[0], rel=0.05)
    assert slow.lead.max() <= full.lead.max()


def test_without_it_a_slowed_arm_is_stopped_for_not_following():
    """The counterpart: by velocities, the robot does 30 % of what the law thinks it does."""
    run = Run(
        lambda t: 1.0 if t < 1.0 else 0.3,
        below=VelocityForward("admittance"),
        settings={"output.mode": "velocity"},
        push=(0.2, 9.0),
    )
    assert run.summary.mode == "stopped"
    assert run.summary.reason is not None and run.summary.reason.code == "not_following"


@pytest.mark.parametrize("ideal", [False, True])
def test_paused_and_pushed_for_seconds_the_arm_stands_and_goes_on_without_a_lunge(ideal):
    def scaling(t: float) -> float:
        return 0.0 if 1.0 <= t < 4.0 else 1.0

    run = Run(scaling, push=(0.2, 9.0), seconds=6.0, ideal=ideal)
    assert run.summary.mode == "inactive"
    assert run.summary.reason is None
    while_paused = run.between(1.4, 4.0)
    assert np.ptp(run.p[while_paused], axis=0).max() < 1e-3
    assert run.lead[while_paused].max() < 5e-3
    before = run.v[run.between(0.7, 1.0), 1].mean()
    after = run.v[run.between(4.0, 6.0), 1]
    assert after.max() < 1.1 * before
    assert after.min() > -2e-3  # and it goes on the way it was pushed, not back
    change = np.abs(np.diff(run.qd, axis=0)).max(axis=0) / 0.002
    assert (change <= arm().qdd_max * (1 + 1e-3)).all()


def test_a_spring_keeps_its_home_through_a_pause_and_a_trajectory_its_place():
    player = PosePlayer(arm(), [Waypoint(2.0, FAR)])
    run = Run(lambda t: 0.0 if 1.0 <= t < 2.0 else 1.0, player, settings=STIFF, seconds=5.0)
    assert run.summary.mode == "inactive"
    way = np.linalg.norm(run.p_WD - HOME[:3, 3], axis=1)
    while_paused = run.between(1.4, 2.0)
    assert way[while_paused].min() > 0.03
    assert np.ptp(way[while_paused]) < 1e-9
    assert np.diff(way).min() > -1e-4  # it goes on from there
    np.testing.assert_allclose(run.p[-1], FAR[:3, 3], atol=2e-3)


def test_a_slider_that_is_torn_about_breaks_no_limit():
    steps = np.random.default_rng(5).choice([0.0, 0.01, 0.1, 0.3, 1.0], 200)
    run = Run(lambda t: float(steps[int(t / 0.05)]), push=(0.1, 9.0), seconds=6.0, ideal=True)
    assert run.summary.mode == "inactive"
    change = np.abs(np.diff(run.qd, axis=0)).max(axis=0) / 0.002
    assert (change <= arm().qdd_max * (1 + 1e-3)).all()


@pytest.mark.parametrize("scaling", [np.nan, 0.0, -1.0])
def test_a_robot_that_is_paused_from_the_first_cycle_on_is_not_moved(scaling):
    manager = ControllerManager(arm())
    manager.load(AdmittanceLink(ua.Controller(arm())), ScaledTrajectory("admittance"))
    manager.switch(activate=["admittance", "trajectory"])
    manager.activate(arm().home)
    manager.speed_scaling[0] = scaling
    for _ in range(300):
        out = manager.update(arm().home, np.array([0, 30.0, 0, 0, 0, 0]), 0.002)
        assert not out["qd"].any()
        np.testing.assert_array_equal(out["q_ref"], arm().home)
    assert manager.mode == "holding"


def test_a_robot_that_was_paused_before_its_first_tick_goes_on_from_where_it_is():
    """Nothing had been seeded yet: there is no desired pose to keep, and no number in its place."""
    manager = ControllerManager(arm())
    manager.load(AdmittanceLink(ua.Controller(arm())), ScaledTrajectory("admittance"))
    manager.switch(activate=["admittance", "trajectory"])
    manager.activate(arm().home)
    q = arm().home
    for k in range(600):
        manager.speed_scaling[0] = 0.0 if k < 100 else 1.0
        out = manager.update(q, np.array([0, 15.0, 0, 0, 0, 0]), 0.002)
        q = np.array(out["q_ref"])
    assert manager.mode == "active"
    assert np.abs(q - arm().home).max() > 0.01
