"""Links swapped live: between two cycles, under motion, and without a jump."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import DT, PUSH, ZERO, JointSource, Watched, Wired, compliant, controller
from tests.support import arm, moved
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    PolicyLink,
    PositionForward,
    VelocityForward,
)

SWING = np.array([0.4, -0.3, 0.5, 0.2, -0.4, 0.6])


def two_chains() -> ControllerManager:
    """A soft and a stiff admittance, one by velocity, one by position; and joints without a law."""
    manager = ControllerManager(arm())
    stiff = ua.Config.from_dict(
        {"admittance.stiffness": [500] * 3 + [20] * 3, "output.mode": "position"}
    )
    manager.load(
        AdmittanceLink(controller(), name="soft"),
        VelocityForward("soft", name="soft_forward"),
        AdmittanceLink(controller(stiff), name="stiff"),
        PositionForward("stiff", name="stiff_forward"),
        JointSource(lambda t: SWING * np.sin(4 * t)),
        VelocityForward("source", name="bare_forward"),
        PositionForward("source", name="bare_position"),
    )
    return manager


CHAINS = {
    "soft": ["soft", "soft_forward"],
    "stiff": ["stiff", "stiff_forward"],
    "bare": ["source", "bare_forward"],
    "bare position": ["source", "bare_position"],
}


@pytest.mark.parametrize("before", CHAINS)
@pytest.mark.parametrize("after", CHAINS)
def test_any_chain_is_swapped_for_any_other_under_motion_without_a_jump(before, after):
    manager = two_chains()
    manager.switch(activate=CHAINS[before])
    loop = Watched(manager)
    loop.run(0.5, PUSH)
    assert np.abs(loop.qd).max() > 0.02
    manager.switch(activate=CHAINS[after], deactivate=CHAINS[before])
    loop.until(lambda: not manager.switching, PUSH)
    assert set(manager.active) == set(CHAINS[after])
    loop.run(0.5, PUSH)
    assert np.abs(loop.qd).max() > 0.02
    assert manager.failure is None


def test_the_new_link_starts_at_rest_where_the_arm_is():
    manager = two_chains()
    manager.switch(activate=CHAINS["soft"])
    loop = Watched(manager)
    loop.run(0.5, PUSH)
    manager.switch(activate=CHAINS["stiff"], deactivate=CHAINS["soft"])
    while "stiff" not in manager.active:
        before = loop.q.copy()
        out = loop.tick(PUSH)
    assert not loop.qd.any()
    np.testing.assert_array_equal(out["q_ref"], before)


def test_a_link_above_is_swapped_at_once_while_the_arm_moves():
    X = arm().fk(arm().home)
    one = PolicyLink(lambda t, q, wrench: moved(X, [0.2, 0, 0]), name="one")
    other = PolicyLink(lambda t, q, wrench: moved(X, [0, 0, 0.1]), name="other")
    manager = ControllerManager(arm())
    manager.load(
        one,
        other,
        AdmittanceLink(controller(), desired=["one", "other"]),
        VelocityForward("admittance"),
    )
    manager.switch(activate=["one", "admittance", "forward"])
    loop = Watched(manager)
    loop.run(0.4)
    assert np.abs(loop.qd).max() > 0.1
    manager.switch(activate="other", deactivate="one")
    assert manager.switching
    loop.tick()
    assert not manager.switching
    assert manager.active == ("other", "admittance", "forward")
    assert np.abs(loop.qd).max() > 0.1
    out = loop.run(3.0)
    np.testing.assert_allclose(out["X_WP"][:3, 3], moved(X, [0, 0, 0.1])[:3, 3], atol=1e-4)
    assert manager.limited == 0


def test_a_law_whose_servo_is_swapped_starts_anew_with_it():
    manager = ControllerManager(arm())
    manager.load(
        AdmittanceLink(controller()),
        VelocityForward("admittance", name="one"),
        VelocityForward("admittance", name="other"),
    )
    manager.switch(activate=["admittance", "one"])
    loop = Watched(manager)
    loop.run(0.5, PUSH)
    manager.switch(activate="other", deactivate="one")
    loop.until(lambda: not manager.switching, PUSH)
    assert manager.active == ("admittance", "other")
    assert not loop.qd.any()
    loop.run(0.5, PUSH)
    assert manager.limited == 0
    assert np.abs(loop.qd).max() > 0.02


def test_a_second_switch_waits_for_the_first():
    manager = two_chains()
    manager.switch(activate=CHAINS["soft"])
    loop = Watched(manager)
    loop.run(0.3, PUSH)
    manager.switch(activate=CHAINS["stiff"], deactivate=CHAINS["soft"])
    with pytest.raises(ua.RobotError, match="under way"):
        manager.switch(activate="source")


def test_a_link_in_both_lists_starts_anew():
    link = Wired("a")
    manager = ControllerManager(arm())
    manager.load(link)
    manager.switch(activate="a")
    loop = Watched(manager)
    loop.tick()
    manager.switch(activate="a", deactivate="a")
    loop.tick()
    assert link.calls[-3:] == ["deactivate", "activate", "update"]


def test_a_link_that_will_not_leave_is_put_out_after_five_seconds():
    class Stubborn(JointSource):
        def deactivate(self) -> bool:
            return False

    manager = ControllerManager(arm())
    manager.load(Stubborn(lambda t: SWING * np.sin(t)), VelocityForward("source"))
    manager.switch(activate=["source", "forward"])
    loop = Watched(manager)
    loop.run(0.2)
    manager.deactivate()
    assert manager.mode == "leaving"
    loop.until(lambda: manager.mode == "inactive", seconds=7.0)
    assert manager.at_rest


def test_switched_off_the_arm_comes_to_rest_and_a_new_start_runs_the_same_links():
    manager = compliant()
    loop = Watched(manager)
    loop.run(0.5, PUSH)
    manager.deactivate()
    loop.until(lambda: manager.mode == "inactive", PUSH)
    assert manager.active == ()
    assert not loop.run(0.1, PUSH)["qd"].any()
    manager.activate(loop.q)
    loop.run(0.3, PUSH)
    assert manager.active == ("admittance", "forward")
    assert np.abs(loop.qd).max() > 0.02


def test_an_arm_that_follows_late_is_waited_for():
    manager = two_chains()
    manager.switch(activate=CHAINS["soft"])
    loop = Watched(manager)
    loop.run(0.4, PUSH)
    manager.switch(activate=CHAINS["stiff"], deactivate=CHAINS["soft"])
    manager.measured_velocity[:] = 0.5
    late = 0
    while "stiff" not in manager.active:
        manager.update(loop.q, ZERO, DT)
        manager.measured_velocity[:] = 0.5 if late < 300 else 0.0
        late += 1
    assert 300 <= late < 400
