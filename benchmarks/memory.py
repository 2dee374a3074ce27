"""Resident memory of a control process, MB: before the loop, and once the loop's memory is locked.

`python -m benchmarks.memory`; each row is a process of its own, which finds the kernel compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

_BEGIN = """
import json
import numpy as np
import ur_admittance as ua
from ur_admittance.realtime import memory
from ur_admittance.blackboard import Blackboard

def resident():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:")) / 1000

def tick(model):
    controller = ua.Controller(model)
    controller.activate(model.home)
    for _ in range(10):
        controller.update(np.array(model.home), np.zeros(6), 0.002)
    board = Blackboard.create("memory", 500.0, controller.live)
    board.publish(controller.outputs)
    return controller, board
"""
_END = """
before = resident()
refused = memory.lock()
print(json.dumps({"before": before, "locked": resident(), "refused": refused}))
"""
ROWS = {
    "tick and blackboard": "kept = tick(ua.RobotModel.ur('ur5e'))",
    "with the simulated arm": """
from ur_admittance.robots.sim import SimRobot
robot = SimRobot("ur5e")
kept = tick(robot.model)
""",
    "with rclpy and an empty node": """
import rclpy
rclpy.init()
node = rclpy.create_node("memory")
kept = tick(ua.RobotModel.ur("ur5e"))
""",
}


def measure(program: str) -> dict[str, float | str]:
    """MB 'before' and once 'locked'; 'refused' says why it is not, or "" if it is."""
    with tempfile.TemporaryDirectory() as runtime:
        done = subprocess.run(
            [sys.executable, "-c", _BEGIN + program + _END],
            env=os.environ | {"UR_ADMITTANCE_RUNTIME": runtime},
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    measure(ROWS["tick and blackboard"])  # compiles what is not compiled yet
    for name, program in ROWS.items():
        try:
            row = measure(program)
        except subprocess.CalledProcessError as error:
            print(f"{name:30s} not here: {error.stderr.strip().splitlines()[-1]}")
            continue
        print(f"{name:30s} {row['before']:4.0f} {row['locked']:4.0f} {row['refused']}")
