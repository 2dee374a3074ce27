"""Live changes: all or nothing, only their own part, and smooth."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ur_admittance as ua
from tests.controller.support import HOME, PUSH, moving_controller
from tests.support import (
    LINEAR,
    arm,
    controller_of,
    lengths,
    oracle,
    q_after,
    run,
)
from ur_admittance import Config, Controller
from ur_admittance.controller.packing import pack

NAN = math.nan


# --- set ---


def same_but_generation(a: np.ndarray, b: np.ndarray) -> bool:
    a, b = a.copy(), b.copy()
    a["generation"] = b["generation"] = 0
    a["start_bias"] = b["start_bias"] = 0.0  # stays what it was when the controller was made
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
    assert controller._params["generation"] == before["generation"] - bool(parts)


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
    assert controller._params["generation"] == -1


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


# --- inputs ---


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
