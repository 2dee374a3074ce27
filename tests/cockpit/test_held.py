"""Nobody outside switches a protection off: every live parameter, by every way that leads in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.cockpit.conftest import hear, tell
from ur_admittance import Config, ConfigError, Controller, RobotModel
from ur_admittance.blackboard import Blackboard, memory
from ur_admittance.cockpit.session import Session
from ur_admittance.config.tighter import FREE, HELD

HAND = "on"  # whose robot it is here
SIX, THREE = [0.0] * 6, [0.0] * 3
BEGAN = {
    "environment_stiffness": 1000.0,
    "admittance.stiffness": [100.0] * 6,
    "contact.adapt": True,
    "contact.monitor": True,
    "force.enabled_axes": [False, False, True, False, False, False],
    "force.target": [0, 0, 20.0, 0, 0, 0],
    "limits.workspace_min": [-1.0] * 3,
    "limits.workspace_max": [1.0] * 3,
    "safety.max_wrench": [100.0] * 6,
    "safety.frozen_samples": 25,
}
LOOSER: dict[str, Any] = {  # those of which 5 % more or less does not do
    "accept_contact_instability": True,
    "admittance.orientation": [0, 0, 0.1],
    "admittance.mass": [50.0] * 6,
    "admittance.stiffness": [1e5] * 6,
    "admittance.damping": [21.0, 21.0, 21.0, 0.1, 0.1, 0.1],
    "admittance.damping_ratio": [0.1] * 6,
    "admittance.virtual_stiffness": [1e4] * 6,
    "admittance.enabled_axes": [False] * 6,
    "admittance.ramp_seconds": 0.0,
    "admittance.filter_cutoff_hz": 240.0,
    "admittance.min_motion_threshold": 90.0,
    "admittance.deadband_force": 90.0,
    "admittance.deadband_torque": 90.0,
    "admittance.deadband_kind": "hard",
    "contact.adapt": False,
    "contact.monitor": False,
    "force.enabled_axes": [False] * 6,
    "force.target": [0, 0, 190.0, 0, 0, 0],
    "force.stiffness": [10.0] * 6,
    "arm.lag": 0.05,
    "arm.delay": 0.05,
    "limits.max_linear_jerk": 10.0,
    "limits.max_angular_jerk": 10.0,
    "payload.mass": 5.0,
    "payload.center_of_mass": [0, 0, 0.1],
    "payload.inertia": [0.1, 0.1, 0.1, 0, 0, 0],
    "payload.force_bias": [5.0, 0, 0],
    "payload.torque_bias": [1.0, 0, 0],
    "payload.gravity": THREE,
    "payload.compensate_inertia": True,
    "safety.start_force": 0.0,
    "safety.start_torque": 0.0,
    "safety.frozen_samples": 0,
    "safety.drift_seconds": 0.0,
}
CAREFUL: dict[str, Any] = {  # likewise; those that may not change are not here
    "admittance.damping": [100.0, 100.0, 100.0, 10.0, 10.0, 10.0],
    "admittance.min_motion_threshold": 2.0,
    "contact.adapt": True,
    "contact.monitor": True,
    "accept_contact_instability": False,
    "force.target": SIX,
    "safety.frozen_samples": 10,
    "admittance.drift_reset_threshold": 0.1,
    "arm.mode_frequency": 20.0,
}


def moved(name: str, share: float) -> Any:
    value = Config.from_dict(BEGAN).get(name)
    return [share * v for v in value] if isinstance(value, tuple) else share * value


def looser_of(name: str) -> Any:
    raised = HELD[name].way == "raised"
    if name.startswith("limits.workspace"):  # the lower corner is below 0
        raised = False
    return LOOSER[name] if name in LOOSER else moved(name, 0.95 if raised else 1.05)


def careful_of(name: str) -> Any:
    if name in CAREFUL:
        return CAREFUL[name]
    raised = HELD[name].way == "raised" and not name.startswith("limits.workspace")
    return moved(name, 1.05 if raised else 0.95)


@pytest.fixture
def held():
    """The blackboard of an arm that a person holds."""
    controller = Controller(RobotModel.ur("ur5e"), Config.from_dict(BEGAN))
    with Blackboard.create(HAND, 20.0, controller.live) as board:
        board.tighten_only = True
        yield board


class Page:
    def __init__(self) -> None:
        self.refused = ""

    def tell(self, **words: Any) -> None:
        self.refused = words["why"]


def by_a_page(board: Blackboard, tmp_path) -> Callable[..., None]:
    """What a message of a page does, at its next turn."""
    session, page = Session(Blackboard.attach(HAND), tmp_path), Page()

    def change(changes: dict[str, Any]) -> None:
        page.refused = ""
        message = json.loads(json.dumps({"do": "set", "changes": changes}))
        session.act(page, message)
        session._send()
        if page.refused:
            raise ConfigError(page.refused)

    return change


WAYS: dict[str, Callable[..., Callable[..., Any]]] = {
    "another process": lambda board, tmp_path: Blackboard.attach(HAND).set,
    "a ROS graph": lambda board, tmp_path: board.set,
    "a page": by_a_page,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_loosening_from_outside_is_refused_and_changes_nothing(held, tmp_path, way) -> None:
    change, before = WAYS[way](held, tmp_path), memory.path_of(HAND).read_bytes()
    for name in HELD:
        with pytest.raises(ConfigError) as caught:
            change({name: looser_of(name)})
        words = str(caught.value)
        assert name in words and "from outside" in words, words
        assert "--allow-loosening" in words
        assert memory.path_of(HAND).read_bytes() == before, name


@pytest.mark.parametrize("way", WAYS)
def test_every_tightening_from_outside_is_taken(held, tmp_path, way) -> None:
    change, began = WAYS[way](held, tmp_path), Config.from_dict(BEGAN)
    careful = [name for name in HELD if HELD[name].way != "fixed"]
    for name in (*careful, *FREE):
        change({name: careful_of(name)})
        assert held.config().get(name) == began.replace({name: careful_of(name)}).get(name), name


def test_gains_can_be_tuned_from_outside_and_their_own_process_chooses_freely(held) -> None:
    reader = Blackboard.attach(HAND)
    reader.set({"admittance.mass": [4.0] * 3 + [0.4] * 3, "admittance.stiffness": [150.0] * 6})
    live = Controller(RobotModel.ur("ur5e"), held.config()).live
    held.drive(live)
    live.set({"admittance.stiffness": [1000.0] * 6, "max_linear_velocity": 1.0})
    assert reader.config().max_linear_velocity == 1.0
    reader.set({"admittance.stiffness": [1500.0] * 6})
    with pytest.raises(ConfigError, match=r"stiffness 0.25 to 2 times .* 1000 -> 2500"):
        reader.set({"admittance.stiffness": [2500.0] * 6})


def test_whoever_started_the_run_may_allow_it_and_at_rest_it_is_free(held) -> None:
    held.tighten_only = False
    Blackboard.attach(HAND).set({name: looser_of(name) for name in ("max_linear_velocity",)})
    assert held.config().max_linear_velocity == 0.525


def test_a_page_in_a_browser_is_refused_and_told_why(board, served, page) -> None:
    board.tighten_only = True
    link = page(served.access.token)
    tell(link, do="set", changes={"contact.monitor": False, "max_linear_velocity": 4.0})
    assert "max_linear_velocity: may only be lowered" in hear(link, "refused", do="set")["why"]
    tell(link, do="preset", name="pose-law")
    assert "from outside" in hear(link, "refused", do="preset")["why"]
