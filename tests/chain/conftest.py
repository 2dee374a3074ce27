"""What a chain really sends is judged in every test, whatever its links say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from ur_admittance.chain import ControllerManager


class Sent:
    """The commands of one chain, from one activation to the next."""

    def __init__(self) -> None:
        self.qd, self.q_ref = np.zeros(6), np.full(6, np.nan)
        self.rate = np.full(6, np.nan)  # of q_ref

    def judge(self, manager: ControllerManager, dt: float) -> set[str]:
        """What is wrong with the command of this cycle: joint limits, in both kinds of command."""
        model, out = manager.model, manager.outputs[0]
        dt = dt if 0 < dt <= 0.1 else 1 / manager.config.control_rate
        step, wrong = model.qdd_max * dt * (1 + 1e-6) + 2e-9, set()
        if not (np.abs(out["qd"]) <= model.qd_max * (1 + 1e-9)).all():
            wrong.add("joint speed")
        if not (np.abs(out["qd"] - self.qd) <= step).all():
            wrong.add("joint acceleration")
        rate = (out["q_ref"] - self.q_ref) / dt
        by_position = manager.sends == "position"
        if by_position and (np.abs(rate) > model.qd_max * (1 + 1e-6) + 1e-6).any():
            wrong.add("step of q_ref")
        if by_position and (np.abs(rate - self.rate) > step + 1e-6).any():
            wrong.add("acceleration of q_ref")
        unknown = np.full(6, np.nan)  # a comparison with NaN finds nothing wrong
        self.qd = out["qd"].copy()
        self.q_ref = out["q_ref"].copy() if by_position else unknown
        self.rate = rate if by_position else unknown
        return wrong


@pytest.fixture(autouse=True)
def _commands_are_judged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    sent: dict[ControllerManager, Sent] = {}
    wrong: set[str] = set()
    activate, update = ControllerManager.activate, ControllerManager.update

    def activated(manager, *arguments):
        activate(manager, *arguments)
        sent[manager] = Sent()

    def updated(manager, q, wrench, dt, *ages, **more):
        out = update(manager, q, wrench, dt, *ages, **more)
        wrong.update(sent[manager].judge(manager, dt))
        return out

    monkeypatch.setattr(ControllerManager, "activate", activated)
    monkeypatch.setattr(ControllerManager, "update", updated)
    yield
    assert not wrong
