"""When a machine stands still by itself: on each core somebody with the highest priority who only
wants to wake every millisecond.

`python -m benchmarks.stalls [--seconds 60]`
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

_PERIOD = 0.001  # s
_LEAST = 0.002  # s, that count
_PRIORITY = 98  # of SCHED_FIFO


class Stall(NamedTuple):
    """A core on which nothing ran."""

    end: float  # s since the epoch
    seconds: float


@contextmanager
def watched() -> Iterator[list[Stall]]:
    """What happens in the block; the list is filled at its end, in order of time."""
    found: list[Stall] = []
    watchers = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.stalls", "--core", str(core)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for core in sorted(os.sched_getaffinity(0))
    ]
    try:
        for watcher in watchers:
            assert watcher.stdout is not None
            watcher.stdout.readline()  # it watches
        yield found
    finally:
        for watcher in watchers:
            out, _ = watcher.communicate()  # closes its input, which ends it
            found += [Stall(*each) for each in json.loads(out or "[]")]
        found.sort()


def _watch(core: int) -> None:
    import select

    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    print(flush=True)
    found: list[Stall] = []
    before = time.monotonic()
    while not select.select([sys.stdin], [], [], _PERIOD)[0]:
        now = time.monotonic()
        if now - before - _PERIOD > _LEAST:
            found.append(Stall(time.time(), now - before - _PERIOD))
        before = now
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stalls", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.core is not None:
        _watch(options.core)
        return
    with watched() as stalls:
        time.sleep(options.seconds)
    longest = 1e3 * max((stall.seconds for stall in stalls), default=0.0)
    print(f"{options.seconds:g} s, all cores together; the longest {longest:.1f} ms")
    for least in (0.002, 0.005, 0.01, 0.02, 0.05):
        print(f"  {1e3 * least:g} ms or longer: {sum(s.seconds >= least for s in stalls)}")


if __name__ == "__main__":
    main()
