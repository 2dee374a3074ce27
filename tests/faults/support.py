"""What the tests of faults share: a closed loop that remembers, and arms in every state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.support import (
    LINEAR,
    ZERO,
    arm,
    lengths,
    oracle,
    q_after,
    run,
)
from ur_admittance import Config, Controller

HOME = arm().home

T = 0.002

NAN, INF = math.nan, math.inf

UP = np.array([0.0, 0, -30, 0, 0, 0])  # the probe looks down at home

ENVELOPE = {"max_linear_velocity": 0.25, "max_angular_velocity": 0.5}

JERK = {"limits.max_linear_jerk": 50.0, "limits.max_angular_jerk": 200.0}

ROUGH = dict.fromkeys(JERK, 0.0)  # for what a rounded motion would hide, or take longer for


class Loop:
    """A closed loop that remembers everything, for scenes of several acts. Its jerk is limited,
    unless it is given a whole configuration or other limits.
    """

    def __init__(self, config: Config | dict[str, Any] | None = None, q: Any = HOME) -> None:
        if not isinstance(config, Config):
            config = Config.from_dict({**JERK, **(ENVELOPE if config is None else config)})
        self.controller = Controller(arm(), config)
        self.controller.activate(q)
        self.q = np.array(q, float)
        self.wrench = ZERO
        self.rows: list[np.ndarray] = []

    def run(self, ticks: int, wrench: Any = None, dt: float = T, **more: Any) -> np.ndarray:
        if wrench is not None:
            self.wrench = wrench
        history = run(self.controller, self.q, self.wrench, ticks, dt, **more)
        self.q = q_after(history, more.get("speed", 1.0))
        self.rows.append(history)
        return history

    @property
    def history(self) -> np.ndarray:
        return np.concatenate(self.rows)

    @property
    def mode(self) -> str:
        return self.controller.mode

    def judge(self) -> np.ndarray:
        """Hold the whole history to the oracle."""
        oracle(self.history, self.controller)
        return self.history


def moving(config: Config | dict[str, Any] | None = None) -> Loop:
    loop = Loop(config)
    loop.run(150, UP)
    assert lengths(loop.rows[-1]["V_WP_cmd"][-1, LINEAR]) > 0.1
    return loop


def speed(history: np.ndarray) -> np.ndarray:
    return lengths(history["V_WP_cmd"])


def broken_solver() -> Loop:
    """At a singularity, with a damping that is no number, the least squares have no answer."""
    q = HOME.copy()
    q[4] = 0.0
    loop = Loop({}, q)
    loop.run(3)
    loop.controller._params["ik_damping"] = NAN
    loop.run(50, UP)
    return loop


def in_state(state: str) -> Loop:
    loop = moving()
    if state == "holding":
        loop.run(30, wrench_age=0.02)
    elif state == "stopped":
        loop.controller.stop()
        loop.run(150)
    elif state == "leaving":
        loop.controller.deactivate()
        loop.run(3)
    elif state == "inactive":
        loop.controller.deactivate()
        loop.run(200)
    elif state == "at rest":
        loop.run(1000, ZERO)
    return loop
