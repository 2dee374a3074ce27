"""A chain on the simulated arm: driven by the loop, watched from outside, switched in flight."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import JointSource, Wired
from tests.support import arm, moved
from ur_admittance.blackboard import Blackboard
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    PolicyLink,
    PosePlayer,
    PositionForward,
    VelocityForward,
    Waypoint,
)
from ur_admittance.robots.sim import ScriptedPush, SimRobot

PUSH = ScriptedPush([(0.1, 9.0, np.array([0.0, 20.0, 0, 0, 0, 0]))])
CHAINS = {
    "velocity": (VelocityForward, "velocity"),
    "position": (PositionForward, "position"),
}


@pytest.fixture(autouse=True)
def _own_folder(runtime) -> None:
    """Every blackboard of these tests is in a folder of its own."""


def simulated(**options) -> SimRobot:
    return SimRobot("ur5e", **{"realtime": False, "hand": PUSH, "seed": 3, **options})


def chain(robot: SimRobot, kind: str = "velocity") -> ControllerManager:
    forward, mode = CHAINS[kind]
    manager = ControllerManager(robot.model)
    config = ua.Config.from_dict({"output.mode": mode, "safety.start_force": 0})  # pushed at once
    manager.load(AdmittanceLink(ua.Controller(robot.model, config)), forward("admittance"))
    manager.switch(activate=["admittance", "forward"])
    return manager


@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize("ideal", [True, False])
def test_a_pushed_arm_gives_way_and_the_run_ends_at_rest_and_can_be_repeated(kind, ideal):
    with simulated(ideal=ideal) as robot:
        manager = chain(robot, kind)
        for _ in range(2):
            start = robot.X_WP[1, 3]
            summary = manager.run(robot, seconds=0.8)
            assert summary.mode == "inactive"
            assert manager.at_rest
            assert summary.reason is None
            assert robot.X_WP[1, 3] - start > 0.03
            assert summary.late == summary.missed == 0


def test_a_chain_does_what_the_controller_alone_does():
    ends = []
    for chained in (True, False):
        with simulated() as robot:
            if chained:
                chain(robot).run(robot, seconds=1.0)
            else:
                ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=1.0)
            ends.append(robot.X_WP)
    np.testing.assert_allclose(*ends, atol=1e-3)


def test_links_are_switched_in_flight_from_velocities_to_positions():
    with simulated() as robot:
        manager = chain(robot)
        stiff = ua.Config.from_dict({"admittance.stiffness": [500] * 6, "output.mode": "position"})
        manager.load(
            AdmittanceLink(ua.Controller(robot.model, stiff), name="stiff"),
            PositionForward("stiff", name="servo"),
        )
        sent = []

        def each(state, out):
            sent.append((manager.sends, out["qd"].copy(), state.qd.copy()))
            if len(sent) == 300:
                manager.switch(activate=["stiff", "servo"], deactivate=["admittance", "forward"])

        summary = manager.run(robot, seconds=2.0, each=each)
    assert summary.mode == "inactive"
    kinds = [kind for kind, _, _ in sent]
    assert kinds[0] == "velocity"
    assert kinds[-1] == "position"
    change = np.abs(np.diff([qd for _, qd, _ in sent], axis=0)).max() / 0.002
    assert change <= arm().qdd_max[0] * (1 + 1e-6)
    measured = np.abs(np.diff([qd for *_, qd in sent], axis=0)).max() / 0.002
    assert measured <= arm().qdd_max[0]


def test_a_link_that_fails_ends_the_run_at_rest_with_words_and_the_chain_recovers(caplog):
    with simulated(hand=None) as robot:
        X = moved(robot.X_WP, [0.2, 0, 0])
        fails = [False]

        def policy(t, q, wrench):
            if fails[0] or t < 0.4:
                return X
            raise OSError("the camera is gone")

        manager = ControllerManager(robot.model)
        manager.load(
            PolicyLink(policy),
            AdmittanceLink(ua.Controller(robot.model), desired="policy"),
            VelocityForward("admittance"),
        )
        manager.switch(activate=["policy", "admittance", "forward"])
        summary = manager.run(robot, seconds=5.0)
        assert summary.faulted
        assert summary.seconds < 1.5
        assert summary.reason is not None and summary.reason == manager.reason
        assert "'policy' failed" in summary.reason.text
        assert "OSError: the camera is gone" in summary.reason.text
        assert "manager.recover()" in summary.reason.advice
        assert "the camera is gone" in caplog.text
        for _ in range(200):  # the arm follows its command late
            state = robot.wait()
        assert np.abs(state.qd).max() < 1e-3
        with pytest.raises(ua.RobotError, match="recover"):
            manager.run(robot, seconds=1.0)
        fails[0] = True
        manager.recover()
        summary = manager.run(robot, seconds=3.0)
        assert summary.mode == "inactive"
        np.testing.assert_allclose(robot.X_WP, X, atol=2e-3)


def test_every_cycle_is_on_the_blackboard_and_parameters_come_back_from_it():
    with simulated() as robot:
        manager = chain(robot)
        with Blackboard.create("sim:chain", robot.rate, manager.live) as board:
            reader = Blackboard.attach("sim:chain")
            reader.set({"max_linear_velocity": 0.05})
            summary = manager.run(robot, seconds=0.8, board=board)
            records, _, lost = reader.since(0)
    assert manager.config.max_linear_velocity == 0.05
    assert lost == 0
    assert len(records) == summary.ticks
    assert np.linalg.norm(records["V_WP_cmd"][:, :3], axis=1).max() == pytest.approx(0.05, rel=1e-3)
    assert (records["timing"]["tick"] > 0).all()


def test_a_chain_without_a_law_shows_what_it_commands():
    with simulated(hand=None) as robot:
        manager = ControllerManager(robot.model)
        rates = np.array([0.1, 0, 0, 0, 0.2, 0])
        manager.load(JointSource(lambda t: rates), VelocityForward("source"), Wired("idle"))
        manager.switch(activate=["source", "forward", "idle"])
        shown = []
        manager.run(robot, seconds=0.5, each=lambda state, out: shown.append(out.copy()))
    assert [int(out["tick"]) for out in shown[:3]] == [1, 2, 3]
    np.testing.assert_array_equal(shown[200]["qd"], rates)
    assert np.isfinite(shown[200]["q"]).all()


def test_a_trajectory_over_the_real_physics_arrives():
    with simulated(hand=None) as robot:
        X = moved(robot.X_WP, [0.1, -0.1, 0.05], [0, 0.2, 0])
        config = ua.Config.from_dict({"admittance.stiffness": [400] * 3 + [20] * 3})
        manager = ControllerManager(robot.model)
        manager.load(
            PosePlayer(robot.model, [Waypoint(1.5, X)], config),
            AdmittanceLink(ua.Controller(robot.model, config), desired="player"),
            VelocityForward("admittance"),
        )
        manager.switch(activate=["player", "admittance", "forward"])
        assert manager.run(robot, seconds=2.5).mode == "inactive"
        np.testing.assert_allclose(robot.X_WP, X, atol=3e-3)


def test_what_the_loop_sets_on_the_robot_reaches_the_robot_and_is_put_back():
    seen = []
    with simulated(ideal=True) as robot:
        robot.spin = True
        chain(robot).run(robot, seconds=0.1, each=lambda *_: seen.append(robot.spin))
        assert robot.spin is True
    assert seen and not any(seen)
