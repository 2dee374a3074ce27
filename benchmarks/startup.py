"""From `import` to the first command, in a fresh process: with nothing compiled yet, and again.

`python -m benchmarks.startup`
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

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
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({
    "import": imported - begun,
    "first tick": done - imported,
    "processor": time.process_time(),
    "of its copies": usage.ru_utime + usage.ru_stime,
    "resident": kilobytes / 1000,
}))
"""


def start(environment: dict[str, str]) -> dict[str, float]:
    """Seconds of one start; 'process' includes the interpreter's own start and end, 'processor' is
    the time it computed, however busy the machine was, 'of its copies' that of those which helped
    it on a second core, and 'resident' its memory then, MB.
    """
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout) | {"process": time.perf_counter() - begun}


def measure(cold: bool) -> dict[str, dict[str, float]]:
    """A warm start; before it a cold one in an empty cache, if asked for."""
    if not cold:
        start(dict(os.environ))
        return {"warm": start(dict(os.environ))}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"UR_ADMITTANCE_CACHE": folder}
        return {"cold": start(environment), "warm": start(environment)}


if __name__ == "__main__":
    for kind, row in measure(cold=True).items():
        print(kind, ", ".join(f"{name} {value:.1f}" for name, value in row.items()))
