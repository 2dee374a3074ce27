"""The controller's life: activate, stop, reset, deactivate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ur_admittance as ua
from tests.controller.support import HOME, PUSH, moving_controller
from tests.support import (
    ZERO,
    arm,
    controller_of,
    lengths,
    moved,
    names_in,
    oracle,
    q_after,
    run,
)
from ur_admittance import Config, Controller
from ur_admittance.controller import MODES
from ur_admittance.kernel import bits


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
    new = Controller(arm(), used.config)
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


# --- inputs ---


def test_modes_have_the_names_of_the_kernel() -> None:
    for name in MODES:
        assert MODES[getattr(bits, name.upper())] == name
