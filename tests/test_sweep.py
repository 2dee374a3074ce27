"""Safety is a property of every tick: a hundred thousand random runs, each held to the limits."""

from __future__ import annotations

import numpy as np
import pytest

from tests import sweep
from tests.sweep import JITTERED, STEADY, WILD, Scene, legal_params, random_runs

RUNS = 100_000

SCENES = {
    "500 Hz": (Scene(0.002, STEADY, False), 0.30),
    "500 Hz, jittered dt": (Scene(0.002, JITTERED, False), 0.25),
    "100 Hz, jittered dt": (Scene(0.01, JITTERED, False), 0.15),
    "20 Hz, any dt in (0, 0.1] s": (Scene(0.05, WILD, False), 0.10),
    "500 Hz, parameters changed in flight": (Scene(0.002, JITTERED, True), 0.20),
}


def hold_to_limits(name: str, runs: int, seed: int, ticks: int = 150) -> np.ndarray:
    scene, _ = SCENES[name]
    rng = np.random.default_rng(seed)
    params = legal_params(rng, arms=24, variants=12, rate=1 / scene.period)
    peaks = random_runs(params, scene, runs, ticks, seed)
    most = peaks.max(axis=0)
    assert most[sweep.NOT_FINITE] == 0
    assert most[sweep.QD] <= 1 + 1e-9, "a joint went faster than it may"
    assert most[sweep.QDD] <= 1 + 1e-9, "a joint accelerated harder than it may"
    assert most[sweep.Q] <= 1e-8, "a joint left its range"
    assert most[sweep.WALL] <= 1e-4, "the tool crossed a wall by more than 0.1 mm"
    assert most[sweep.SPEED] <= 1 + 2e-6, "the tool went faster than it may"
    assert most[sweep.TURN] <= 1 + 2e-6, "the tool turned faster than it may"
    assert most[sweep.FREE] <= 1 + 2e-6, "acceleration beyond its limit, and the status is silent"
    # The kernel sets a joint bit wherever it left the acceleration limit, so the line above cannot
    # tell whether a joint was really in the way. This can, and such ticks are not none.
    share = peaks[:, sweep.UNEXPLAINED].sum() / peaks[:, sweep.TICKS].sum()
    assert share <= 0.005, "acceleration beyond its limit with neither joint bound nor singularity"
    assert most[sweep.LATCHED] == 0, "the arm moved after a latched stop"
    assert peaks[:, sweep.TICKS].sum() == runs * ticks
    assert np.mean(peaks[:, sweep.MOVED] > 1e-3) > 0.5, (
        "the sweep must move the arm to mean anything"
    )
    return peaks


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_every_tick_of_a_hundred_thousand_random_runs_keeps_every_limit(name):
    hold_to_limits(name, int(RUNS * SCENES[name][1]), seed=20_000)
