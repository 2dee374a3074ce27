"""`python -m benchmarks`: every implementation of the tick in one run, one table, one JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks import allocations, cpp_rows, rollout, split, startup, tick
from benchmarks import workload as workloads
from benchmarks.numpy_pinocchio import NumpyPinocchio
from benchmarks.numpy_pinocchio import replay as replay_numpy
from benchmarks.timing import time_python
from benchmarks.workload import Workload
from ur_admittance.kernel.compile import announced

AGREEMENT = 1e-6  # rad/s
COLUMNS = ("mean", "p50", "p99", "p99.9", "max")
KERNEL, PYTHON, NUMPY = "ours, in the kernel", "ours, from Python", "NumPy + Pinocchio"

Statistics = dict[str, float]
Row = Callable[[], Statistics]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look, without a cold start")
    parser.add_argument("--rounds", type=int, help="how often the rows take turns")
    parser.add_argument(
        "--json", type=Path, default=Path(__file__).parent / "results.json", metavar="PATH"
    )
    options = parser.parse_args()
    quick = options.quick
    rounds = options.rounds or (3 if quick else 15)
    console = Console()
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(),
        TimeElapsedColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with progress, announced("the kernel and the benchmarks"):
        say = Steps(progress, 6)
        say("recording the workload")
        free = workloads.free()
        say("building the C++ rows")
        programs, skipped = _programs()
        say("checking that all agree")
        agreement = _agreement(free, programs)
        results: dict[str, Any] = {"machine": machine(), "agreement": agreement, "skipped": skipped}
        say("timing the rows in turn", rounds)
        results["ticks"] = _in_turn(_rows(free, programs, quick), rounds, say)
        say("timing our tick where it has more to do, and step by step")
        results["cases"] = _cases(quick)
        results["split"] = split.split(free, 5 if quick else 50)
        say("counting allocations, starting afresh, rolling out")
        counter = None if cpp_rows.missing(cpp_rows.PROGRAMS[0]) else cpp_rows.build_counter()
        results["allocations"] = allocations.count(20_000 if quick else 1_000_000, counter)
        results["startup"] = startup.measure(cold=not quick)
        results["rollout"] = rollout.measure(rounds=1 if quick else 5)
    _add_allocations(results)
    _show(console, results)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"written to {options.json}")
    return 0


class Steps:
    """One progress line."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._task = progress, progress.add_task("", total=total)
        self._sub: Any = None

    def __call__(self, what: str, parts: int = 0) -> None:
        if self._sub is not None:
            self._progress.remove_task(self._sub)
        self._sub = self._progress.add_task("  rounds", total=parts) if parts else None
        self._progress.update(self._task, description=what, advance=1)

    def part(self) -> None:
        self._progress.advance(self._sub)


def _programs() -> tuple[list[cpp_rows.Program], list[str]]:
    """The C++ programs that can be built here, and one line for each that cannot."""
    built, skipped = [], []
    for program in cpp_rows.PROGRAMS:
        why = cpp_rows.missing(program)
        if why:
            skipped.append(f"{program.name}: skipped, {why}")
        else:
            cpp_rows.build(program)
            built.append(program)
    return built, skipped


def _agreement(free: Workload, programs: list[cpp_rows.Program]) -> Statistics:
    """Largest difference of any joint rate from our controller's, rad/s."""
    rates = {KERNEL: tick.replay(free), NUMPY: replay_numpy(free)}
    rates |= {program.name: cpp_rows.run(program, free, 1)[1] for program in programs}
    differences = {name: float(np.abs(qd - free.qd).max()) for name, qd in rates.items()}
    for name, difference in differences.items():
        if not difference <= AGREEMENT:
            raise SystemExit(f"{name} differs from our controller by {difference:.3g} rad/s")
    return differences


def _rows(free: Workload, programs: list[cpp_rows.Program], quick: bool) -> dict[str, Row]:
    passes = 3 if quick else 10
    rival = NumpyPinocchio(free)
    calls = list(zip(free.q, free.wrench, free.dt.tolist(), strict=True))
    rows: dict[str, Row] = {
        KERNEL: partial(tick.time_in_kernel, free, passes),
        PYTHON: partial(tick.time_from_python, free, passes),
    }
    rows |= {p.name: lambda p=p: cpp_rows.run(p, free, passes)[0] for p in programs}
    rows[NUMPY] = lambda: time_python(
        rival.update, lambda: rival.activate(free.q[0]), calls[: 320 if quick else None], 1
    )
    return rows


def _in_turn(rows: dict[str, Row], rounds: int, say: Steps) -> dict[str, Statistics]:
    """Medians over the rounds. Ratios are taken within each round: the machine is not always alike."""
    seen: dict[str, list[Statistics]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, row in rows.items():
            seen[name].append(row())
        say.part()
    results = {}
    for name, of_row in seen.items():
        results[name] = {c: float(np.median([r[c] for r in of_row])) for c in COLUMNS}
        results[name]["max"] = max(r["max"] for r in of_row)
        for label, ours in (("of kernel", KERNEL), ("of python", PYTHON)):
            ratios = [a["mean"] / b["mean"] for a, b in zip(of_row, seen[ours], strict=True)]
            results[name][label] = float(np.median(ratios))
        if "allocations" in of_row[0]:
            results[name]["allocations"] = max(r["allocations"] for r in of_row)
    return results


def _cases(quick: bool) -> dict[str, Statistics]:
    """Our tick in the kernel, in the free workload and where limits act; in turn, too."""
    cases = {"free": workloads.free()} | workloads.special_cases()
    rounds = 2 if quick else 10
    seen = {name: [] for name in cases}
    for _ in range(rounds):
        for name, work in cases.items():
            seen[name].append(tick.time_in_kernel(work, 5))
    return {
        name: {c: float(np.median([r[c] for r in of_case])) for c in COLUMNS}
        for name, of_case in seen.items()
    }


def _add_allocations(results: dict[str, Any]) -> None:
    """Heap allocations a tick into the rows; where there was no counter, those of Numba."""
    for name, counted in results["allocations"].items():
        key = "heap" if "heap" in counted else "numba"
        results["ticks"][name]["allocations"] = counted[key] / counted["ticks"]


def machine() -> dict[str, Any]:
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((l.partition(":")[2].strip() for l in lines if l.startswith("model name")), cpu)
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _show(console: Console, results: dict[str, Any]) -> None:
    m = results["machine"]
    console.print(
        f"{m['cpu']}, {m['cores']} cores, load {m['load']:.1f}; Python {m['python']}, "
        f"Numba {m['numba']}, NumPy {m['numpy']}"
    )
    table = Table(title="One tick, ns")
    table.add_column("implementation")
    headings = (*COLUMNS, "allocations", "x ours, kernel", "x ours, Python", "differs, rad/s")
    for heading in headings:
        table.add_column(heading, justify="right")
    for name, row in results["ticks"].items():
        difference = results["agreement"].get(name, 0.0)
        table.add_row(
            name,
            *(f"{row[c]:,.0f}" for c in COLUMNS),
            f"{row['allocations']:.4g}",
            f"{row['of kernel']:.2f}",
            f"{row['of python']:.2f}",
            f"{difference:.0e}",
        )
    console.print(table)
    for line in results["skipped"]:
        console.print(line)
    table = Table(title="Our tick in the kernel, by case, ns")
    for heading in ("case", *COLUMNS):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for name, row in results["cases"].items():
        table.add_row(name, *(f"{row[c]:,.0f}" for c in COLUMNS))
    console.print(table)
    _show_split(console, results)
    _show_rest(console, results)


def _show_split(console: Console, results: dict[str, Any]) -> None:
    whole = results["cases"]["free"]["mean"]
    parts = results["split"] | {"between the steps": whole - sum(results["split"].values())}
    table = Table(title="Our tick in the kernel, by step")
    table.add_column("step")
    table.add_column("ns", justify="right")
    table.add_column("share", justify="right")
    for name, ns in (parts | {"whole": whole}).items():
        table.add_row(name, f"{ns:.0f}", f"{ns / whole:.0%}")
    console.print(table)


def _show_rest(console: Console, results: dict[str, Any]) -> None:
    table = Table(title="Memory")
    names = ("ticks", "heap", "numba", "python objects left", "python bytes at most")
    for heading in ("implementation", *names):
        table.add_column(heading, justify="left" if heading == "implementation" else "right")
    for name, row in results["allocations"].items():
        table.add_row(name, *(f"{row[n]:,}" if n in row else "-" for n in names))
    console.print(table)
    table = Table(title="Start, s")
    for heading in ("", "import", "first tick", "process"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, row in results["startup"].items():
        table.add_row(name, *(f"{row[key]:.2f}" for key in ("import", "first tick", "process")))
    console.print(table)
    table = Table(title="Rollout")
    table.add_column("threads", justify="right")
    table.add_column("million ticks/s", justify="right")
    for threads, rate in results["rollout"].items():
        table.add_row(threads, f"{rate:.2f}")
    console.print(table)


if __name__ == "__main__":
    begun = time.monotonic()
    code = main()
    sys.stderr.write(f"done in {time.monotonic() - begun:.0f} s\n")
    sys.exit(code)
