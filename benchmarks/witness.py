"""How late a machine is by itself while something is measured on it: a bare loop in C tells."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks import loop
from ur_admittance.run.loop import OVERRUNS_IN_A_ROW, OVERRUNS_SHARE

_PAUSE = 1.0  # s after such a stop until it would go on
_PATIENCE = 60.0  # s to write its numbers


@contextmanager
def beside(rate: float, seconds: float, priority: int) -> Iterator[dict[str, Any]]:
    """Let the bare loop run; at the end of the block the dict has what it noted.

    Args:
        rate: Hz.
        seconds: for which it runs.
        priority: of SCHED_FIFO; with 0, or without a C compiler, it does not run.
    """
    noted: dict[str, Any] = {}
    if not priority or not loop.built():
        yield noted
        return
    command = [str(loop.BINARY), str(round(1e9 / rate)), str(seconds), str(priority)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield noted
            found = json.loads(process.communicate(timeout=_PATIENCE)[0])
        finally:
            process.kill()
    lateness = 1e-9 * np.array(found["samples"]["lateness"])
    noted |= {"late": int((lateness > 1.0 / rate).sum()), "missed": found["missed"]}
    noted["stops"] = stops(lateness, 1.0 / rate)


def stops(lateness: np.ndarray, period: float) -> int:
    """How often the control loop would have stopped an arm, had it been woken as late as that.

    Args:
        lateness: of all wakings, s. Those in between were on time, or skipped.
        period: s.
    """
    count, in_a_row, in_second, second, resume = 0, 0, 0, -1, 0.0
    for number, late in enumerate(lateness):
        now = number * period
        if int(now) != second:
            second, in_second = int(now), 0
        in_a_row = in_a_row + 1 if late > period else 0
        in_second += late > period
        too_many = in_a_row >= OVERRUNS_IN_A_ROW or in_second * period > OVERRUNS_SHARE
        if now >= resume and too_many:
            count, in_a_row, in_second, resume = count + 1, 0, 0, now + _PAUSE
    return count
