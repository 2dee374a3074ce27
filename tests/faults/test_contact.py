"""A surface and a light arm that shake each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.faults.support import HOME, ROUGH, Loop, T
from tests.support import arm
from ur_admittance.kernel import bits


def pressed(stiffness: float, ticks: int, late: int = 0, **config: Any) -> tuple[Loop, np.ndarray]:
    """Pushed down with 15 N onto a surface 5 mm below, by an arm that is so many ticks late, and
    the force of that surface.
    """
    loop = Loop({**ROUGH, "safety.max_force": 5000.0, "contact.monitor": True, **config})
    top, forces = float(arm().fk(HOME)[2, 3]) - 0.005, []
    told = [np.zeros(6)] * (late + 1)
    for _ in range(ticks):
        forces.append(stiffness * max(0.0, top - float(arm().fk(loop.q)[2, 3])))
        before = loop.q
        history = loop.run(1, np.array([0, 0, 15.0 - forces[-1], 0, 0, 0]))
        told.append(history["qd"][-1].copy())
        loop.q = before + told[-1 - late] * T
    return loop, np.array(forces)


@pytest.mark.parametrize(("stiffness", "late"), [(30e3, 2), (50e3, 2), (100e3, 2), (100e3, 3)])
def test_an_oscillation_in_contact_is_seen_damped_and_stopped(stiffness: float, late: int) -> None:
    """Row 39."""
    loop, force = pressed(stiffness, 450, late)
    history = loop.history
    touched = int(np.argmax(force > 0))
    seen = np.flatnonzero(history["status"] & bits.CONTACT_OSCILLATION)
    assert (seen[0] - touched) * T <= 0.3
    assert loop.mode == "stopped"
    stopped = np.flatnonzero(history["mode"] == bits.STOPPED)
    assert (stopped[0] - touched) * T <= 0.5
    last = loop.controller.last_stop
    assert last is not None and last.reasons == ("contact_unstable",)
    assert "shook each other" in last.reason.text


def test_a_contact_that_settles_is_neither_damped_for_long_nor_stopped() -> None:
    loop, force = pressed(1000.0, 1500)
    history = loop.judge()
    assert loop.mode == "active"
    assert not (history["status"][-200:] & bits.CONTACT_OSCILLATION).any()
    assert force[-200:].std() < 0.1


@pytest.mark.parametrize("hertz", [1.5, 3.0, 5.0])
def test_a_hand_that_shakes_the_arm_is_not_taken_for_an_oscillation(hertz: float) -> None:
    loop = Loop({**ROUGH, "contact.monitor": True})
    push = 20.0 * np.sin(2 * np.pi * hertz * T * np.arange(1500))
    loop.run(1500, np.outer(push, [1.0, 0, 0, 0, 0, 0]))
    assert loop.mode == "active"
    assert not (loop.judge()["status"] & bits.CONTACT_UNSTABLE).any()
