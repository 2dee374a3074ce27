"""A run over a bad cable, in real time: what delay, jitter and loss do to it, and a pulled cable.

    python -m benchmarks.rtde_cable [--seconds 5] [--priority 50]

The controller is in a network namespace of its own, TCP is the kernel's, and packets are delayed
and lost on the way, the same both ways (`tests/robots/rtde/cable.py`; needs root). The arm is
pushed to and fro meanwhile. A joint's greatest change of speed in a cycle is told in parts of what
the arm allows: more than 1 would be too much.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.robots.rtde.cable import Cable, NotPermitted
from tests.robots.rtde.far import Far

from ur_admittance import Config, Controller, RobotError
from ur_admittance.realtime import RealTime
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.robots.rtde.script import WHY
from ur_admittance.run import run

WIRES: dict[str, dict[str, float]] = {
    "good": {},
    "1 ms": {"delay": 0.001},
    "10 ms": {"delay": 0.01},
    "30 ms": {"delay": 0.03},
    "up to 5 ms": {"jitter": 0.005},
    "up to 30 ms": {"jitter": 0.03},
    "0.1 %": {"loss": 0.001},
    "1 %": {"loss": 0.01},
    "5 %": {"loss": 0.05},
    "pulled": {"loss": 1.0},
}
RAMP = 6.2 * 0.002  # rad/s in a cycle, of a UR5e
PUSHED = 250  # cycles in one direction


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rtde_cable", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="each, over the bad cable")
    parser.add_argument("--priority", type=int, default=50, help="real-time, 1 to 99; 0: none")
    options = parser.parse_args()
    table = Table("cable", "s", "states late", "missed", "change", "end", "the robot's program")
    for name, wire in WIRES.items():
        try:
            table.add_row(name, *_row(wire, options.seconds, options.priority))
        except NotPermitted as why:
            print(f"not permitted: {why}")
            return 1
    Console(width=150).print(table)
    return 0


def _row(wire: dict[str, float], seconds: float, priority: int) -> list[str]:
    config = Config.preset("hand-guiding")
    above = priority + 10 if priority else 0
    with Cable(above) as cable, Far(cable, above) as far:
        far.free()
        worse: list[int] = []

        def each(state: Any, out: Any) -> None:
            tick = int(out["tick"])
            if tick % PUSHED == 0:
                far.push(10.0 if tick // PUSHED % 2 else -10.0)
            if tick == PUSHED:
                worse.append(tick)
                cable.set(**wire)

        wishes = RealTime(priority) if priority else None
        cells = ["", "", ""]
        try:
            with RtdeRobot(cable.far, config=config) as robot:
                controller = Controller(robot.model, config)
                summary = run(robot, controller, seconds=seconds + 0.5, each=each, real_time=wishes)
                cells = [f"{summary.seconds:.1f}", str(summary.late), str(summary.missed)]
                end = summary.reason.text if summary.reason else "went on to the end"
        except RobotError as error:
            end = str(error).partition("; ")[0]
        cable.set()
        while (seen := far.report())["state"] == "PLAYING":
            continue
        why = WHY.get(seen["why"], str(seen["why"]))
        return [*cells, f"{seen['jump'] / RAMP:.2f}", end, why]


if __name__ == "__main__":
    sys.exit(main())
