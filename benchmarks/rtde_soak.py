"""A million broken states for our RTDE client's parser.

    python -m benchmarks.rtde_soak [--frames 1000000] [--seed 0]

They go through the stream and the judge that a robot has. Nothing that comes in may raise, the
buffer may not fill up, what is taken must be numbers, and a good state must be found again after
every thousand broken ones.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

import numpy as np
from tests.robots.rtde.fuzz import FRAME, frame, judged, mutated

BLOCK = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rtde_soak", description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, (stream, states), good, lost = random.Random(options.seed), judged(), 0, 0
    since = time.monotonic()
    for n in range(options.frames):
        good += _fed(stream, mutated(rng, n + 1))
        if n % BLOCK == 0:
            states.time = 0.0  # as after every start: a flipped time may lie ahead
            for k in range(10):
                _fed(stream, frame(n + 10.0 + k))
            lost += states.time != n + 19.0
            states.take()
            lost += not np.isfinite(states.q).all()
    print(
        f"{options.frames} states, mostly broken, in {time.monotonic() - since:.0f} s: {good} "
        f"believed, {stream.bad} bad, nothing raised; {lost} times the good ones after a thousand "
        "were not found"
    )
    return 1 if lost else 0


def _fed(stream, data: bytes) -> int:
    good = 0
    for at in range(0, len(data), FRAME):
        part = data[at : at + FRAME]
        stream.space[: len(part)] = part
        good += stream.took(len(part))
    return good


if __name__ == "__main__":
    sys.exit(main())
