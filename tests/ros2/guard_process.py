"""The guard's process, `ur_admittance/ros2/guard_process.py`, on the clock of its graph.

While that stands still, because the machine has paused somebody, nobody is silent. What the guard
sends is judged, alone (`tests/oracle/sent.py`) and with what its node sends: it is in the same
trace. Where the node is gone and the clock has stopped for good, there is no arm either, and it
ends by the clock on the wall.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle import taps
from tests.ros2.clock import CLOCK, Clock

PROGRAM = Path(__file__).parents[2] / "src/ur_admittance/ros2/guard_process.py"
_PATIENCE = 2.0  # s on the wall
_LOOK = 5e-4  # s on the wall
_ROUNDED = 1e-9  # s, of the clock


class Time:
    """What the guard takes for `time`."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._parent = clock, os.getppid()
        self._last, self._since = clock.now(), time.monotonic()

    def monotonic(self) -> float:
        """Now, s."""
        now = self._clock.now()
        if now != self._last:
            self._last, self._since = now, time.monotonic()
        elif os.getppid() != self._parent:
            now += max(0.0, time.monotonic() - self._since - _PATIENCE)
        return now

    def sleep(self, seconds: float) -> None:
        """Until so much of it has passed."""
        end = self.monotonic() + seconds - _ROUNDED
        while self.monotonic() < end:
            time.sleep(_LOOK)


def main() -> None:
    slot, _, path = os.environ[CLOCK].partition(" ")
    clock, order = Clock(Path(path)), json.loads(sys.argv[1])
    spec = importlib.util.spec_from_file_location("guard_process", PROGRAM)
    assert spec is not None and spec.loader is not None
    program: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.time = Time(clock)
    program.LOOK = max(program.LOOK, 0.5 * order["period"])  # by which this clock goes
    trace = os.open(f"{path}.guard.{slot}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    send, source = program.Guard._send, 1
    limits = taps.ROBOTS.pack(*[math.inf] * 6, *order["qdd"], order["period"])
    taps.here.write(taps.ROBOT, source, limits, b"the guard's arm")

    def sent(self: Any, qd: list[float]) -> None:
        send(self, qd)
        now = clock.now()
        os.write(trace, np.array([float(slot), 0.0, now, *qd]).tobytes())
        command = taps.COMMANDS.pack(now, taps.VELOCITY, *qd)
        taps.here.write(taps.COMMAND, source, command)

    program.Guard._send = sent
    program.main(order)


if __name__ == "__main__":
    main()
