"""Whether the tests pass again and again: a series of runs, if wanted beside computing processes.

    python -m benchmarks.repeat [--times 10] [--busy 2] [--all] [TEST ...]

Without tests named, those that depend on time somewhere: ROS 2, the loop, robots over sockets, and
the recorder. `--all` is the whole suite. Nothing is run again because it failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TIMELY = ("ros2", "robots", "loop", "bench", "telemetry", "blackboard", "faults")
_BUSY = "while True: pass"


@contextlib.contextmanager
def computing(count: int) -> Iterator[None]:
    """So many processes that want all they can get."""
    crowd = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for each in crowd:
            each.kill()
            each.wait()


def once(tests: list[str], workers: int, log: Path) -> dict[str, Any]:
    """One run: when, how long, and its last line; what failed is in `log`."""
    command = [sys.executable, "-m", "pytest", *tests]
    if workers:
        command += ["-n", str(workers), "--dist", "worksteal"]
    begun, clock = datetime.now(), time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=file, check=False).returncode
    last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    return {
        "begun": begun.isoformat(" ", "minutes"),
        "seconds": round(time.monotonic() - clock),
        "load": round(os.getloadavg()[0], 1),
        "passed": code == 0,
        "said": last[0] if last else "",
        "log": str(log),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.repeat",
        description="Whether the tests pass again and again; what is not named is what time rules.",
    )
    parser.add_argument("tests", nargs="*", help="files or folders of tests")
    parser.add_argument("--all", action="store_true", help="the whole suite")
    parser.add_argument("--times", type=int, default=10, help="runs in a row")
    parser.add_argument("--busy", type=int, default=0, help="computing processes beside them")
    parser.add_argument("--workers", type=int, default=4, help="processes of pytest; 0: its own")
    parser.add_argument("--logs", type=Path, default=Path("build/repeat"), help="folder for output")
    parser.add_argument("--json", type=Path, help="file to write")
    asked = parser.parse_args()
    timely = [path for name in TIMELY if (path := ROOT / "tests" / name).exists()]
    tests = ["tests"] if asked.all else asked.tests or [str(p.relative_to(ROOT)) for p in timely]
    asked.logs.mkdir(parents=True, exist_ok=True)
    runs: list[dict[str, Any]] = []
    print(f"{asked.times} times {' '.join(tests)}, beside {asked.busy} computing processes")
    with computing(asked.busy):
        for number in range(1, asked.times + 1):
            found = once(tests, asked.workers, asked.logs / f"{number}.log")
            runs.append(found)
            print(
                f"{number:3}  {found['begun']}  {found['seconds']:5} s  load {found['load']:5}  "
                f"{'passed' if found['passed'] else 'FAILED'}  {found['said']}",
                flush=True,
            )
    failed = [run for run in runs if not run["passed"]]
    print(f"{len(runs) - len(failed)} of {len(runs)} passed")
    for run in failed:
        print(f"see {run['log']}")
    if asked.json:
        asked.json.write_text(json.dumps(runs, indent=2) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
