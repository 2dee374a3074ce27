"""What the tests of the report share: recordings of the simulated arm, and a faulty one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.support import ZERO, arm, controller_of, free_config, q_after
from tests.support import run as drive
from ur_admittance import Config, Controller
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.run import run
from ur_admittance.telemetry.recording import Recording

pytest.importorskip("mujoco")


RATE = 500.0

PUSHES = ScriptedPush(
    [
        (0.3, 1.0, [0, 10, 0, 0, 0, 0]),
        (1.5, 2.2, [6, -8, 4, 0.6, 0, 0]),
        (2.6, 3.2, [0, 0, 0, -0.4, 0.5, 0.7]),
    ]
)


def recording_of(records: np.ndarray, config: Config, **more) -> Recording:
    """A recording as one would be read from a file."""
    values = {
        "path": Path("somewhere/push.mcap"),
        "robot": "sim:ur5e",
        "rate": RATE,
        "model": arm(),
        "config": config,
        "changes": (),
        "records": records,
        "lost": 0,
        "finished": True,
        "summary": {},
        "version": "1.2.3",
        "kernel": "",
    }
    return Recording(**{**values, **more})


def simulated(config: Config, *, each=None, seconds: float = 4.0, **robot) -> Recording:
    """A run of the simulated arm under the pushes."""
    records = []

    def keep(state, out) -> None:
        records.append(out.copy())
        if each is not None:
            each(controller, out)

    with SimRobot(hand=PUSHES, realtime=False, **robot) as sim:
        controller = Controller(sim.model, config)
        run(sim, controller, seconds=seconds, each=keep)
    return recording_of(np.array(records), config)


@cache
def free(**robot) -> Recording:
    """The law alone on an arm: no filter, no deadband, no limit in reach."""
    return simulated(free_config(), **robot)


@cache
def guided() -> Recording:
    """All of it: filter, deadband, limits, tracking, noise."""
    return simulated(Config.preset("hand-guiding"))


def faulty() -> Recording:
    """A hold for want of a wrench, another one, and a stop for too much force."""
    config = free_config(**{"safety.max_force": 60.0})
    controller = controller_of(config)
    acts = [drive(controller, arm().home, np.array([0, 8.0, 0, 0, 0, 0]), 200)]
    for wrench, ticks in (
        (np.full(6, np.nan), 20),
        (ZERO, 150),
        (np.array([0, 8.0, 0, 0, 0, 0]), 50),
        (np.array([0, 0, 75.0, 0, 0, 0]), 60),
    ):
        acts.append(drive(controller, q_after(acts[-1]), wrench, ticks))
    return recording_of(np.concatenate(acts), config, finished=False)
