"""What the controller says of itself: words, events, stops, its trace, and the same run again."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import ur_admittance as ua
from tests.controller.support import HOME, PUSH, moving_controller
from tests.support import (
    controller_of,
    moved,
    q_after,
    run,
)
from ur_admittance import Config
from ur_admittance.kernel import bits, layout

NAN = math.nan


# --- what it says ---


def test_the_words_of_the_status_name_the_fault_and_the_reason() -> None:
    controller, q = moving_controller()
    assert not any("stop" in words for words in controller.status_words())
    controller.stop("the door is open")
    run(controller, q, PUSH, 3)
    words = controller.status_words()
    assert words[0] == "stop_requested: the door is open"


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
    assert last.reason == ua.StopReason.of("asked", "enough")
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


# --- inputs ---


def test_the_reports_cannot_be_changed() -> None:
    controller, q = moving_controller()
    controller.stop()
    run(controller, q, ticks=2)
    change = controller.set(**{"safety.max_force": 100.0})
    for report, field in (
        (controller.last_stop, "reason"),
        (controller.events()[0], "time"),
        (change, "recomputed"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(report, field, None)


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
