"""The admittance as a link: bit for bit the controller, with desired poses from above."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import DT, PUSH, ZERO, JointSource, Watched, compliant, controller
from tests.support import arm, moved
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    Desired,
    PolicyLink,
    VelocityForward,
    positions,
    velocities,
)
from ur_admittance.kernel import layout

CONFIG = ua.Config.from_dict(
    {
        "admittance.stiffness": [0, 200, 0, 10, 0, 0],
        "admittance.engage_seconds": 0.05,
        "limits.max_angular_jerk": 100.0,
        "payload.mass": 1.0,
        "payload.center_of_mass": [0.01, 0, 0.05],
    }
)
FIELDS = [name for name in layout.OUTPUTS.names or () if name != "timing"]


def same(one: np.ndarray, other: np.ndarray) -> None:
    for name in FIELDS:
        assert one[name].tobytes() == other[name].tobytes(), name


def measurements(ticks: int = 700):
    """Joints, wrench, dt and ages: ordinary ones, and every kind of odd one."""
    rng = np.random.default_rng(4)
    q = np.array(arm().home)
    for k in range(ticks):
        wrench = 12 * np.sin(k / np.array([19, 23, 31, 17, 29, 37])) * [1, 1, 1, 0.1, 0.1, 0.1]
        dt, wrench_age, joint_age = DT, 0.0, 0.0
        if k % 50 == 17:
            wrench[int(rng.integers(6))] = np.nan
        if k % 70 == 20:
            dt = float(rng.choice([-1.0, 0.0, np.nan, 0.004, 0.5]))
        if 300 < k < 310:
            wrench_age = 0.012
        if k % 90 == 30:
            joint_age = 0.003
        yield k, q, wrench, dt, wrench_age, joint_age


def test_the_link_gives_bit_for_bit_what_the_controller_gives():
    manager, alone = compliant(config=CONFIG), controller(CONFIG)
    link = manager["admittance"]
    assert isinstance(link, AdmittanceLink)
    joints, modes = arm().joint_names, set()
    names = (*velocities(joints, "admittance"), *positions(joints, "admittance"))
    exports = manager.interfaces.view(names)
    for k, q, wrench, dt, wrench_age, joint_age in measurements():
        if k == 0:
            manager.activate(q)
            alone.activate(q)
        out = manager.update(q, wrench, dt, wrench_age, joint_age)
        expected = alone.update(q, wrench, dt, wrench_age, joint_age)
        same(link.controller.outputs, alone.outputs)
        assert out["qd"].tobytes() == expected["qd"].tobytes()
        assert np.array_equal(exports[:6], expected["qd"])
        assert np.array_equal(exports[6:], expected["q_ref"])
        modes.add(alone.mode)
        q += expected["qd"] * expected["dt"]
    assert modes == {"active", "holding"}
    assert manager.limited == 0


def test_a_recorded_chain_with_poses_from_above_is_done_again_bit_for_bit_by_a_controller():
    X = arm().fk(arm().home)
    poses = {10: Desired(moved(X, [0.05, 0, 0.02], [0, 0.2, 0])), 80: Desired(None, [0.05] * 6)}
    policy = PolicyLink(lambda t, q, wrench: poses.get(round(t / DT)))
    manager, alone = compliant(policy, config=CONFIG), controller(CONFIG)
    loop = Watched(manager)
    for k in range(300):
        out = loop.tick(PUSH if k > 150 else ZERO)
        same(np.array([out]), np.array([alone.repeat(out)]))
    assert out["inputs"]["goal_count"] == 4  # a pose and a twist, each of which goes stale


def test_a_desired_pose_from_above_is_approached_inside_the_limits():
    X = moved(arm().fk(arm().home), [0.1, -0.1, 0.05], [0.2, 0, 0.3])
    loop = Watched(compliant(PolicyLink(lambda t, q, wrench: X)))
    out = loop.run(3.0)
    np.testing.assert_allclose(out["X_WP"], X, atol=1e-4)
    assert loop.manager.limited == 0


def test_what_a_policy_streams_through_the_chain_is_what_it_streams_in_process():
    rng = np.random.default_rng(3)
    streams = [{"stiffness": rng.uniform(50, 500, 6), "mass": rng.uniform(2, 9, 6)}
               if k % 5 == 0 else None for k in range(100)]  # fmt: skip
    cycle = iter(streams)
    policy = PolicyLink(lambda t, q, w: None if (s := next(cycle)) is None else Desired(stream=s))
    law, manager = AdmittanceLink(controller(CONFIG), stream="policy"), ControllerManager(arm())
    manager.load(VelocityForward("admittance"), law, policy)
    manager.switch(activate=["policy", "admittance", "forward"])
    alone, again, loop = controller(CONFIG), controller(CONFIG), Watched(manager)
    alone.activate(loop.q)
    for stream in streams:
        if stream is not None:
            alone.stream(**stream)
        q = loop.q
        out = loop.tick(PUSH)
        alone.update(q, PUSH, DT)
        same(law.controller.outputs, alone.outputs)
        same(np.array([out]), np.array([again.repeat(out)]))
    last = streams[95]
    assert last is not None and alone.state[0].mass.tolist() == last["mass"].tolist()


def test_what_cannot_be_streamed_is_named():
    policy = PolicyLink(lambda t, q, w: Desired(stream={"stifness": [1.0] * 6}))
    law, manager = AdmittanceLink(controller(CONFIG), stream="policy"), ControllerManager(arm())
    manager.load(VelocityForward("admittance"), law, policy)
    manager.switch(activate=["policy", "admittance", "forward"])
    loop = Watched(manager)
    loop.tick()
    assert any("stiffness" in words for words in manager.status_words())


def test_a_twist_from_above_moves_the_tool_at_that_twist_and_stops_without_coming_back():
    V = np.array([0.0, -0.1, 0.05, 0.0, 0.0, 0.2])
    loop = Watched(compliant(PolicyLink(lambda t, q, wrench: V if t < 1.0 else np.zeros(6))))
    out = loop.run(0.9)
    np.testing.assert_allclose(out["V_WP_cmd"], V, atol=2e-3)
    furthest = [float(loop.tick()["X_WP"][1, 3]) for _ in range(500)]
    assert np.abs(loop.qd).max() < 1e-3
    assert np.diff(furthest).max() < 1e-5  # y falls, and never turns


def test_a_twist_at_the_very_first_cycle_starts_from_the_arm():
    loop = Watched(compliant(PolicyLink(lambda t, q, wrench: np.array([0.05, 0, 0, 0, 0, 0.0]))))
    start = arm().fk(loop.q)[0, 3]
    out = loop.run(1.0)
    assert out["X_WD"][0, 3] - start == pytest.approx(0.05, abs=0.004)


def test_joint_references_from_above_are_followed():
    rates = np.array([0.1, -0.05, 0.08, 0.02, 0.05, -0.1])
    source = JointSource(lambda t: rates if t < 1.0 else ZERO)
    manager = ControllerManager(arm())
    manager.load(
        source, AdmittanceLink(controller(), joints="source"), VelocityForward("admittance")
    )
    manager.switch(activate=["source", "admittance", "forward"])
    loop = Watched(manager)
    loop.run(2.5)
    np.testing.assert_allclose(loop.q, arm().home + rates, atol=2e-3)


@pytest.mark.parametrize(
    "desired",
    [
        Desired(moved(np.eye(4), [1e3, 0, 0])),
        Desired(None, np.full(6, 1e3)),
        Desired(np.eye(4), np.full(6, 1e3)),
    ],
)
def test_what_is_no_pose_stops_the_arm_and_never_reaches_the_law(desired):
    loop = Watched(compliant(PolicyLink(lambda t, q, wrench: desired)))
    loop.run(0.1)
    assert loop.manager.failure is not None
    assert loop.manager.failure.link == "admittance"
    assert "no pose" in loop.manager.failure.why


def test_parameters_change_live():
    manager = compliant()
    loop = Watched(manager)
    loop.run(0.3, PUSH)
    link = manager["admittance"]
    assert isinstance(link, AdmittanceLink)
    link.controller.set(max_linear_velocity=0.02)
    out = loop.run(1.0, PUSH)
    assert np.linalg.norm(out["V_WP_cmd"][:3]) == pytest.approx(0.02, rel=1e-3)
