"""A fake controller at the far end of a cable, which remembers every cycle.

While its cycles wait for the client's answers, neither it nor the client is late, however busy the
machine is. Once it is free, they come every 2 ms, as a robot's do.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import numpy as np

from tests.robots.rtde.cable import Cable
from tests.robots.rtde.support import WIRE, Traced
from ur_admittance.realtime import RealTime, prepare, sleep_until
from ur_fake.arm.arm import CYCLE


class Far:
    """The handle that this end has of it: a pipe, which no cable's end cuts."""

    def __init__(self, cable: Cable, priority: int = 0) -> None:
        """
        Args:
            priority: real-time, 1 to 99; 0 asks for none.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.robots.rtde.far", cable.far, str(priority)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
            preexec_fn=cable.enter,
        )
        self._heard()

    def push(self, newton: float) -> None:
        """Push the flange along y of the base."""
        self._ask("push", newton)

    def free(self) -> None:
        """From now on it waits for nobody."""
        self._ask("free")

    def report(self) -> dict[str, Any]:
        """How it fared; see `_Fake.report`."""
        return self._ask("report")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def _ask(self, what: str, *arguments: float) -> dict[str, Any]:
        pipe = self._process.stdin
        assert pipe is not None
        pipe.write(json.dumps([what, *arguments]) + "\n")
        pipe.flush()
        return self._heard()

    def _heard(self) -> dict[str, Any]:
        pipe = self._process.stdout
        assert pipe is not None
        line = pipe.readline()
        assert line, "the controller at the far end has ended"
        return json.loads(line)


class _Fake:
    """The controller itself."""

    def __init__(self, host: str) -> None:
        self.fake, self.is_free, self.heard = Traced(host=host, ports=0), False, 0

    def push(self, newton: float) -> dict[str, Any]:
        self.fake.push(newton)
        return {}

    def free(self) -> dict[str, Any]:
        self.is_free = True
        return {}

    def report(self) -> dict[str, Any]:
        """Why the program ended; speed of the fastest joint, rad/s: now, at most, and at most since
        the last command came; its greatest change in a cycle, rad/s; cycles from that command until
        all stood.
        """
        fake, speeds = self.fake, self.fake.target_qd
        return {
            "why": fake.machine.output_int[26],
            "state": fake.machine.program_state,
            "speed": float(np.abs(speeds[-1]).max()),
            "fastest": float(np.abs(speeds).max()),
            "then": float(np.abs(speeds[self.heard :]).max()),
            "jump": float(np.abs(np.diff(speeds, axis=0)).max()),
            "braked": fake.braked(self.heard),
        }

    def look(self) -> bool:
        """Do what was asked by now; whether anybody may ask again."""
        while select.select([0], [], [], 0.0)[0]:
            line = sys.stdin.readline()
            if not line:
                return False
            what, *arguments = json.loads(line)
            print(json.dumps(getattr(self, what)(*arguments)), flush=True)
        return True

    def run(self) -> None:
        fake, machine, deadline = self.fake, self.fake.machine, time.monotonic()
        while self.look():
            before = machine.input_int[24]
            fake.step()
            if machine.program_state == "PLAYING" and not self.is_free:
                self.answered(before)
            if machine.input_int[24] != before:
                self.heard = machine.cycle - 1
            deadline = max(deadline + CYCLE, time.monotonic() - 25 * CYCLE)
            if self.is_free or machine.program_state != "PLAYING":
                sleep_until(deadline, spin=False)

    def answered(self, before: int) -> None:
        """Wait for the client's answer to this cycle."""
        fake, end = self.fake, time.monotonic() + WIRE
        while fake.machine.input_int[24] == before and time.monotonic() < end:
            if not self.look() or self.is_free:
                return
            fake._hub.poll(fake.machine.time)
            if not any(client.data.inputs for client in fake.rtde.clients):
                return
            time.sleep(0.0001)


if __name__ == "__main__":
    made = _Fake(sys.argv[1])
    if int(sys.argv[2]):
        prepare(RealTime(int(sys.argv[2])))
    print("{}", flush=True)
    made.run()
    made.fake.close()
