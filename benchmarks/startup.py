"""From `import` to the first command, in a fresh process: with nothing compiled yet, and again; as
the kernel is compiled here and by plain Numba, in turn.

`python -m benchmarks.startup [--quick] [--json FILE]`
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

WAYS = {"ours": "0", "plain Numba": "1"}  # UR_ADMITTANCE_PLAIN_NUMBA
Row = dict[str, float]

_PROGRAM = """
import json, resource, time
begun = time.perf_counter()
import numpy as np
import ur_admittance as ua
imported = time.perf_counter()
model = ua.RobotModel.ur("ur5e")
controller = ua.Controller(model, ua.Config())
controller.activate(model.home)
controller.update(np.array(model.home), np.zeros(6), 0.002)
done = time.perf_counter()
with open("/proc/self/smaps_rollup") as file:
    kilobytes = next(int(line.split()[1]) for line in file if line.startswith("Rss:"))
print(json.dumps({
    "import": imported - begun,
    "first tick": done - imported,
    "processor": time.process_time(),
    "resident": kilobytes / 1000,
}))
"""
_RUN = ["-m", "ur_admittance_command", "run", "--robot", "sim", "--config", "preset:hand-guiding"]
_RUN += ["--seconds", "0.2", "--pace", "0"]


def start(environment: Mapping[str, str]) -> Row:
    """Seconds of one start; 'process' includes the interpreter's own start and end, 'processor' is
    the time it computed, however busy the machine was, and 'resident' its memory then, MB.
    """
    begun = time.perf_counter()
    done = _python(["-c", _PROGRAM], environment)
    return json.loads(done) | {"process": time.perf_counter() - begun}


def run(environment: Mapping[str, str]) -> Row:
    """The same of a short `run` on the simulated arm, with all processes it starts."""
    before, begun = os.times(), time.perf_counter()
    _python(_RUN, environment)
    after, process = os.times(), time.perf_counter() - begun
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    return {"processor": used, "process": process}


def _python(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def measure(cold: bool) -> dict[str, Row]:
    """A warm start; before it a cold one in an empty cache, if asked for."""
    if not cold:
        start(os.environ)
        return {"warm": start(os.environ)}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"UR_ADMITTANCE_CACHE": folder}
        return {"cold": start(environment), "warm": start(environment)}


def compare(cold: int, warm: int) -> dict[str, Row]:
    """Medians of so many starts of each way, in turn, since the machine's speed drifts."""
    seen: dict[str, list[Row]] = {}
    for n in range(cold):
        for way, plain in WAYS.items():
            for what, begin in (("first tick", start), ("run", run)):
                with tempfile.TemporaryDirectory() as folder:
                    chosen = {"UR_ADMITTANCE_CACHE": folder, "UR_ADMITTANCE_PLAIN_NUMBA": plain}
                    environment = os.environ | chosen
                    seen.setdefault(f"{way}, {what}, cold", []).append(begin(environment))
                    for _ in range(-(-(warm - n) // cold)):
                        seen.setdefault(f"{way}, {what}, warm", []).append(begin(environment))
    return {
        name: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        for name, rows in seen.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="each once instead of 3 and 5 times")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the medians there, too")
    options = parser.parse_args()
    results = compare(*(1, 1) if options.quick else (3, 5))
    print("medians, s; resident memory, MB")
    for name, row in results.items():
        print(f"{name:30}", ", ".join(f"{key} {value:.1f}" for key, value in row.items()))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
