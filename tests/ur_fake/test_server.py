"""The controller's own clock."""

from __future__ import annotations

import itertools

import pytest

from ur_fake import server
from ur_fake.server import CYCLE, Controller


@pytest.mark.parametrize("pause", [0.0007, 0.0031, 0.040])
def test_a_controller_that_was_held_up_sends_no_two_states_at_once(
    monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    now, stepped = 100.0, []

    def sleep_until(deadline: float, spin: bool) -> None:
        nonlocal now
        now = max(now, deadline)

    def step() -> None:
        nonlocal now
        stepped.append(now)
        now += CYCLE + pause if len(stepped) == 50 else 0.0001

    monkeypatch.setattr(server, "sleep_until", sleep_until)
    monkeypatch.setattr(server.time, "monotonic", lambda: now)
    controller = Controller(ports=None)
    try:
        monkeypatch.setattr(controller, "step", step)
        controller.run(lambda: len(stepped) < 100)
    finally:
        controller.close()
    gaps = [after - before for before, after in itertools.pairwise(stepped)]
    assert min(gaps) > 0.5 * CYCLE - 1e-9
    assert max(gaps) == pytest.approx(CYCLE + pause)
    assert controller.missed == int(pause / CYCLE)
