"""One tick: the order of its steps, its start and its rest, and that everything is written down."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from tests.kernel.plain import Records, plain, records
from tests.support import arm, controller_of, free_config, run
from ur_admittance import Config
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.tick import STOPPED_NOW, WRONG_Q, WRONG_WRENCH, update

tick = plain("tick")
PUSH = np.array([0.0, 0, -30, 0, 0, 0])
INPUT_STEPS = [
    "check_time", "check_joints", "kinematics", "accept_wrench",
    "check_wrench_age", "wrench", "watch_drift", "account", "watch", "take_goal",
    "take_stream",
]  # fmt: skip
MOTION_STEPS = [
    "gains", "stream", "pose_error", "desired", "to_law_axes", "law", "calm_down", "feed_forward",
    "track", "limit", "inverse_kinematics", "note_contact", "move_offset", "command_pose", "leash",
    "re_anchor", "reference",
]  # fmt: skip
CONTACT_STEPS = ["feel", "sharpen", "damp", "lead_lag", "allow_braking"]
FORCE_STEPS = ["press", "hold_back_force"]
BRAKE_STEPS = ["pose_error", "limit", "inverse_kinematics", "reference"]
LAST_STEPS = ["note_events", "write"]


def steps_of(monkeypatch: pytest.MonkeyPatch, r: Records) -> list[str]:
    """The steps that one tick calls, in order; each does what it does."""
    called: list[str] = []

    def noted(name: str):
        step = getattr(tick, name)

        def call(*arguments):
            called.append(name)
            return step(*arguments)

        return call

    names = {*INPUT_STEPS, *MOTION_STEPS, *LAST_STEPS, "decide", "seed", "not_following"}
    names |= {*CONTACT_STEPS, *FORCE_STEPS}
    with monkeypatch.context() as patch:
        for name in names:
            patch.setattr(tick, name, noted(name))
        tick.step(*r)
    return called


def begun(config: Config | None = None) -> Records:
    """After the first tick of an activation, under a push."""
    r = records(config, seeding=1)
    r.i.wrench[:] = PUSH
    tick.step(*r)
    return r


# --- order ---


def test_a_moving_arm_is_checked_felt_asked_limited_and_written_in_this_order(monkeypatch) -> None:
    r = begun()
    expected = [*INPUT_STEPS, "not_following", "decide", *MOTION_STEPS, *LAST_STEPS]
    assert steps_of(monkeypatch, r) == expected


def test_contact_is_felt_before_the_law_and_asks_the_arm_for_more_after_it(monkeypatch) -> None:
    called = steps_of(monkeypatch, begun(Config.from_dict({"contact.adapt": True})))
    order = ["to_law_axes", "feel", "sharpen", "law", "damp", "calm_down", "feed_forward", "track"]
    order += ["lead_lag", "allow_braking", "limit"]
    first = called.index("to_law_axes")
    assert called[first : first + len(order)] == order


def test_what_presses_comes_after_the_law_and_gives_up_what_limits_took(monkeypatch) -> None:
    z = [False, False, True, False, False, False]
    called = steps_of(monkeypatch, begun(Config.from_dict({"force.enabled_axes": z})))
    order = ["to_law_axes", "feel", "law", "press", "calm_down", "feed_forward", "track"]
    order += ["lead_lag", "allow_braking", "limit", "inverse_kinematics", "hold_back_force"]
    first = called.index("to_law_axes")
    assert called[first : first + len(order)] == order


def test_a_fresh_start_only_seeds(monkeypatch) -> None:
    r = records(seeding=1)
    assert steps_of(monkeypatch, r) == [*INPUT_STEPS, "decide", "seed", *LAST_STEPS]


def test_a_stop_brakes_through_the_same_limits_and_the_law_waits(monkeypatch) -> None:
    r = begun()
    for _ in range(3):
        tick.step(*r)
    r.i.stop = bits.STOP_REQUESTED
    called = steps_of(monkeypatch, r)
    assert called == [*INPUT_STEPS, "not_following", "decide", *BRAKE_STEPS, *LAST_STEPS]
    assert not r.s.v.any() and not r.s.dx.any()


def test_every_step_of_the_tick_is_in_these_lists() -> None:
    """So that a new step is put where it belongs here, too."""
    known = {*INPUT_STEPS, *MOTION_STEPS, *LAST_STEPS, "decide", "seed", "not_following"}
    known |= {*CONTACT_STEPS, *FORCE_STEPS}
    for function in (tick.step, tick.move, tick.brake):
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(inspect.getsource(function)))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        inside = {"move", "brake", "follow", "wait", "halt", "to_joints", "hold_back"}
        inside |= {"slowed_by_itself", "clear_contact", "clear_force"}
        vectors = set(dir(plain("spatial")))
        assert calls <= known | inside | vectors | {"range"}, function.__name__


# --- start and rest ---


@pytest.mark.parametrize("left_over", [1.0, np.nan])
def test_a_seeded_arm_stands_and_nothing_of_before_is_in_its_motion(left_over: float) -> None:
    r = records(seeding=1, goal_age=1.0)
    moving = ("v", "dx", "rate", "error", "V_WD", "V_track", "V_lim", "V_mem", "A_mem", "qd")
    moving += ("qd_prev", "V_cmd", "V_prev", "x", "q_ref_rate")
    for name in moving:
        getattr(r.s, name)[:] = left_over
    tick.seed(r.p, r.s)
    for name in moving:
        assert not getattr(r.s, name).any(), name
    np.testing.assert_array_equal(r.s.q_ref, r.s.q)
    np.testing.assert_array_equal(r.s.p_WD, r.s.p_WP)
    np.testing.assert_array_equal(r.s.p_WC, r.s.p_WP)
    assert r.s.at_rest and not r.s.seeding and r.s.at_goal


def test_after_a_hold_a_spring_keeps_its_home_and_a_free_axis_does_not() -> None:
    stiffness = [0.0, 300.0, 0.0, 0.0, 0.0, 0.0]
    config = free_config(**{"admittance.stiffness": stiffness, "admittance.frame": "base"})
    r = records(config, seeding=2)
    r.s.p_WD[:] = r.s.p_WP - [0.1, 0.2, 0.3]
    home = r.s.p_WD.copy()
    tick.seed(r.p, r.s)
    np.testing.assert_allclose(r.s.p_WD, [r.s.p_WP[0], home[1], r.s.p_WP[2]], atol=1e-12)
    np.testing.assert_allclose(r.s.x, [0, 0.2, 0], atol=1e-12)


def test_five_failures_of_the_inverse_kinematics_are_counted_and_one_success_forgets() -> None:
    q = arm().home.copy()
    q[4] = 0.0
    r = records(q=q)
    damping = float(r.p.ik_damping)
    for k in (1, 2, 3):
        r.p.ik_damping = np.nan
        r.s.V_track[:] = 0.01
        tick.to_joints(r.p, r.s, False)
        assert r.s.ik_failures == k and r.s.status & bits.BEYOND_ACCELERATION
    r.p.ik_damping = damping
    tick.to_joints(r.p, r.s, False)
    assert r.s.ik_failures == 0


# --- write ---

SAME_NAME = {
    "qd": "qd", "q_ref": "q_ref", "V_WP_cmd": "V_cmd", "V_WP_lim": "V_lim", "V_WP_law": "V_track",
    "V_WD": "V_WD", "error": "error", "offset_rate": "v", "q": "q", "F_S_comp": "F_S_comp",
    "F_S_filt": "F_S_filt", "F_S": "F_S", "F_P": "F_P", "tick": "ticks", "time": "time", "dt": "dt",
    "mode": "mode", "status": "status", "engagement": "engaged", "sigma": "sigma",
    "contact_stiffness": "touch_stiffness", "contact_normal": "touch_normal",
    "contact_damping": "touch_damping", "energy": "energy", "energy_given": "energy_given",
    "force_target": "force_ref", "force_phase": "force_phase", "tank": "tank",
}  # fmt: skip


def test_every_output_is_written_and_is_what_the_state_says() -> None:
    rng = np.random.default_rng(4)
    r = begun()
    for name in SAME_NAME.values():
        value = getattr(r.s, name)
        if np.ndim(value):
            value[:] = rng.normal(size=value.shape)
        else:
            setattr(r.s, name, rng.integers(1, 1000))
    tick.write(r.s, r.i, r.o)
    for out, state in SAME_NAME.items():
        np.testing.assert_array_equal(r.o[out], r.s[state], err_msg=out)
    np.testing.assert_array_equal(r.o.wrench, r.i.wrench)
    for X, p in ((r.o.X_WP, r.s.p_WP), (r.o.X_WC, r.s.p_WC), (r.o.X_WD, r.s.p_WD)):
        np.testing.assert_array_equal(X[:3, 3], p)
        np.testing.assert_allclose(X[:3, :3] @ X[:3, :3].T, np.eye(3), atol=1e-12)
        np.testing.assert_array_equal(X[3], [0, 0, 0, 1])
    by_hand = {"wrench", "X_WP", "X_WC", "X_WD", "offset", "inputs", "timing"}
    assert {*SAME_NAME, *by_hand} == set(layout.OUTPUTS.names or ())


def test_every_input_is_copied_so_that_the_tick_can_be_done_again() -> None:
    r, rng = records(), np.random.default_rng(5)
    for name in layout.INPUTS.names or ():
        value = r.i[name]
        r.i[name] = rng.normal(size=value.shape) if np.ndim(value) else rng.integers(1, 1000)
    tick.write_inputs(r.i, r.o.inputs)
    assert r.o.inputs.tobytes() == r.i.tobytes()


# --- the entry ---


def test_wrong_shapes_are_refused_before_anything_is_touched() -> None:
    controller = controller_of(free_config())
    run(controller, arm().home, PUSH, 3)
    before = [record.tobytes() for record in controller._records]
    five, six = np.zeros((10, 2))[:5, 0], np.zeros((6, 2))[:, 0]
    assert update(*controller._records, five, six, 0.002, 0.0, 0.0) == WRONG_Q
    assert update(*controller._records, six, five, 0.002, 0.0, 0.0) == WRONG_WRENCH
    assert [record.tobytes() for record in controller._records] == before


def test_a_tick_that_begins_a_hold_or_a_stop_says_so_once() -> None:
    controller = controller_of(Config())
    run(controller, arm().home, PUSH, 20)
    strided = np.zeros((6, 2))
    strided[:, 0] = controller.outputs["q"][0]
    q, still = strided[:, 0], np.zeros((6, 2))[:, 0]
    codes = [
        update(*controller._records, q, still, 0.002, age, 0.0)
        for age in (0.0, 0.02, 0.02, 0.2, 0.2)
    ]
    assert codes == [0, STOPPED_NOW, 0, STOPPED_NOW, 0]
