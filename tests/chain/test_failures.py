"""Links that raise, return errors, or write what is no number: the arm brakes and can go on."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import DT, PUSH, ZERO, JointSource, Watched, Wired, compliant, controller
from tests.support import arm, moved
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    Link,
    PolicyLink,
    PositionForward,
    VelocityForward,
    velocities,
)
from ur_admittance.kernel import bits

SWING = np.array([0.4, -0.3, 0.5, 0.2, -0.4, 0.6])


def raises() -> None:
    raise ZeroDivisionError("a mistake of mine")


def bare(forward: type[VelocityForward] = VelocityForward) -> tuple[JointSource, Watched]:
    """Joint rates without a law, in motion."""
    source = JointSource(lambda t: SWING * min(t, 0.5))
    manager = ControllerManager(arm())
    manager.load(source, forward("source"))
    manager.switch(activate=["source", "forward"])
    loop = Watched(manager)
    loop.run(0.6)
    assert np.abs(loop.qd).max() > 0.2
    return source, loop


def nan_to_an_export(source: JointSource) -> None:
    source._exports[3] = np.nan


@pytest.mark.parametrize("forward", [VelocityForward, PositionForward])
@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (lambda source: raises(), "ZeroDivisionError: a mistake of mine"),
        (lambda source: "the gripper is open", "the gripper is open"),
        (nan_to_an_export, "it wrote nan to 'source/wrist_1_joint/position'"),
    ],
)
def test_a_link_that_fails_brakes_everything_downstream_to_rest(forward, trouble, words):
    source, loop = bare(forward)
    manager = loop.manager
    source.trouble = lambda: trouble(source)
    fast = np.abs(loop.qd).max()
    loop.tick()
    assert manager.failure is not None
    assert manager.failure.link == "source"
    assert manager.failure.why == words
    assert manager.failure.stopped == ("source", "forward")
    assert manager["source"].state == manager["forward"].state == "error"
    assert manager.mode == "stopped"
    loop.until(lambda: manager.at_rest, seconds=2 * fast / 6.2)
    at = loop.q.copy()
    loop.run(0.5)
    np.testing.assert_allclose(loop.q, at, atol=1e-9)


def test_joints_slow_down_together_along_a_straight_line():
    source, loop = bare()
    source.trouble = raises
    first, speeds = loop.qd.copy(), []
    while not loop.manager.at_rest or not speeds:
        loop.tick()
        speeds.append(loop.qd.copy())
    along = first / np.linalg.norm(first)
    for qd in speeds:
        np.testing.assert_allclose(qd, along * np.linalg.norm(qd), atol=1e-12)


def test_a_command_that_is_no_number_brakes_and_names_the_link_and_the_joint():
    class Broken(Link):
        value = 0.2

        def declare(self, joints):
            self.commands = velocities(joints)

        def configure(self, ports):
            self.to = ports.command(self.commands)

        def update(self, dt):
            self.to[:] = self.value

    manager = ControllerManager(arm())
    link = Broken("broken")
    manager.load(link)
    manager.switch(activate="broken")
    loop = Watched(manager)
    loop.run(0.3)
    link.value = np.inf
    loop.tick()
    assert manager.failure is not None
    assert manager.failure.link == "broken"
    assert "'wrist_3_joint/velocity' is not a finite number" in manager.failure.why
    loop.until(lambda: manager.at_rest)


def test_over_a_link_that_can_brake_by_itself_the_tool_stops_inside_its_own_limits():
    X = arm().fk(arm().home)
    fails = []
    policy = PolicyLink(lambda t, q, wrench: raises() if fails else moved(X, [0.3, 0, 0]))
    manager = compliant(policy)
    loop = Watched(manager)
    V = loop.run(0.5)["V_WP_cmd"][:3].copy()
    assert np.linalg.norm(V) > 0.3
    fails.append(True)
    while not manager.at_rest:
        out = loop.tick()
        change = np.linalg.norm(out["V_WP_cmd"][:3] - V)
        assert change <= 2.5 * DT * (1 + 1e-5)
        V = out["V_WP_cmd"][:3].copy()
    assert manager.failure is not None
    assert manager.failure.stopped == ("policy", "admittance")
    assert manager.active == ("admittance", "forward")
    assert out["status"] & bits.STOP_REQUESTED


def test_what_is_upstream_of_a_failure_goes_on():
    above = Wired("above", exports=["x"])
    manager = ControllerManager(arm())
    manager.load(above, Wired("fails", reads=["above/x"], exports=["y"]), Wired("aside"))
    below = Wired("below", reads=["fails/y"])
    manager.load(below)
    manager.switch(activate=["above", "fails", "below", "aside"])
    loop = Watched(manager)
    loop.tick()
    manager["fails"].update = None  # type: ignore[assignment]
    manager._rewire()
    loop.tick()
    loop.tick()
    assert manager.active == ("above", "aside")
    assert below.calls[-1] == "error"


def test_the_error_is_kept_with_the_last_two_seconds():
    source, loop = bare()
    for _ in range(1500):
        loop.tick()
        source.rates = lambda t: 0.1 * SWING * np.sin(t)
    source.trouble = raises
    loop.tick()
    failure = loop.manager.failure
    assert failure is not None
    assert isinstance(failure.error, ZeroDivisionError)
    assert failure.error.__traceback__ is not None
    assert failure.time == pytest.approx(0.6 + 1500 * DT + DT)
    assert failure.trace.shape == (1001, len(failure.names))
    time = failure.trace[:, failure.names.index("time")]
    np.testing.assert_allclose(np.diff(time), DT, rtol=1e-6)
    assert time[-1] == failure.time
    sent = failure.trace[:-1, failure.names.index("command/elbow_joint/velocity")]
    np.testing.assert_array_equal(sent, [qd[2] for qd in loop.commands[-1001:-1]])


def test_the_manager_says_how_to_recover_and_does():
    source, loop = bare()
    manager = loop.manager
    source.trouble = raises
    loop.tick()
    words = manager.status_words()[0]
    assert "link 'source' failed at 0.602 s: ZeroDivisionError" in words
    assert "Stopped: source, forward;" in words
    assert "manager.recover() starts them again" in words
    with pytest.raises(ua.RobotError, match="still brakes"):
        manager.recover()
    with pytest.raises(ua.RobotError, match="failed at"):
        manager.switch(activate="forward")
    with pytest.raises(ua.RobotError, match="failed at"):
        manager.activate(loop.q)
    loop.until(lambda: manager.at_rest)
    source.trouble = None
    manager.recover()
    loop.until(lambda: not manager.switching)
    assert manager.mode == "active"
    assert manager.failure is None
    loop.run(0.5)
    assert np.abs(loop.qd).max() > 0.2
    with pytest.raises(ua.RobotError, match="nothing failed"):
        manager.recover()


def test_the_chain_goes_on_without_the_link_that_failed():
    manager = compliant(PolicyLink(lambda t, q, wrench: raises()))
    loop = Watched(manager)
    loop.run(0.1)
    assert manager.mode == "stopped"
    manager.recover(without="policy")
    loop.until(lambda: not manager.switching)
    assert manager.active == ("admittance", "forward")
    loop.run(0.5, PUSH)
    assert np.abs(loop.qd).max() > 0.02
    manager.stop()
    loop.until(lambda: manager.at_rest, PUSH)
    with pytest.raises(ua.ConfigError, match="forward reads the references of admittance"):
        manager.recover(without="admittance")


def test_a_stop_brakes_everything_and_is_recovered_from():
    manager = compliant()
    loop = Watched(manager)
    loop.run(0.5, PUSH)
    manager.stop("somebody came near")
    loop.until(lambda: manager.at_rest, PUSH)
    assert any("somebody came near" in word for word in manager.status_words())
    assert not loop.run(0.3, PUSH)["qd"].any()
    manager.recover()
    loop.run(1.0, PUSH)
    assert np.abs(loop.qd).max() > 0.02


def test_a_law_that_stopped_itself_is_recovered_from_too():
    manager = compliant(config=ua.Config.from_dict({"safety.max_force": 20.0}))
    loop = Watched(manager)
    loop.run(0.2, 0.6 * PUSH)
    loop.run(0.5, 2 * PUSH)
    assert manager.mode == "stopped"
    assert manager.failure is None
    assert any("over_force" in word for word in manager.status_words())
    manager.recover()
    loop.run(0.5, 0.6 * PUSH)
    assert manager.mode == "active"


def test_failures_are_logged_once_the_arm_stands_and_not_more_than_once_a_second(caplog):
    source, loop = bare()
    manager = loop.manager
    with caplog.at_level(logging.ERROR, logger="ur_admittance.chain"):
        source.trouble = raises
        loop.tick()
        assert not caplog.records
        for _ in range(5):
            loop.until(lambda: manager.at_rest)
            loop.run(0.2)
            manager.recover()
            loop.run(0.2)
    assert len(caplog.records) == 1
    assert "manager.recover()" in caplog.text


class Fragile(Wired):
    """Fails in one call of its life."""

    def __init__(self, when: str) -> None:
        super().__init__("fragile", reads=["admittance/elbow_joint/position"])
        self.when = when

    def activate(self) -> None:
        if self.when == "activate":
            raises()

    def update(self, dt: float) -> None:
        if self.when == "update":
            raises()

    def deactivate(self) -> bool:
        if self.when == "deactivate":
            raises()
        return True


@pytest.mark.parametrize("when", ["activate", "update", "deactivate"])
def test_one_that_nobody_reads_from_fails_alone_and_starts_again_while_the_arm_moves(when):
    manager, link = compliant(), Fragile(when)
    manager.load(link)
    loop = Watched(manager)
    loop.run(0.3, PUSH)
    manager.switch(activate="fragile")
    loop.tick(PUSH)
    if when == "deactivate":
        manager.switch(deactivate="fragile")
        loop.tick(PUSH)
    assert manager.failure is not None
    assert manager.failure.stopped == ("fragile",)
    assert link.state == "error"
    assert manager.mode == "active"
    assert manager.active == ("admittance", "forward")
    loop.run(0.1, PUSH)
    with pytest.raises(ua.RobotError, match="'fragile' failed"):
        manager.switch(activate="fragile")
    link.when = "never"
    manager.recover()
    loop.tick(PUSH)
    assert link.state == ("inactive" if when == "deactivate" else "active")
    assert np.abs(loop.qd).max() > 0.02


def test_a_failure_during_a_switch_lets_nobody_in():
    source, loop = bare()
    manager = loop.manager
    manager.load(AdmittanceLink(controller()), VelocityForward("admittance", name="law_forward"))
    manager.switch(activate=["admittance", "law_forward"], deactivate=["source", "forward"])
    manager["source"].deactivate = lambda: False  # type: ignore[method-assign]
    loop.run(0.1)
    source.trouble = raises
    loop.until(lambda: manager.at_rest)
    assert manager.active == ()
    manager.recover()
    loop.until(lambda: not manager.switching)
    assert manager.active == ("admittance", "law_forward")


def test_commanded_by_position_the_arm_holds_where_it_was_measured():
    """An obstacle holds the arm 0.05 rad behind its command; nothing presses on afterwards."""
    source, loop = bare(PositionForward)
    manager = loop.manager
    source.trouble = raises
    behind, sent, stood = np.full(6, 0.05), np.array(loop.q), False
    q = sent - behind
    for _ in range(1500):
        out = manager.update(q, ZERO, DT)
        assert np.abs(out["q_ref"] - sent).max() / DT < 3.2
        sent, stood = np.array(out["q_ref"]), stood or manager.at_rest
        if not stood:
            q = sent - behind
    np.testing.assert_allclose(sent, q, atol=1e-9)


def test_a_stop_is_heard_after_a_failure_that_did_not_concern_the_arm():
    manager, link = compliant(), Fragile("update")
    manager.load(link)
    manager.switch(activate="fragile")
    loop = Watched(manager)
    loop.run(0.3, PUSH)
    assert manager.failure is not None
    assert manager.mode == "active"
    manager.stop("enough")
    assert manager.failure.why == "enough"
    loop.until(lambda: manager.at_rest, PUSH)
    link.when = "never"
    manager.recover()
    loop.until(lambda: not manager.switching, PUSH)
    assert manager.active == ("admittance", "forward", "fragile")
    loop.run(0.3, PUSH)
    assert np.abs(loop.qd).max() > 0.02


def test_a_link_that_says_it_brakes_and_does_not_is_braked_after_five_seconds():
    class Liar(JointSource):
        def error(self, why: str) -> bool:
            return True

    manager = ControllerManager(arm())
    manager.load(Liar(lambda t: 0.1 * SWING * np.sin(t)), VelocityForward("source"))
    manager.switch(activate=["source", "forward"])
    loop = Watched(manager)
    loop.run(0.5)
    manager.stop("enough")
    loop.run(4.9)
    assert not manager.at_rest
    loop.run(0.3)
    assert manager.at_rest
    assert manager.active == ()
    assert manager.failure is not None
    assert manager.failure.why == "enough"


def test_a_failure_while_everything_leaves_starts_nothing_again_until_the_next_activation():
    source, loop = bare()
    manager = loop.manager
    source.deactivate = lambda: False  # type: ignore[method-assign]
    manager.deactivate()
    loop.tick()
    source.trouble = raises
    loop.until(lambda: manager.at_rest)
    source.trouble = None
    manager.recover()
    loop.until(lambda: not manager.switching)
    assert manager.mode == "inactive"
    assert manager.active == ()
    manager.switch(deactivate="source", activate="source")  # only says what to start with
    assert not manager.switching
    manager.activate(loop.q)
    loop.run(0.3)
    assert manager.active == ("source", "forward")
