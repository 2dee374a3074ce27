"""What the tests of the loop share: a simulated arm that is pushed, and a clock."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance.robots.sim import ScriptedPush, SimRobot

PUSH = ScriptedPush([(0.1, 0.6, np.array([0.0, 20.0, 0, 0, 0, 0]))])


def simulated(**options) -> SimRobot:
    return SimRobot("ur5e", **{"ideal": True, "realtime": False, "hand": PUSH, **options})


class Clock:
    """A monotonic clock that only sleeping moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        for module in ("realtime.real_time", "robots.sim.robot"):
            monkeypatch.setattr(f"ur_admittance.{module}.time", self)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
