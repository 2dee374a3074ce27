"""The controller from outside: its life cycle, what it is told, what it says, what it refuses."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import ur_admittance as ua
from tests.support import (
    ANGULAR,
    LINEAR,
    ZERO,
    arm,
    controller_of,
    free_config,
    lengths,
    moved,
    names_in,
    oracle,
    pose,
    q_after,
    run,
)
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.controller import MODES
from ur_admittance.kernel import bits, layout
from ur_admittance.packing import pack

HOME = arm().home
PUSH = np.array([0.0, 0, -30, 0, 0, 0])  # up: the probe looks down at home
NAN = math.nan


def moving_controller(**changes: Any) -> tuple[Controller, np.ndarray]:
    """A controller in motion, and the joints now."""
    controller = controller_of(Config.from_dict(changes))
    history = run(controller, HOME, PUSH, 200)
    assert lengths(history["V_WP_cmd"][-1, LINEAR]) > 0.05
    return controller, q_after(history)


def until_rest(controller: Controller, q: np.ndarray, wrench: Any = ZERO, most: int = 400):
    """Tick until the controller says it is at rest."""
    histories = []
    for _ in range(most):
        histories.append(run(controller, q, wrench, 1))
        q = q_after(histories[-1])
        if controller.at_rest:
            return np.concatenate(histories), q
    raise AssertionError("the arm never came to rest")


# --- activation ---


def pushed(c: Controller, q: np.ndarray) -> np.ndarray:
    return q


def stopped(c: Controller, q: np.ndarray) -> np.ndarray:
    c.stop()
    return until_rest(c, q)[1]


def stopping(c: Controller, q: np.ndarray) -> np.ndarray:
    c.stop()
    return q_after(run(c, q, PUSH, 5))


def held(c: Controller, q: np.ndarray) -> np.ndarray:
    return q_after(run(c, q, PUSH, 20, wrench_age=0.05))


def left(c: Controller, q: np.ndarray) -> np.ndarray:
    c.deactivate()
    return until_rest(c, q)[1]


def led_away(c: Controller, q: np.ndarray) -> np.ndarray:
    c.set_desired(moved(arm().fk(q), [0.2, 0, 0]))
    return q_after(run(c, q, PUSH, 30))


@pytest.mark.parametrize("before", [pushed, stopped, stopping, held, left, led_away])
@pytest.mark.parametrize("wrench", [ZERO, PUSH, -4 * PUSH, np.array([5, -9, 20, 2, -1, 3.0])])
def test_the_first_command_after_activation_is_exactly_zero(before, wrench) -> None:
    """Whatever was before, and whatever is felt."""
    controller, q = moving_controller()
    q = before(controller, q)
    controller.activate(q)
    history = run(controller, q, wrench, 100)
    assert (history["qd"][0] == 0).all() and (history["V_WP_cmd"][0] == 0).all()
    np.testing.assert_array_equal(history["q_ref"][0], q)
    np.testing.assert_allclose(history["X_WC"][0], arm().fk(q), atol=1e-12)
    oracle(history, controller)


def test_after_activation_nothing_is_left_of_the_time_before() -> None:
    """Bit for bit what a new controller does."""
    used, q = moving_controller()
    used.stop("for a test")
    q = until_rest(used, q)[1]
    used.activate(q)
    new = Controller(arm(), Config())
    new.activate(q)
    a, b = (run(c, q, PUSH * 0.5, 300) for c in (used, new))
    assert a.tobytes() == b.tobytes()
    assert used.events() == new.events() == []


def test_an_arm_at_rest_without_force_stays_where_it_is() -> None:
    controller = controller_of(Config())
    history = run(controller, HOME, ticks=500)
    assert np.abs(history["q"] - HOME).max() < 1e-12
    assert names_in(history) == set()


def test_two_controllers_do_not_share_anything() -> None:
    alone = controller_of(Config())
    expected = run(alone, HOME, PUSH, 100)
    a, b = controller_of(Config()), controller_of(Config())
    q, other, ours = HOME, HOME, []
    for _ in range(100):
        other = q_after(run(b, other, -PUSH, 1))
        ours.append(run(a, q, PUSH, 1))
        q = q_after(ours[-1])
    assert np.concatenate(ours).tobytes() == expected.tobytes()


def test_before_activation_the_controller_commands_nothing() -> None:
    controller = Controller(arm(), Config())
    assert controller.mode == "inactive"
    history = run(controller, HOME, PUSH, 50)
    assert (history["qd"] == 0).all()
    np.testing.assert_array_equal(history["q_ref"], np.tile(HOME, (50, 1)))


# --- stop, reset, deactivate ---


def test_a_stop_brakes_inside_the_limits_and_lasts_until_reset() -> None:
    controller, q = moving_controller()
    controller.stop("lunch")
    braking, q = until_rest(controller, q, PUSH)
    assert controller.mode == "stopped"
    assert 2 < len(braking) < 200
    waiting = run(controller, q, PUSH, 300)
    assert (waiting["qd"] == 0).all()
    oracle(np.concatenate([braking, waiting]), controller)
    controller.reset()
    assert controller.mode == "active"
    going = run(controller, q, PUSH, 100)
    assert (going["qd"][0] == 0).all() and lengths(going["V_WP_cmd"][-1]) > 0.01


def test_a_stop_at_rest_is_a_stop_too() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=5)
    controller.stop()
    history = run(controller, HOME, PUSH, 20)
    assert (history["qd"] == 0).all() and controller.mode == "stopped"


def test_reset_is_refused_while_the_arm_still_brakes() -> None:
    controller, q = moving_controller()
    controller.stop()
    q = q_after(run(controller, q, PUSH, 2))
    assert not controller.at_rest
    with pytest.raises(ua.RobotError, match="still braking"):
        controller.reset()
    assert controller.mode == "stopped"
    until_rest(controller, q)
    controller.reset()


def test_reset_is_refused_when_there_is_nothing_to_reset() -> None:
    controller = Controller(arm(), Config())
    with pytest.raises(ua.RobotError, match="inactive"):
        controller.reset()
    controller.activate(HOME)
    run(controller, HOME, ticks=2)
    with pytest.raises(ua.RobotError, match="active"):
        controller.reset()


def test_a_reset_under_a_cause_that_lasts_stops_again_without_a_twitch() -> None:
    controller = controller_of(Config())
    heavy = np.array([300.0, 0, 0, 0, 0, 0])
    run(controller, HOME, heavy, 20)
    assert controller.mode == "stopped"
    controller.reset()
    history = run(controller, HOME, heavy, 20)
    assert controller.mode == "stopped" and (history["qd"] == 0).all()


def test_deactivation_brakes_and_then_commands_nothing() -> None:
    controller, q = moving_controller()
    controller.deactivate()
    assert controller.mode == "leaving"
    braking, q = until_rest(controller, q, PUSH)
    oracle(braking, controller)
    after = run(controller, q, PUSH, 50)
    assert controller.mode == "inactive" and (after["qd"] == 0).all()
    controller.deactivate()  # again: nothing happens
    assert controller.mode == "inactive"


def test_a_stop_while_leaving_changes_nothing() -> None:
    controller, q = moving_controller()
    controller.deactivate()
    q = q_after(run(controller, q, PUSH, 3))
    controller.stop()
    _, q = until_rest(controller, q, PUSH)
    run(controller, q, PUSH, 2)
    assert controller.mode == "inactive"


def test_a_stopped_controller_can_be_deactivated_and_activated_again() -> None:
    controller, q = moving_controller()
    controller.stop()
    q = until_rest(controller, q)[1]
    controller.deactivate()
    run(controller, q, ticks=3)
    assert controller.mode == "inactive"
    controller.activate(q)
    assert controller.mode == "active"
    run(controller, q, ticks=3)
    assert controller.mode == "active" and controller.status_words() == []


@pytest.mark.parametrize("preset", ua.presets())
def test_with_every_preset_a_stopped_arm_comes_to_rest_and_can_be_reset(preset: str) -> None:
    rng = np.random.default_rng(71)
    for _ in range(5):
        q = HOME + rng.uniform(-0.4, 0.4, 6)
        controller = Controller(arm(), Config.preset(preset))
        controller.activate(q)
        history = run(controller, q, rng.uniform(-30, 30, 6) * [1, 1, 1, 0.1, 0.1, 0.1], 150)
        controller.stop()
        _, q = until_rest(controller, q_after(history), most=250)
        controller.reset()
        run(controller, q, ticks=2)
        assert controller.mode == "active"


@pytest.mark.parametrize("preset", ua.presets())
def test_with_every_preset_a_hold_ends_by_itself(preset: str) -> None:
    q = HOME + np.array([0.2, 0.1, -0.1, 0.3, 0.2, -0.2])
    controller = Controller(arm(), Config.preset(preset))
    controller.activate(q)
    push = np.array([20.0, -15, 10, 2, -2, 1])
    q = q_after(run(controller, q, push, 150))
    q = q_after(run(controller, q, push, 10, wrench_age=0.02))
    assert controller.mode == "holding"
    run(controller, q, ticks=500)
    assert controller.mode == "active"


# --- what it says ---


def test_the_words_of_the_status_name_the_fault_and_the_reason() -> None:
    controller, q = moving_controller()
    assert not any("stop" in words for words in controller.status_words())
    controller.stop("the door is open")
    run(controller, q, PUSH, 3)
    words = controller.status_words()
    assert words[0] == "stop_requested: stop() was called (the door is open)"


def test_the_reason_of_a_stop_stays_with_the_stop_when_there_is_a_worse_fault() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=3)
    controller.stop("the door is open")
    run(controller, HOME, np.array([300.0, 0, 0, 0, 0, 0]), 20)
    with_reason = [w for w in controller.status_words() if "door" in w]
    assert len(with_reason) == 1
    assert with_reason[0].startswith("stop_requested")


def test_after_a_stop_the_words_still_say_why_when_the_cause_is_gone() -> None:
    controller = controller_of(Config())
    run(controller, HOME, np.array([300.0, 0, 0, 0, 0, 0]), 20)
    run(controller, HOME, ticks=20)
    assert any(words.startswith("over_force") for words in controller.status_words())


def test_the_trace_holds_the_last_two_seconds_oldest_first() -> None:
    controller = controller_of(Config())
    history = run(controller, HOME, PUSH * 0.3, 300)
    assert controller.trace().tobytes() == history.tobytes()
    more = run(controller, q_after(history), ticks=1100)
    trace = controller.trace()
    assert trace.tobytes() == np.concatenate([history, more])[-1000:].tobytes()
    assert trace["time"][-1] - trace["time"][0] == pytest.approx(1.998)
    trace["qd"] = NAN  # a copy: the controller's own is safe
    assert np.isfinite(controller.trace()["qd"]).all()


@pytest.mark.parametrize("rate", [20.0, 125.0, 2000.0])
def test_the_trace_is_two_seconds_long_at_any_rate(rate: float) -> None:
    timeouts = {"safety.wrench_timeout": 0.06, "safety.joint_timeout": 0.06}
    controller = controller_of(Config.from_dict({"control_rate": rate, **timeouts}))
    run(controller, HOME, ticks=round(2.5 * rate), dt=1 / rate)
    assert len(controller.trace()) == round(2 * rate)


def test_every_stop_comes_with_its_trace() -> None:
    controller, q = moving_controller()
    assert controller.last_stop is None
    controller.stop("enough")
    history = run(controller, q, PUSH, 3)
    last = controller.last_stop
    assert last is not None
    assert last.reasons == ("stop_requested",)
    assert "enough" in last.words
    assert last.time == pytest.approx(history["time"][0])
    assert len(last.trace) == 201
    assert last.trace[-1].tobytes() == history[0].tobytes()
    assert (np.diff(last.trace["tick"]) == 1).all()


def test_a_hold_comes_with_its_trace_too_and_a_later_stop_replaces_it() -> None:
    controller, q = moving_controller()
    q = q_after(run(controller, q, PUSH, 5, wrench_age=0.02))
    held = controller.last_stop
    assert held is not None and held.reasons == ("wrench_stale",)
    run(controller, q, PUSH, 5, wrench_age=0.2)
    assert controller.last_stop is not None and controller.last_stop is not held
    assert "wrench_lost" in controller.last_stop.reasons
    assert held.trace["tick"][-1] < controller.last_stop.trace["tick"][-1]


def test_an_event_says_what_was_seen_and_what_is_allowed() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=10)
    run(controller, HOME, ticks=1, wrench_age=0.013)
    run(controller, HOME, ticks=1, dt=NAN)
    run(controller, HOME, ticks=1, dt=0.07)
    run(controller, HOME, np.array([0, 0, 250.0, 0, 0, 0]), 6)
    events = {event.name: event for event in controller.events()}
    assert events["wrench_stale"].value == 0.013 and events["wrench_stale"].limit == 0.01
    assert events["wrench_stale"].time == pytest.approx(0.022)
    assert math.isnan(events["bad_dt"].value) and events["bad_dt"].limit == 0.1
    assert events["time_gap"].value == 0.07 and events["time_gap"].limit == pytest.approx(0.01)
    assert events["over_force"].value == 250.0 and events["over_force"].limit == 200.0
    assert [event.time for event in controller.events()] == sorted(
        event.time for event in controller.events()
    )


def test_the_event_of_an_over_force_tells_the_force_that_was_judged() -> None:
    """Bias and weight are taken off before the force is held against its limit."""
    controller = controller_of(Config.from_dict({"payload.force_bias": [-150.0, 0, 0]}))
    run(controller, HOME, np.array([-150.0, 0, 0, 0, 0, 0]), 5)
    run(controller, HOME, np.array([60.0, 0, 0, 0, 0, 0]), 6)
    (event,) = [event for event in controller.events() if event.name == "over_force"]
    assert event.value == pytest.approx(210.0)


def test_a_fault_that_lasts_is_one_event_and_one_that_returns_is_another() -> None:
    controller = controller_of(Config())
    run(controller, HOME, ticks=5)
    run(controller, HOME, ticks=10, wrench_age=0.02)
    assert [event.name for event in controller.events()] == ["wrench_stale"]
    run(controller, HOME, ticks=5)
    run(controller, HOME, ticks=10, wrench_age=0.02)
    assert [event.name for event in controller.events()] == ["wrench_stale"] * 2


def test_only_the_last_events_are_kept_oldest_first() -> None:
    controller = controller_of(Config())
    for _ in range(50):
        run(controller, HOME, ticks=1)
        run(controller, HOME, ticks=1, dt=-1.0)
    events = controller.events()
    assert len(events) == layout.EVENTS
    assert (np.diff([event.time for event in events]) > 0).all()
    assert events[-1].time == pytest.approx(controller.trace()["time"][-1])


def test_what_update_returns_is_a_view_that_the_next_tick_overwrites() -> None:
    controller = controller_of(Config())
    first = controller.update(HOME, PUSH, 0.002)
    tick = int(first["tick"])
    assert controller.update(HOME, PUSH, 0.002) is first
    assert first["tick"] == tick + 1


def test_bound_to_arrays_it_does_the_same_ticks() -> None:
    controller, twin = controller_of(Config()), controller_of(Config())
    q, wrench = np.array(HOME), np.zeros(6)
    tick = twin.bind(q, wrench)
    for k in range(50):
        wrench[:] = PUSH if k != 20 else np.nan
        out = controller.update(q, wrench, 0.002, 0.001, 0.0)
        tick(0.002, 0.001, 0.0)
        assert twin.outputs.tobytes() == controller.outputs.tobytes()
        q += out["qd"] * 0.002


@pytest.mark.parametrize("wrong", [HOME.tolist(), HOME[:5], HOME.astype(np.float32)])
def test_it_binds_to_nothing_that_it_would_have_to_copy(wrong: Any) -> None:
    with pytest.raises(ua.RobotError, match="q must be an array of six float64"):
        controller_of(Config()).bind(wrong, np.zeros(6))


# --- set ---


def same_but_generation(a: np.ndarray, b: np.ndarray) -> bool:
    a, b = a.copy(), b.copy()
    a["generation"] = b["generation"] = 0
    return a.tobytes() == b.tobytes()


CHANGES = {
    "admittance.mass": ([4, 4, 4, 0.4, 0.4, 0.4], ("law",)),
    "admittance.stiffness": ([100, 100, 100, 10, 10, 10], ("law",)),
    "admittance.damping": ([90.0] * 6, ("law",)),
    "admittance.damping_ratio": ([0.9] * 6, ("law",)),
    "admittance.virtual_stiffness": ([150.0] * 6, ("law",)),
    "admittance.enabled_axes": ([True, True, True, False, False, False], ("law",)),
    "admittance.ramp_seconds": (0.2, ("law",)),
    "admittance.drift_reset_threshold": (0.002, ("law",)),
    "admittance.filter_coefficient": (0.3, ("wrench",)),
    "admittance.filter_cutoff_hz": (12.0, ("wrench",)),
    "admittance.deadband_force": (3.0, ("wrench",)),
    "admittance.deadband_torque": (0.2, ("wrench",)),
    "admittance.deadband_kind": ("hard", ("wrench",)),
    "admittance.min_motion_threshold": (0.7, ("wrench",)),
    "tracking.velocity_gain": (7.0, ("law",)),
    "tracking.max_joint_lead": (0.2, ("law",)),
    "max_linear_velocity": (0.3, ("limits",)),
    "max_angular_velocity": (0.8, ("limits",)),
    "limits.max_linear_acceleration": (2.0, ("limits",)),
    "limits.max_linear_jerk": (50.0, ("limits",)),
    "limits.workspace_max": ([1.0, 1.0, 1.5], ("limits",)),
    "ik.damping": (0.1, ("limits",)),
    "ik.singularity_threshold": (0.05, ("limits",)),
    "payload.mass": (1.5, ("wrench",)),
    "payload.force_bias": ([1.0, 2.0, 3.0], ("wrench",)),
    "safety.max_force": (150.0, ("safety",)),
    "safety.max_tracking_error": (0.03, ("safety",)),
    "safety.max_tracking_rotation": (0.2, ("safety",)),
    "safety.frozen_samples": (25, ("safety",)),
    "loop_delay": (0.03, ()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_recomputes_its_part_and_gives_the_record_a_new_controller_would_have(name):
    value, parts = CHANGES[name]
    controller = controller_of(Config())
    before = controller._params.copy()
    change = controller.set(**{name: value})
    assert change.recomputed == parts
    assert change.ramp_seconds == controller.config.admittance.ramp_seconds
    old, new = change.values[name]
    assert old == Config().flat()[name] and new == controller.config.flat()[name] != old
    expected = pack(controller.config, arm())
    assert same_but_generation(controller._params, expected)
    assert same_but_generation(controller._params, before) == (not parts)
    assert controller._params["generation"] == before["generation"] + bool(parts)


def test_a_change_to_the_same_value_is_no_change() -> None:
    controller = controller_of(Config())
    before = controller._params.copy()
    change = controller.set(max_linear_velocity=controller.config.max_linear_velocity)
    assert change.values == {} and change.recomputed == ()
    assert controller._params.tobytes() == before.tobytes()
    assert controller.set().values == {}


def test_several_changes_recompute_each_part_once() -> None:
    controller = controller_of(Config())
    change = controller.set(
        **{"payload.mass": 1.0, "admittance.deadband_force": 2.0, "safety.max_force": 100.0}
    )
    assert change.recomputed == ("wrench", "safety")
    assert set(change.values) == {"payload.mass", "admittance.deadband_force", "safety.max_force"}
    assert controller._params["generation"] == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"admittance.mas": [1] * 6}, "did you mean admittance.mass"),
        ({"max_linear_velocty": 0.1}, "did you mean max_linear_velocity"),
        ({"control_rate": 250}, "cannot change while running"),
        ({"admittance.frame": "base"}, "cannot change while running"),
        ({"limits.joint_velocity": 1.0}, "cannot change while running"),
        ({"output.mode": "position"}, "cannot change while running"),
        ({"admittance.mass": [1, 1, 1]}, "six numbers"),
        ({"admittance.mass": [0.0] * 6}, "> 0"),
        ({"admittance.mass": [NAN] * 6}, "must be"),
        ({"admittance.mass": "heavy"}, "must be"),
        ({"safety.max_force": -1}, "must be"),
        ({"limits.workspace_min": [11, 11, 11]}, "workspace_max"),
        ({"safety.lost_timeout": 0.005}, "must be longer"),
    ],
)
def test_a_wrong_change_is_refused_and_nothing_has_changed(changes, says) -> None:
    controller, q = moving_controller()
    twin, _ = moving_controller()
    before, config = controller._params.tobytes(), controller.config
    with pytest.raises(ua.ConfigError, match=says.replace(">", r"\>")):
        # one good change beside the bad one: all or nothing
        controller.set(**{"tracking.velocity_gain": 9.0, **changes})
    assert controller._params.tobytes() == before
    assert controller.config is config
    assert run(controller, q, PUSH, 50).tobytes() == run(twin, q, PUSH, 50).tobytes()


def test_all_that_is_wrong_with_a_change_is_said_at_once() -> None:
    controller = controller_of(Config())
    with pytest.raises(ua.ConfigError) as caught:
        controller.set(**{"admittance.mas": 1, "safety.max_force": -1, "control_rate": 5})
    assert len(caught.value.problems) >= 3


def test_nothing_changes_live_if_the_configuration_says_so() -> None:
    controller = controller_of(Config(dynamic_parameters=False))
    with pytest.raises(ua.ConfigError, match="dynamic_parameters"):
        controller.set(**{"admittance.mass": [4] * 6})


def test_a_change_can_be_made_before_activation() -> None:
    controller = Controller(arm(), Config())
    controller.set(**{"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4]})
    controller.activate(HOME)
    other = controller_of(Config.from_dict({"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4]}))
    a, b = (run(c, HOME, PUSH, 100) for c in (controller, other))
    np.testing.assert_allclose(a["qd"], b["qd"], rtol=0, atol=1e-15)


def test_a_lowered_speed_limit_is_reached_inside_the_acceleration_limit() -> None:
    controller = controller_of(Config.from_dict({"admittance.damping": [40] * 3 + [4] * 3}))
    fast = run(controller, HOME, PUSH, 200)
    assert lengths(fast["V_WP_cmd"][-1, LINEAR]) > 0.4
    controller.set(max_linear_velocity=0.1)
    slow = run(controller, q_after(fast), PUSH, 100)
    speed = lengths(slow["V_WP_cmd"][:, LINEAR])
    there = int(np.argmax(speed <= 0.1))
    assert there > 0 and (np.diff(speed[: there + 1]) < 0).all()
    assert (speed[there:] <= 0.1 * (1 + 1e-6)).all()
    both = np.concatenate([fast[-1:], slow])
    steps = lengths(np.diff(both["V_WP_cmd"][:, LINEAR], axis=0))
    assert (steps <= 2.5 * 0.002 * (1 + 1e-6)).all()


# --- the desired pose ---


AWAY = {
    "shift": ([0.15, -0.2, 0.1], [0, 0, 0]),
    "turn": ([0, 0, 0], [0, 0, 1.5]),
    "both": ([-0.1, 0.1, 0.1], [0.3, -0.4, 0.8]),
}


@pytest.mark.parametrize("stiff", [False, True])
@pytest.mark.parametrize("way", AWAY)
@pytest.mark.parametrize("jerk", [0.0, 50.0])
def test_a_desired_pose_far_away_is_approached_inside_the_limits_and_reached(
    jerk, way, stiff
) -> None:
    shift, turn = AWAY[way]
    config = Config.from_dict(
        {
            "limits.max_linear_jerk": jerk,
            "limits.max_angular_jerk": 4 * jerk,
            "admittance.stiffness": [300, 300, 300, 30, 30, 30] if stiff else [0] * 6,
        }
    )
    controller = controller_of(config)
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), shift, turn)
    controller.set_desired(X_WD)
    history = run(controller, q, ticks=2500)
    oracle(history, controller)
    X = history["X_WP"]
    np.testing.assert_allclose(X[-1], X_WD, atol=1e-4)
    if any(shift):
        along = (X[:, :3, 3] - X_WD[:3, 3]) @ (np.array(shift) / np.linalg.norm(shift))
        assert along.max() < (3e-3 if jerk else 1e-3), "overshoot"
    off = Rotation.from_matrix(X[:, :3, :3] @ X_WD[:3, :3].T).magnitude()
    first = int(np.argmax(off < 2e-3))
    assert off[first:].max() < 4e-3, "overshoot"


def test_a_planner_that_streams_is_followed() -> None:
    controller = controller_of(Config())
    q, X_0 = HOME, arm().fk(HOME)
    errors = []
    for k in range(1500):
        t = 0.002 * k
        s, ds = 0.05 * (1 - math.cos(2 * t)), 0.1 * math.sin(2 * t)
        controller.set_desired(moved(X_0, [0, s, s]), [0, ds, ds, 0, 0, 0])
        out = controller.update(q, ZERO, 0.002)
        errors.append(lengths(out["X_WP"][:3, 3] - (X_0[:3, 3] + [0, s, s])))
        q = q + out["qd"] * 0.002
    assert max(errors) < 1e-3


BAD_POSES = {
    "NaN": np.full((4, 4), NAN),
    "NaN position": pose(np.eye(3), [0, NAN, 0]),
    "infinite position": pose(np.eye(3), [0, 0, math.inf]),
    "zero": np.zeros((4, 4)),
    "reflected": np.diag([1.0, 1, -1, 1]),
    "skewed": pose(np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1.0]])),
    "scaled": pose(1.01 * np.eye(3)),
    "zero rotation": pose(np.zeros((3, 3))),
    "last row": np.vstack([np.eye(4)[:3], [0, 0, 1, 1]]),
    "3 x 3": np.eye(3),
    "flat": np.eye(4).ravel(),
    "text": "home",
    "nothing": None,
    "complex": np.eye(4) * 1j,
}


@pytest.mark.parametrize("name", BAD_POSES)
def test_a_pose_that_is_none_is_refused_and_nothing_moves(name: str) -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    with pytest.raises(ua.ModelError, match="X_WD"):
        controller.set_desired(BAD_POSES[name])
    history = run(controller, q, ticks=50)
    assert np.abs(history["qd"]).max() < 1e-12
    if BAD_POSES[name] is not None:
        with pytest.raises(ua.ModelError, match="X_WD"):
            controller.activate(HOME, BAD_POSES[name])
        assert controller.mode == "active"


@pytest.mark.parametrize(
    "bad", [[NAN] * 6, [math.inf, 0, 0, 0, 0, 0], [0] * 5, "fast", np.zeros((6, 1))]
)
def test_a_twist_that_is_none_is_refused_and_nothing_moves(bad) -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    with pytest.raises(ua.ModelError, match="V_WD"):
        controller.set_desired(moved(arm().fk(HOME), [0.1, 0, 0]), bad)
    assert np.abs(run(controller, q, ticks=50)["qd"]).max() < 1e-12


@pytest.mark.parametrize("far", [1e3, 1e9, 1e160, 1e300])
@pytest.mark.parametrize("what", ["position", "speed", "turning speed"])
def test_an_absurd_but_finite_desired_motion_is_refused_or_kept_finite(what, far) -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    X_WD, V_WD = arm().fk(HOME), np.zeros(6)
    if what == "position":
        X_WD = moved(X_WD, [far, 0, 0])
    else:
        V_WD[0 if what == "speed" else 3] = far
    with contextlib.suppress(ua.AdmittanceError):
        controller.set_desired(X_WD, V_WD)
    oracle(run(controller, q, ticks=100), controller)


def test_an_inactive_controller_takes_no_desired_pose() -> None:
    controller = Controller(arm(), Config())
    with pytest.raises(ua.RobotError, match="activate"):
        controller.set_desired(arm().fk(HOME))


def test_a_rotation_that_is_nearly_one_is_put_right() -> None:
    controller = controller_of(Config.from_dict(SPRING))
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), [0, 0, 0.05])
    rough = X_WD.copy()
    rough[:3, :3] *= 1 + 5e-4
    controller.set_desired(rough)
    np.testing.assert_allclose(run(controller, q, ticks=1500)["X_WP"][-1], X_WD, atol=1e-4)


SPRING = {"admittance.stiffness": [300, 300, 300, 30, 30, 30]}


def equilibrium(X: np.ndarray) -> dict[str, list[float]]:
    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat().tolist()
    return {"position": X[:3, 3].tolist(), "orientation": [w, x, y, z]}


def test_the_equilibrium_of_the_configuration_is_where_the_arm_goes() -> None:
    X = moved(arm().fk(HOME), [0.05, 0.05, 0.05], [0, 0, 0.3])
    controller = controller_of(Config.from_dict({**SPRING, "equilibrium": equilibrium(X)}))
    history = run(controller, HOME, ticks=2000)
    assert (history["qd"][0] == 0).all()
    np.testing.assert_allclose(history["X_WP"][-1], X, atol=1e-4)
    oracle(history, controller)


def test_a_pose_given_at_activation_wins_over_the_equilibrium() -> None:
    X = arm().fk(HOME)
    away, near = moved(X, [0.2, 0, 0]), moved(X, [0, 0, 0.05])
    controller = Controller(arm(), Config.from_dict({**SPRING, "equilibrium": equilibrium(away)}))
    controller.activate(HOME, near)
    np.testing.assert_allclose(run(controller, HOME, ticks=1500)["X_WP"][-1], near, atol=1e-4)


def test_an_equilibrium_from_a_file_is_read_once(tmp_path) -> None:
    X = moved(arm().fk(HOME), [0, 0, 0.04])
    pair = equilibrium(X)
    file = tmp_path / "home.yaml"
    file.write_text(f"position: {pair['position']}\norientation: {pair['orientation']}\n")
    controller = Controller(arm(), Config.from_dict({**SPRING, "equilibrium": str(file)}))
    file.unlink()
    controller.activate(HOME)
    np.testing.assert_allclose(run(controller, HOME, ticks=1500)["X_WP"][-1], X, atol=1e-4)


STIFFNESSES = {
    "free": [0.0] * 6,
    "spring": [300, 300, 300, 30, 30, 30],
    "spring in z alone": [0, 0, 300, 0, 0, 0],
}


@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_a_hold_on_the_way_does_not_forget_where_the_way_led(stiffness: str) -> None:
    controller = controller_of(Config.from_dict({"admittance.stiffness": STIFFNESSES[stiffness]}))
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), [0, 0, 0.1])
    controller.set_desired(X_WD)
    q = q_after(run(controller, q, ticks=60))
    q = q_after(run(controller, q, ticks=10, wrench_age=0.02))
    assert controller.mode == "holding"
    history = run(controller, q, ticks=2500)
    assert controller.mode == "active"
    np.testing.assert_allclose(history["X_WP"][-1, :3, 3], X_WD[:3, 3], atol=1e-3)


def test_disabling_an_axis_on_the_way_does_not_forget_where_the_way_led() -> None:
    controller = controller_of(Config())
    q = q_after(run(controller, HOME, ticks=5))
    X_WD = moved(arm().fk(HOME), [0, 0, 0.1])
    controller.set_desired(X_WD)
    q = q_after(run(controller, q, np.array([5.0, 0, 0, 0, 0, 0]), 60))  # a push aside
    controller.set(**{"admittance.enabled_axes": [False, True, True, True, True, True]})
    history = run(controller, q, ticks=2500)
    assert abs(history["X_WP"][-1, 2, 3] - X_WD[2, 3]) < 1e-3


# --- inputs ---


def variants(values: np.ndarray) -> dict[str, Any]:
    wide = np.zeros((6, 2))
    wide[:, 0] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"." + values.tobytes(), offset=1)
    return {
        "list": values.tolist(),
        "tuple": tuple(values.tolist()),
        "not contiguous": wide[:, 0],
        "reversed twice": values[::-1].copy()[::-1],
        "read-only": frozen,
        "unaligned": unaligned,
        "big-endian": values.astype(">f8"),
        "Fortran": np.asfortranarray(values),
        "NumPy scalars": list(values),
    }


@pytest.mark.parametrize("kind", variants(HOME))
def test_six_numbers_are_six_numbers_however_they_are_kept(kind: str) -> None:
    plain, other = controller_of(Config()), controller_of(Config())
    for _ in range(5):
        a = plain.update(HOME, PUSH, 0.002).copy()
        b = other.update(variants(HOME)[kind], variants(PUSH)[kind], 0.002).copy()
        assert a.tobytes() == b.tobytes()


def test_integers_and_single_precision_are_taken_for_what_they_are() -> None:
    controller = controller_of(Config())
    q = np.array([0, -1, 2, -1, -1, 0])
    controller.activate(q)
    out = controller.update(q, [0, 0, 0, 0, 0, 0], 0.002)
    np.testing.assert_array_equal(out["q"], q)
    rounded = HOME.astype(np.float32)
    controller.activate(rounded)
    out = controller.update(rounded, PUSH.astype(np.float32), float(np.float32(0.002)))
    np.testing.assert_array_equal(out["q"], rounded.astype(float))
    assert controller.mode == "active"


def test_a_whole_number_of_seconds_is_a_number() -> None:
    controller = controller_of(Config())
    out = controller.update(HOME, ZERO, 1, 0, 0)
    assert out["dt"] == 0.002 and out["status"] & bits.BAD_DT


def refused_and_nothing_has_changed(controller: Controller, call) -> None:
    state, inputs = controller._state.tobytes(), controller._inputs.tobytes()
    params, trace = controller._params.tobytes(), controller.trace().tobytes()
    with pytest.raises(ua.AdmittanceError):
        call()
    assert controller._state.tobytes() == state
    assert controller._params.tobytes() == params
    assert controller.trace().tobytes() == trace
    assert controller._inputs.tobytes() == inputs


NOT_SIX = {
    "nothing": None,
    "a number": 1.0,
    "five": np.zeros(5),
    "seven": np.zeros(7),
    "none": np.zeros(0),
    "a column": np.zeros((6, 1)),
    "a row": np.zeros((1, 6)),
    "six by six": np.zeros((6, 6)),
    "text": "abcdef",
    "texts": ["a"] * 6,
    "ragged": [[0], [0, 0], 0, 0, 0, 0],
    "a mapping": dict.fromkeys(range(6), 0.0),
    "an object": object(),
}
NOT_NUMBERS = {
    "numbers in text": ["0.1"] * 6,
    "complex numbers": np.full(6, 1j),
    "truth values": [True] * 6,
    "times": np.zeros(6, "m8[s]"),
}


@pytest.mark.parametrize("bad", [*NOT_SIX, *NOT_NUMBERS])
@pytest.mark.parametrize("which", ["q", "wrench"])
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_what_is_not_six_numbers_is_refused_and_nothing_has_changed(which, bad) -> None:
    controller, q = moving_controller()
    value = {**NOT_SIX, **NOT_NUMBERS}[bad]
    arguments = (value, PUSH) if which == "q" else (q, value)
    refused_and_nothing_has_changed(controller, lambda: controller.update(*arguments, 0.002))


@pytest.mark.parametrize("bad", [None, "soon", "0.002", [0.002], np.zeros(3), 1j, object(), {}])
@pytest.mark.parametrize("which", ["dt", "wrench_age", "joint_age"])
def test_a_time_that_is_no_number_is_refused_and_nothing_has_changed(which, bad) -> None:
    controller, q = moving_controller()
    times: dict[str, Any] = {"dt": 0.002, "wrench_age": 0.0, "joint_age": 0.0, which: bad}
    refused_and_nothing_has_changed(controller, lambda: controller.update(q, PUSH, **times))


@pytest.mark.parametrize("bad", [*NOT_SIX, *NOT_NUMBERS, "NaN"])
def test_activation_wants_six_finite_numbers(bad: str) -> None:
    controller, _ = moving_controller()
    value = {**NOT_SIX, **NOT_NUMBERS, "NaN": [0, 0, NAN, 0, 0, 0]}[bad]
    refused_and_nothing_has_changed(controller, lambda: controller.activate(value))


MODEL, CONFIG, WRENCHES = arm(), Config(), np.zeros((3, 6))


def rolled(**changes: Any) -> Any:
    arguments: dict[str, Any] = {"model": MODEL, "configs": CONFIG, "wrenches": WRENCHES, **changes}
    return ua.rollout(
        arguments.pop("model"), arguments.pop("configs"), arguments.pop("wrenches"), **arguments
    )


BAD_CALLS = {
    "Controller(text)": lambda: Controller("ur5e"),  # type: ignore[arg-type]
    "Controller(None)": lambda: Controller(None),  # type: ignore[arg-type]
    "Controller(class)": lambda: Controller(RobotModel),  # type: ignore[arg-type]
    "Controller(model, text)": lambda: Controller(MODEL, "hand-guiding"),  # type: ignore[arg-type]
    "Controller(model, dict)": lambda: Controller(MODEL, {}),  # type: ignore[arg-type]
    "Controller: too fast a joint": lambda: Controller(
        MODEL, Config.from_dict({"limits.joint_velocity": 9.0})
    ),
    "Config: unknown": lambda: Config(speed=1),
    "Config.preset": lambda: Config.preset("hand-guding"),
    "Config.preset(5)": lambda: Config.preset(5),  # type: ignore[arg-type]
    "Config.load": lambda: Config.load("no-such-file.yaml"),
    "Config.load(5)": lambda: Config.load(5),  # type: ignore[arg-type]
    "Config.loads": lambda: Config.loads("{"),
    "Config.from_dict(5)": lambda: Config.from_dict(5),  # type: ignore[arg-type]
    "Config.get": lambda: CONFIG.get("speed"),
    "Config.replace(5)": lambda: CONFIG.replace(5),  # type: ignore[arg-type]
    "Config.to_yaml": lambda: CONFIG.to_yaml("ros1"),
    "RobotModel.ur": lambda: RobotModel.ur("ur5f"),
    "RobotModel.ur(5)": lambda: RobotModel.ur(5),  # type: ignore[arg-type]
    "RobotModel.from_urdf": lambda: RobotModel.from_urdf("<robot/>"),
    "RobotModel.from_urdf(5)": lambda: RobotModel.from_urdf(5),  # type: ignore[arg-type]
    "RobotModel.fk": lambda: MODEL.fk([1, 2, 3]),
    "RobotModel.fk(None)": lambda: MODEL.fk(None),  # type: ignore[arg-type]
    "RobotModel.jacobian": lambda: MODEL.jacobian([NAN] * 6),
    "RobotModel.with_tool": lambda: MODEL.with_tool(np.eye(3)),
    "RobotModel.with_calibration": lambda: MODEL.with_calibration("nothing"),
    "rollout: model": lambda: rolled(model="ur5e"),
    "rollout: configs": lambda: rolled(configs="hand-guiding"),
    "rollout: configs number": lambda: rolled(configs=5),
    "rollout: no configs": lambda: rolled(configs=[]),
    "rollout: wrenches": lambda: rolled(wrenches=np.zeros((3, 5))),
    "rollout: wrenches text": lambda: rolled(wrenches="push"),
    "rollout: no ticks": lambda: rolled(wrenches=np.zeros((0, 6))),
    "rollout: q0": lambda: rolled(q0=[1, 2, 3]),
    "rollout: q0 NaN": lambda: rolled(q0=[NAN] * 6),
    "rollout: runs": lambda: rolled(q0=np.zeros((2, 6)), wrenches=np.zeros((3, 3, 6))),
    "rollout: dt": lambda: rolled(dt=0.0),
    "rollout: dt NaN": lambda: rolled(dt=NAN),
    "rollout: dt text": lambda: rolled(dt="fast"),
    "rollout: dts": lambda: rolled(dt=[0.002, 0.002]),
    "rollout: arm": lambda: rolled(arm="lagged"),
    "rollout: arm text": lambda: rolled(arm=ua.LaggedArm("slow", 1)),  # type: ignore[arg-type]
    "rollout: arm delay": lambda: rolled(arm=ua.LaggedArm(0.01, 64)),
    "rollout: arm part of a tick": lambda: rolled(arm=ua.LaggedArm(0.01, 1.5)),  # type: ignore[arg-type]
    "rollout: arm NaN": lambda: rolled(arm=ua.LaggedArm(NAN, 1)),
    "rollout: surface": lambda: rolled(surface="floor"),
    "rollout: surface point": lambda: rolled(surface=ua.Surface((0, 0))),  # type: ignore[arg-type]
    "rollout: surface normal": lambda: rolled(surface=ua.Surface((0, 0, 0), (0, 0, 0))),
    "rollout: surface stiffness": lambda: rolled(surface=ua.Surface((0, 0, 0), stiffness=NAN)),
    "rollout: surface text": lambda: rolled(surface=ua.Surface((0, 0, 0), stiffness="hard")),  # type: ignore[arg-type]
    "rollout: axes": lambda: rolled(wrench_axes="tool"),
    "rollout: every": lambda: rolled(every=0),
    "rollout: threads": lambda: rolled(threads="all"),
}


@pytest.mark.parametrize("call", BAD_CALLS)
def test_bad_input_is_an_error_of_ours_with_a_sentence(call: str) -> None:
    with pytest.raises(ua.AdmittanceError) as caught:
        BAD_CALLS[call]()
    assert len(str(caught.value)) > 10


def test_the_reports_cannot_be_changed() -> None:
    controller, q = moving_controller()
    controller.stop()
    run(controller, q, ticks=2)
    change = controller.set(**{"safety.max_force": 100.0})
    for report, field in (
        (controller.last_stop, "words"),
        (controller.events()[0], "time"),
        (change, "recomputed"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(report, field, None)


def test_modes_have_the_names_of_the_kernel() -> None:
    for name in MODES:
        assert MODES[getattr(bits, name.upper())] == name


def test_in_the_middle_of_motion_twenty_changes_a_second_are_smooth() -> None:
    rng = np.random.default_rng(5)
    controller, q = moving_controller()
    histories = []
    for _ in range(40):
        controller.set(
            **{
                "admittance.mass": (rng.uniform(0.5, 2) * np.array([8, 8, 8, 0.8, 0.8, 0.8])),
                "admittance.stiffness": (rng.uniform(0, 1) * np.array([300] * 3 + [30] * 3)),
            }
        )
        histories.append(run(controller, q, PUSH * rng.uniform(-1, 1), 25))
        q = q_after(histories[-1])
    oracle(np.concatenate(histories), controller)


def test_a_free_axis_keeps_its_place_in_rotation_too() -> None:
    controller = controller_of(free_config(**{"tracking.velocity_gain": 5.0}))
    pushed = run(controller, HOME, np.array([0, 0, 0, 0, 0, 0.5]), 300)
    rest = run(controller, q_after(pushed), ticks=1500)
    assert lengths(rest["offset"][-1, ANGULAR]) > 0.05
    assert lengths(rest["V_WP_cmd"][-1]) < 1e-4


def test_a_run_can_be_done_again_bit_for_bit() -> None:
    rng = np.random.default_rng(5)
    first, second = controller_of(Config()), controller_of(Config())
    histories = []
    q = np.array(HOME)
    first.activate(q)
    changes = {
        120: {"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4]},
        160: {"max_linear_velocity": 0.1},
    }
    for k in range(600):
        if k in changes:
            first.set(changes[k])
        if k == 60:
            first.set_desired(moved(first.model.fk(q), [0, 0.1, 0]))
        if k == 200:
            first.stop("for a test")
        if k == 380:
            first.reset()
        if k == 500:
            first.deactivate()
        wrench = PUSH + rng.normal(0, 1, 6)
        if k % 97 == 0:
            wrench[k % 6] = NAN
        out = first.update(q, wrench, 0.002 * rng.uniform(0.5, 1.5), 0.001, 0.0005)
        histories.append(out.copy())
        q = q + out["qd"] * out["dt"]
    assert {int(h["mode"]) for h in histories} >= {bits.INACTIVE, bits.ACTIVE, bits.STOPPED}
    generation = 0
    for k, recorded in enumerate(histories):
        if recorded["inputs"]["generation"] != generation:
            generation = recorded["inputs"]["generation"]
            second.set(changes[k])
        assert second.repeat(recorded).tobytes() == recorded.tobytes(), f"tick {k}"


def test_every_rotation_of_a_desired_pose_is_understood() -> None:
    rng = np.random.default_rng(6)
    controller = controller_of(Config())
    near_half_turns = rng.normal(size=(50, 3)) * 10.0 ** -rng.integers(0, 7, (50, 3))
    near_half_turns *= (math.pi - 1e-9) / lengths(near_half_turns)[:, None]
    for R in [*Rotation.random(50, rng), *Rotation.from_rotvec(near_half_turns)]:
        controller.set_desired(pose(R, (0.4, 0.1, 0.4)))
        w, x, y, z = controller._inputs["goal_wxyz"][0]
        assert w >= 0
        assert (Rotation.from_quat([x, y, z, w]).inv() * R).magnitude() < 1e-9


def test_rows_that_are_not_square_to_each_other_are_refused() -> None:
    X = np.eye(4)
    X[1, :3] = math.sin(0.1), math.cos(0.1), 0
    X[2, :3] = np.cross(X[0, :3], X[1, :3])
    with pytest.raises(ua.ModelError, match="nearest rotation"):
        controller_of(Config()).set_desired(X)
