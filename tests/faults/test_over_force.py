"""Row 7: over-force is judged by the sample as it came, in every axis, and whatever was tared."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import ZERO, arm
from ur_admittance import Config, Controller

DT = 0.002


def started(**changes) -> Controller:
    controller = Controller(arm(), Config.from_dict(changes))
    controller.activate(arm().home)
    for _ in range(10):
        controller.update(arm().home, ZERO, DT)
    return controller


@pytest.mark.parametrize("axis", range(6))
def test_one_sample_above_the_limit_stops_the_arm_in_that_tick(axis: int) -> None:
    """The spike gate, which drops three samples, would have cost 6 ms at 500 Hz."""
    controller, hit = started(), ZERO.copy()
    hit[axis] = 250.0 if axis < 3 else 35.0
    controller.update(arm().home, hit, DT)
    assert controller.mode == "stopped"
    name = "over_force" if axis < 3 else "over_torque"
    (event,) = [event for event in controller.events() if event.name == name]
    assert event.value == pytest.approx(hit[axis])


@pytest.mark.parametrize("axis", range(6))
def test_an_axis_may_have_a_limit_of_its_own(axis: int) -> None:
    most = [50.0, 60.0, 70.0, 3.0, 4.0, 5.0]
    controller, hit = started(**{"safety.max_wrench": most}), ZERO.copy()
    hit[axis] = -0.99 * most[axis]
    controller.update(arm().home, hit, DT)
    assert controller.mode == "active"
    hit[axis] = -1.01 * most[axis]
    controller.update(arm().home, hit, DT)
    assert controller.mode == "stopped"
    event = controller.events()[-1]
    assert event.limit == most[axis] and event.value == pytest.approx(1.01 * most[axis])


def test_what_was_tared_in_contact_still_counts_as_force() -> None:
    controller = started(**{"safety.spike_force": 0})
    pressed = np.array([0, 0, 150.0, 0, 0, 0])
    controller.set(**{"payload.force_bias": pressed[:3].tolist()})
    for _ in range(20):
        controller.update(arm().home, pressed, DT)
    assert controller.mode == "active"
    controller.update(arm().home, pressed * 1.4, DT)  # 60 N above the tare, 210 N on the tool
    assert controller.mode == "stopped"
    assert controller.events()[-1].value == pytest.approx(210.0)


@pytest.mark.parametrize("ticks", [1, 4])
def test_a_sensor_that_begins_with_nan_is_not_taken_for_one_that_feels_nothing(ticks: int) -> None:
    """With a bias of 20 N, zero would be a push of 20 N."""
    controller = Controller(arm(), Config.from_dict({"payload.force_bias": [20.0, 0, 0]}))
    controller.activate(arm().home)
    for _ in range(ticks):
        out = controller.update(arm().home, np.full(6, np.nan), DT)
        assert controller.mode == "holding"
        assert not out["F_P"].any() and not out["qd"].any()
    good = np.array([20.0, 0, 0, 0, 0, 0])
    for _ in range(60):
        out = controller.update(arm().home, good, DT)
        assert np.abs(out["qd"]).max() < 1e-12
    assert controller.mode == "active"
