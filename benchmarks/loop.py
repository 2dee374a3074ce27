"""The loop beside a bare one in C, which does nothing but wake: `python -m benchmarks.loop`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.cpp_rows import BUILD, SOURCES
from ur_admittance.bench import loop as loop_bench

SOURCE = SOURCES / "bare_loop.c"
BINARY = BUILD / "bare_loop"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each row")
    parser.add_argument("--json", type=Path, default=BUILD / "loop.json", metavar="PATH")
    options = parser.parse_args()
    results = with_progress(options.seconds)
    console = Console(highlight=False)
    loop_bench.show(results, console)
    BUILD.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"written to {options.json}")
    return 0


def with_progress(seconds: float) -> dict[str, Any]:
    """`measure` behind a bar, which is drawn between two slices only: it would be a load."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    progress = Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True,
        auto_refresh=False,
    )  # fmt: skip
    with progress:
        task = progress.add_task("")

        def tell(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total, refresh=True)

        return measure(seconds, tell)


def measure(seconds: float, tell: Callable[[str, int, int], None] | None = None) -> dict[str, Any]:
    """`loop_bench.measure`, with the loop in C among the rows where there is a compiler."""
    if not built():
        results = loop_bench.measure(seconds, tell=tell)
        results["notes"].append("rows of C left out: no C compiler")
        return results
    return loop_bench.measure(seconds, {"C": run}, tell)


def built() -> bool:
    """Whether the bare loop is there; it is compiled if its source is newer, and can be."""
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        return False
    BUILD.mkdir(exist_ok=True)
    if not BINARY.exists() or BINARY.stat().st_mtime < SOURCE.stat().st_mtime:
        new = BINARY.with_suffix(f".{os.getpid()}")  # another process may use the old one now
        subprocess.run([compiler, "-O2", str(SOURCE), "-o", str(new)], check=True)
        new.replace(BINARY)
    return True


def run(seconds: float, priority: int) -> dict[str, Any]:
    """Let the bare loop run; see `loop_bench.Rival`."""
    period = round(1e9 / loop_bench.RATE)
    command = [str(BINARY), str(period), str(seconds), str(priority)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


if __name__ == "__main__":
    sys.exit(main())
