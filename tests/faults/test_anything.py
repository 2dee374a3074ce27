"""Everything at once, at random: what goes out keeps to the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.support import HOME, INF, NAN, Loop, T
from tests.support import (
    arm,
    moved,
    oracle,
)
from ur_admittance.kernel import layout


@settings(max_examples=60)
@given(st.integers(0, 2**31))
def test_whatever_comes_in_what_goes_out_keeps_to_the_limits(seed: int) -> None:
    mixture_of_everything(seed)


@pytest.mark.slow
def test_a_hundred_thousand_ticks_of_anything_keep_to_the_limits() -> None:
    for seed in range(350):
        mixture_of_everything(seed)


def mixture_of_everything(seed: int) -> None:
    """All of the above at random, 40 acts of up to 14 ticks."""
    rng = np.random.default_rng(seed)
    loop = Loop({"limits.max_linear_jerk": float(rng.choice([0, 50]))})
    controller = loop.controller
    for _ in range(40):
        act = rng.integers(0, 12)
        wrench = rng.uniform(-80, 80, 6) * [1, 1, 1, 0.1, 0.1, 0.1]
        more: dict[str, Any] = {}
        if act == 0:
            wrench[rng.integers(6)] = rng.choice([NAN, INF, 1e9])
        elif act == 1:
            more["wrench_age"] = float(rng.choice([0.005, 0.02, NAN, -1]))
        elif act == 2:
            more["joint_age"] = float(rng.choice([0.005, 0.02, NAN, -1]))
        elif act == 3:
            more["dt"] = float(rng.choice([0, NAN, -1, 0.03, 1]))
        elif act == 4:
            X_WD = moved(arm().fk(HOME), rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3))
            if loop.mode != "inactive":
                controller.set_desired(X_WD, rng.uniform(-0.2, 0.2, 6))
        elif act == 5:
            controller.set(**{"admittance.stiffness": rng.uniform(0, 500, 6).tolist()})
        elif act == 6 and loop.mode == "stopped" and controller.at_rest:
            controller.reset()
        elif act == 7 and rng.random() < 0.2:
            controller.stop()
        elif act == 8 and rng.random() < 0.2:
            controller.deactivate()
        elif act == 9 and loop.mode == "inactive":
            controller.activate(loop.q)
            assert (loop.run(1, wrench)["qd"] == 0).all()
        loop.run(int(rng.integers(1, 15)), wrench, **more)
    for part in parts_between_activations(loop.history):
        oracle(part, controller)


def parts_between_activations(history: np.ndarray) -> list[np.ndarray]:
    """The tick counter begins anew at each activation."""
    starts = np.flatnonzero(np.diff(history["tick"]) != 1) + 1
    return np.split(history, starts)


def test_the_record_of_events_cannot_overflow() -> None:
    loop = Loop({})
    for k in range(200):
        loop.run(1, dt=-1.0 if k % 2 else T)
    assert len(loop.controller.events()) == layout.EVENTS
    assert loop.controller._state["event_count"] == 100
