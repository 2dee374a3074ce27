"""Our whole loop over RTDE at 500 Hz, recorded, for ten minutes: what is lost, what stops it, and
whether the machine stood still then.

    python -m benchmarks.rtde_endurance [--seconds 600] [--priority 60] [--json PATH]

After a stop it is started anew, on another fake controller, until it has run for so long in all. A
stop is the machine's own if a core stood still for 10 ms or longer within the half second before it
(see `benchmarks.stalls`): the program on the robot waits 20 ms for a command. How long it stood is
printed for each.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.__main__ import machine
from benchmarks.rtde import PERIOD, ROWS, measure
from benchmarks.stalls import Stall, watched

_BEFORE = 0.5  # s before a stop
_LONG = 0.01  # s
_STARTS = 100


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rtde_endurance", description=__doc__
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="in all")
    parser.add_argument("--priority", type=int, default=60, help="real-time, 1 to 99")
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "rtde_endurance.json")
    options = parser.parse_args()
    runs: list[dict[str, Any]] = []
    with watched() as stalls:
        left = options.seconds
        while left > 1.0 and len(runs) < _STARTS:
            runs.append(measure(ROWS[-1], left, options.priority))
            begun, ended = runs[-1]["window"]
            left -= ended - begun
    found = judged(runs, stalls) | {"seconds": options.seconds - left}
    for name, value in found.items():
        print(f"{name:>45}: {value:g}")
    for run in runs:
        if run["stopped"]:
            still = 1e3 * longest_before(run["window"][1], stalls)
            print(
                f"a core stood still for {still:.0f} ms, then: {run['stopped'].partition(';')[0]}"
            )
    options.json.write_text(json.dumps({"machine": machine(), **found, "runs": runs}, indent=2))
    return int(found["stops without a stall"] > 0)


def judged(runs: list[dict[str, Any]], stalls: list[Stall]) -> dict[str, float]:
    """What became of the runs, and what the machine did meanwhile."""
    meanwhile = [s for s in stalls if any(r["window"][0] <= s.end <= r["window"][1] for r in runs)]
    stops = [run["window"][1] for run in runs if run["stopped"]]
    alone = [end for end in stops if longest_before(end, stalls) < _LONG]
    ticks = sum(run["states"] - run["lost"] for run in runs)
    return {
        "runs": len(runs),
        "stops": len(stops),
        "stops without a stall": len(alone),
        "states": sum(run["states"] for run in runs),
        "states lost": sum(run["lost"] for run in runs),
        "cycles that a core stood still": sum(s.seconds for s in meanwhile) / PERIOD,
        "longest stall, ms": 1e3 * max((s.seconds for s in meanwhile), default=0.0),
        "ticks not recorded": ticks - sum(run.get("recorded", 0) for run in runs),
        "states used twice": sum(run["doubled"] for run in runs),
    }


def longest_before(end: float, stalls: list[Stall]) -> float:
    """Of the half second before a moment, s."""
    return max((s.seconds for s in stalls if end - _BEFORE <= s.end <= end), default=0.0)


if __name__ == "__main__":
    raise SystemExit(main())
