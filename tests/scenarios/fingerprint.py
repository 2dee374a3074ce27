"""A process that plays a scenario for five seconds and prints a hash of all its states."""

from __future__ import annotations

import hashlib
import sys

from ur_admittance import Controller
from ur_admittance.scenarios import SCENARIOS, play

if __name__ == "__main__":
    scenario, seed = SCENARIOS[sys.argv[1]], int(sys.argv[2])
    seen = hashlib.sha256()

    def add(state, out) -> None:
        for part in (state.q, state.qd, state.wrench, out["qd"]):
            seen.update(part.tobytes())

    with scenario.robot(realtime=False, seed=seed) as robot:
        play(scenario, robot, Controller(robot.model, scenario.config()), each=add, seconds=5.0)
    print(seen.hexdigest())
