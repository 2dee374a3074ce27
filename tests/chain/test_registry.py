"""Names, order, and what a manager refuses."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import DT, ZERO, JointSource, Watched, Wired, compliant, controller
from tests.support import arm
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    Link,
    Ports,
    PositionForward,
    ScaledTrajectory,
    VelocityForward,
    positions,
    velocities,
)

PAN = "shoulder_pan_joint"


@pytest.fixture
def manager() -> ControllerManager:
    return ControllerManager(arm())


def test_links_run_in_the_order_of_their_references_whatever_the_order_of_loading(manager):
    manager.load(
        Wired("last", reads=["middle/x", "first/x"]),
        Wired("middle", may_read=["first/x"], exports=["x"]),
        Wired("first", exports=["x"]),
    )
    assert manager.order == ("first", "middle", "last")
    manager.load(Wired("between", reads=["first/x"]))
    assert manager.order.index("between") > manager.order.index("first")


def test_a_circle_is_refused_by_the_names_of_its_links(manager):
    with pytest.raises(ua.ConfigError, match="b reads from c reads from d reads from b") as caught:
        manager.load(
            Wired("a", exports=["x"]),
            Wired("b", reads=["a/x", "c/x"], exports=["x"]),
            Wired("c", reads=["d/x"], exports=["x"]),
            Wired("d", reads=["b/x"], exports=["x"]),
        )
    assert "a reads" not in str(caught.value)
    assert manager.order == ()
    manager.load(Wired("a", exports=["x"]))
    assert manager.order == ("a",)


def test_a_link_that_reads_itself_is_a_circle(manager):
    with pytest.raises(ua.ConfigError, match="a reads from a"):
        manager.load(Wired("a", reads=["a/x"], exports=["x"]))


def test_a_missing_interface_is_refused_with_those_there_are(manager):
    with pytest.raises(ua.ConfigError, match=r"did you mean ft_sensor/force.x") as caught:
        manager.load(Wired("a", reads=["ft_sensor/force_x"]))
    for name in (f"{PAN}/position", f"{PAN}/velocity", "ft_sensor/torque.z", "speed_scaling"):
        assert name in str(caught.value)
    with pytest.raises(ua.ConfigError, match=f"there are .*{PAN}/position"):
        manager.load(Wired("a", commands=[f"{PAN}/effort"]))
    with pytest.raises(ua.ConfigError, match=r"forward reads 'admitance/.*did you mean"):
        manager.load(AdmittanceLink(controller()), VelocityForward("admitance"))


def test_a_command_claimed_twice_is_refused_by_both_names(manager):
    manager.load(
        AdmittanceLink(controller()),
        VelocityForward("admittance", name="one"),
        VelocityForward("admittance", name="other"),
    )
    with pytest.raises(ua.ConfigError, match=f"other and one both command '{PAN}/velocity'"):
        manager.switch(activate=["admittance", "one", "other"])
    manager.switch(activate=["admittance", "one"])
    with pytest.raises(ua.ConfigError, match="both command"):
        manager.switch(activate="other")
    manager.switch(activate="other", deactivate="one")


def test_two_kinds_of_command_at_once_are_refused(manager):
    manager.load(
        AdmittanceLink(controller()),
        VelocityForward("admittance", name="velocity"),
        PositionForward("admittance", name="position"),
    )
    with pytest.raises(ua.ConfigError, match=r"position commands position|velocity commands"):
        manager.switch(activate=["admittance", "velocity", "position"])


def test_two_that_set_the_pace_are_refused(manager):
    class Pacing(Wired):
        def pace(self, seconds):
            return 1.0

    manager.load(AdmittanceLink(controller()), ScaledTrajectory("admittance"), Pacing("drummer"))
    with pytest.raises(ua.ConfigError, match="both set the pace"):
        manager.switch(activate=["admittance", "trajectory", "drummer"])


def test_a_link_without_the_one_it_reads_from_is_refused_and_an_optional_one_may_be_missing(
    manager,
):
    manager.load(
        Wired("above", exports=["x"]),
        Wired("hard", reads=["above/x"]),
        Wired("soft", may_read=["above/x"]),
    )
    with pytest.raises(ua.ConfigError, match=r"hard reads .* above, which would not be active"):
        manager.switch(activate=["hard"])
    manager.switch(activate=["soft"])
    manager.switch(activate=["hard", "above"])
    with pytest.raises(ua.ConfigError, match="deactivate hard too"):
        manager.switch(deactivate=["above"])


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (lambda: Wired("a/b"), "without '/'"),
        (lambda: Wired(""), "without '/'"),
        (lambda: Wired(PAN), "is taken"),
        (lambda: Wired("ft_sensor"), "is taken"),
        (lambda: "admittance", "expected a Link"),
        (lambda: Wired("a", exports=["x", "x"]), "more than once"),
    ],
)
def test_names_that_tell_nothing_apart_are_refused(manager, link, words):
    with pytest.raises(ua.ConfigError, match=words):
        manager.load(link())


def test_a_name_is_taken_once(manager):
    manager.load(Wired("a"))
    with pytest.raises(ua.ConfigError, match="'a' is taken"):
        manager.load(Wired("a"))


def test_an_unknown_or_unfit_link_is_not_switched(manager):
    manager.load(Wired("player"), Wired("other"))
    with pytest.raises(ua.RobotError, match=r"no link 'palyer'.*player, other.*did you mean"):
        manager.switch(activate="palyer")
    with pytest.raises(ua.RobotError, match="player is inactive, not active"):
        manager.switch(deactivate="player")
    manager.switch(activate="player")
    with pytest.raises(ua.RobotError, match="active already"):
        manager.switch(activate="player")


def test_the_controller_of_another_arm_is_refused(manager):
    urdf = arm().to_urdf().replace("elbow_joint", "knee_joint")
    other = ua.RobotModel.from_urdf(urdf, base="base_link")
    with pytest.raises(ua.ConfigError, match="knee_joint"):
        manager.load(AdmittanceLink(ua.Controller(other)))


def test_poses_and_joints_from_above_at_once_are_refused():
    with pytest.raises(ua.ConfigError, match="not both"):
        AdmittanceLink(controller(), desired="player", joints="planner")


def test_a_link_sees_only_what_it_declared(manager):
    class Curious(Wired):
        def configure(self, ports: Ports) -> None:
            ports.read(["ft_sensor/force.x"])

    with pytest.raises(ua.ConfigError, match=r"'ft_sensor/force.x' is not in its reads"):
        manager.load(Curious("a", reads=["time"]))
    assert manager.order == ()


def test_what_a_link_reads_it_cannot_write_and_it_is_a_view(manager):
    class Reading(Wired):
        def configure(self, ports: Ports) -> None:
            self.q = ports.read(positions(arm().joint_names))

    link = Reading("a", reads=positions(arm().joint_names))
    manager.load(link)
    with pytest.raises(ValueError, match="read-only"):
        link.q[0] = 1.0
    manager.activate(arm().home)
    assert np.array_equal(link.q, arm().home)
    assert np.shares_memory(link.q, manager.interfaces.values)


def test_names_that_lie_apart_are_not_one_view(manager):
    class Odd(Wired):
        def configure(self, ports: Ports) -> None:
            ports.read(self.reads)

    with pytest.raises(ua.ConfigError, match="side by side"):
        manager.load(Odd("a", reads=["time", "dt"]))


def test_the_life_of_a_link(manager):
    link = Wired("a")
    assert link.state == "unconfigured"
    manager.load(link)
    assert link.state == "inactive"
    manager.switch(activate="a")
    loop = Watched(manager)
    loop.tick()
    assert link.state == "active"
    with pytest.raises(ua.RobotError, match="a is active; deactivate"):
        manager.unload("a")
    manager.switch(deactivate="a")
    loop.tick()
    assert link.state == "inactive"
    manager.unload("a")
    assert link.state == "unconfigured"
    expected = ["configure", "activate", "update", "deactivate", "cleanup"]
    assert link.calls == expected


def test_a_link_that_others_read_is_not_unloaded_and_may_come_back(manager):
    source = JointSource(lambda t: ZERO)
    manager.load(source, VelocityForward("source"))
    with pytest.raises(ua.ConfigError, match="forward can read source"):
        manager.unload("source")
    used = len(manager.interfaces.names)
    manager.unload("source", "forward")
    assert "source/elbow_joint/position" not in manager.interfaces.readable
    manager.load(JointSource(lambda t: ZERO), VelocityForward("source"))
    assert len(manager.interfaces.names) == used


def test_an_array_that_is_full_says_so(manager):
    with pytest.raises(ua.ConfigError, match="more than the 1024"):
        manager.load(Wired("a", exports=[f"x{n}" for n in range(2000)]))


def test_a_link_that_commands_some_joints_leaves_the_others_at_rest(manager):
    class Pan(Link):
        def declare(self, joints):
            self.commands = velocities(joints)[:1]

        def configure(self, ports):
            self.to = ports.command(self.commands)

        def update(self, dt):
            self.to[0] = 0.1

    manager.load(Pan("pan"))
    manager.switch(activate="pan")
    loop = Watched(manager)
    loop.run(0.2)
    assert loop.qd[0] == 0.1
    assert not loop.qd[1:].any()


def test_what_is_no_measurement_is_refused_and_changes_nothing():
    manager = compliant()
    with pytest.raises(ua.RobotError, match=r"activate\(q\) first"):
        manager.update(arm().home, ZERO, DT)
    manager.activate(arm().home)
    for q, wrench in ((np.zeros(5), ZERO), (arm().home, 3.0), ("six", ZERO)):
        with pytest.raises(ua.RobotError, match="must be six numbers"):
            manager.update(q, wrench, DT)
    manager.update(list(arm().home), [0.0] * 6, DT)
    assert manager.active == ("admittance", "forward")
