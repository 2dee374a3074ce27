"""A minute of scenarios as fast as it goes: no memory is kept, no limit left, no record lost."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from benchmarks.soak import resident, run, total

from tests.support import oracle
from ur_admittance import Controller
from ur_admittance.blackboard import Blackboard, owner
from ur_admittance.kernel import layout
from ur_admittance.scenarios import SCENARIOS, play

pytest.importorskip("mujoco")
pytestmark = pytest.mark.slow

SECONDS = 14.0
# Ticks between which nothing may be kept; the loop puts its own times away every 500th.
EARLY, LATE = 2900, 6900


@pytest.fixture(autouse=True)
def _own_folder(runtime) -> None:
    """Every blackboard of these tests is in a folder of its own."""


@pytest.mark.parametrize("name", ["hand-guiding", "surface", "wall", "peg"])
def test_a_long_run_keeps_no_memory_and_leaves_no_limit(name, monkeypatch):
    monkeypatch.setattr(owner, "RING_SECONDS", 4.0)  # all of it is in use by the first look
    scenario = SCENARIOS[name]
    records = np.zeros(10_000, layout.OUTPUTS)
    records["tick"] = -1  # all of them are in memory from now on
    seen = np.zeros((2, 2), np.int64)
    config = scenario.config()
    with scenario.robot(realtime=False) as robot:
        controller = Controller(robot.model, config)

        def keep(state, out):
            tick = int(out["tick"])
            records[tick - 1] = out
            if tick in (EARLY, LATE):
                gc.collect()
                seen[int(tick == LATE)] = tracemalloc.get_traced_memory()[0], resident()

        with Blackboard.create(robot.name, robot.rate, controller.live) as board:
            tracemalloc.start()
            try:
                summary = play(scenario, robot, controller, board=board, each=keep, seconds=SECONDS)
            finally:
                tracemalloc.stop()
    python, whole = seen[1] - seen[0]
    # NumPy keeps a few kB of what it has freed; the smallest object of each tick would be 130 kB.
    assert python < 16384, f"{python} bytes of Python objects in {LATE - EARLY} ticks"
    assert whole < 1 << 20, f"{whole} bytes of the process in {LATE - EARLY} ticks"
    oracle(records[: summary.ticks], controller)


def test_the_soak_counts_every_record(tmp_path: Path, monkeypatch):
    """As fast as it goes, on however busy a machine: so the ring holds the whole run."""
    monkeypatch.setattr(owner, "RING_SECONDS", 40.0)
    records = np.zeros(15_000, layout.OUTPUTS)
    row = run(SCENARIOS["surface"], 5, records, tmp_path)
    whole = total([row])
    assert whole["clean"], row
    assert whole["written"] == row["ticks"] > 10_000
