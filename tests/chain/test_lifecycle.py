"""What one asks of a chain before, while and after it runs: all or nothing, and nothing by half."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import PUSH, Watched, Wired, compliant
from tests.support import arm
from ur_admittance.chain import ControllerManager, VelocityForward


@pytest.fixture
def manager() -> ControllerManager:
    return ControllerManager(arm())


def test_of_links_that_do_not_fit_together_none_is_loaded(manager) -> None:
    good, lost = Wired("good", exports=["x"]), Wired("lost", reads=["nobody/y"])
    with pytest.raises(ua.ConfigError, match="'nobody/y', which does not exist"):
        manager.load(good, lost)
    assert manager.order == () and good.calls == [] and good.state == "unconfigured"
    manager.load(good)
    assert manager.order == ("good",) and good.state == "inactive"
    with pytest.raises(ua.RobotError):
        manager["lost"]


def test_before_it_runs_a_switch_says_with_what_it_starts(manager) -> None:
    links = {name: Wired(name) for name in "abc"}
    manager.load(*links.values())
    manager.switch(activate=["a", "b"])
    manager.switch(activate="c", deactivate="a")
    assert manager.active == () and manager.mode == "inactive" and not manager.switching
    Watched(manager).tick()
    assert manager.active == ("b", "c")
    assert links["a"].calls == ["configure"]


def test_a_switch_that_is_refused_changes_nothing(manager) -> None:
    manager.load(Wired("a"), Wired("b"))
    manager.switch(activate="a")
    for bad, words in (
        ({"activate": "a"}, "a is active already"),
        ({"deactivate": "b"}, "b is inactive, not active"),
        ({"activate": ["b", "nobody"]}, "nobody"),
    ):
        with pytest.raises(ua.RobotError, match=words):
            manager.switch(**bad)
    loop = Watched(manager)
    loop.tick()
    assert manager.active == ("a",)
    with pytest.raises(ua.RobotError, match="nobody"):
        manager.switch(activate="b", deactivate=["a", "nobody"])
    loop.tick()
    assert manager.active == ("a",) and not manager.switching


def test_what_is_unloaded_is_not_started_again(manager) -> None:
    a, b = Wired("a"), Wired("b")
    manager.load(a, b)
    manager.switch(activate=["a", "b"])
    manager.unload("a")
    assert a.calls == ["configure", "cleanup"] and manager.order == ("b",)
    Watched(manager).tick()
    assert manager.active == ("b",)


def test_a_chain_that_does_not_run_is_neither_stopped_nor_recovered(manager) -> None:
    manager.load(Wired("a"))
    manager.stop("for nothing")
    manager.deactivate()
    assert manager.failure is None and manager.mode == "inactive"
    with pytest.raises(ua.RobotError, match="nothing failed"):
        manager.recover()
    with pytest.raises(ua.RobotError, match=r"not running; call activate"):
        manager.update(arm().home, np.zeros(6), 0.002)


def test_deactivated_it_brakes_and_then_nothing_commands_the_arm() -> None:
    manager = compliant()
    loop = Watched(manager)
    loop.run(0.5, PUSH)
    manager.deactivate()
    assert manager.mode == "leaving"
    loop.until(lambda: manager.mode == "inactive", PUSH)
    assert manager.active == () and manager.at_rest
    at = loop.q.copy()
    loop.run(0.2, PUSH)
    np.testing.assert_array_equal(loop.q, at)


def test_the_chain_keeps_the_joint_limits_that_it_was_given() -> None:
    slow = np.full(6, 0.05)
    manager = ControllerManager(arm(), joint_velocity=slow)
    source = Wired("source", exports=[f"{joint}/velocity" for joint in arm().joint_names])
    manager.load(source, VelocityForward("source"))
    manager.switch(activate=["source", "forward"])
    loop = Watched(manager)
    places = [f"source/{name}" for name in source.exports]
    manager.interfaces.view(places)[:] = [1.0, -1.0, 0.02, 0.0, 1.0, 1.0]
    loop.run(0.2)
    np.testing.assert_allclose(loop.qd, [0.05, -0.05, 0.02, 0.0, 0.05, 0.05])
    assert manager.limited > 90
