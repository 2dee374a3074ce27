"""Runs of the simulated arm to record: with pushes, changes of parameters, NaN, and a stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcap.reader import make_reader

import ur_admittance as ua
from ur_admittance.blackboard import Blackboard
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.telemetry.scribe import Scribe

LIGHTER = {"admittance.mass": [2, 2, 2, 0.1, 0.1, 0.1], "admittance.ramp_seconds": 0.1}
Changes = Mapping[int, Sequence[Mapping[str, Any]]]  # by tick, each sent on its own
CHANGES: Changes = {
    150: [LIGHTER],
    260: [{"max_linear_velocity": 0.2}],
    261: [{"admittance.deadband_force": 2.5}],
    262: [{"admittance.filter_cutoff_hz": 35.0}],
}
NAN = range(200, 203)  # cycles
STOP = 400  # tick


class OddSensor(SimRobot):
    """An arm whose wrench is NaN now and then."""

    def wait(self) -> State:
        state = super().wait()
        if state.cycle in NAN:
            state.wrench[:] = np.nan
        return state


def pushed(**options: Any) -> SimRobot:
    pushes = [(0.1, 0.3, [0, 20, 0, 0, 0, 1]), (0.4, 3600.0, [5, -10, 5, 0, 0, 0])]
    return OddSensor("ur5e", realtime=False, seed=1, hand=ScriptedPush(pushes), **options)


def summary_of(path: Path) -> Any:
    """The index at the end of an MCAP file."""
    with path.open("rb") as file:
        return make_reader(file, validate_crcs=True).get_summary()


@dataclass(frozen=True)
class Run:
    """A recorded run, and what was published."""

    path: Path
    records: np.ndarray
    model: ua.RobotModel
    config: ua.Config
    scribe: Scribe


def eventful(path: Path, look: int = 1, changes: Changes = CHANGES) -> Run:
    """Two activations; in the first, parameters change, samples are NaN, and the arm is stopped.

    The recorder looks every `look` ticks.
    """
    with pushed() as robot:
        # The second activation comes while the hand pushes.
        config = ua.Config.preset("hand-guiding").replace({"safety.start_force": 0})
        controller = ua.Controller(robot.model, config)
        with Blackboard.create("sim", robot.rate, controller.live) as board:
            reader = Blackboard.attach("sim")
            scribe = Scribe(reader, path, robot.model)

            def each(state: State, out: np.record) -> None:
                for change in changes.get(board.published, ()):
                    reader.set(change)
                if board.published == STOP:
                    controller.stop("the test says so")
                if board.published % look == 0:
                    scribe.poll()

            ua.run(robot, controller, seconds=1.5, board=board, each=each)
            # the arm is still settling, and pushed
            ua.run(robot, controller, seconds=0.5, board=board, each=each, checked=True)
            records, _, lost = reader.since(0)
            scribe.poll()
            scribe.finish({"ticks": len(records)})
    assert lost == 0
    return Run(path, records, robot.model, config, scribe)
