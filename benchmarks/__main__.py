"""`python -m benchmarks`: every implementation of the tick in one run, one table, one JSON."""

from __future__ import annotations

import argparse
import json
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

from benchmarks import allocations, cpp_rows, loop, rollout, split, startup, tick
from benchmarks import workload as workloads
from benchmarks.numpy_pinocchio import NumpyPinocchio
from benchmarks.numpy_pinocchio import replay as replay_numpy
from benchmarks.timing import time_python
from benchmarks.workload import Workload
from ur_admittance.bench import loop as loop_bench

AGREEMENT = 1e-6  # rad/s
WIDTH = 140  # of the tables, characters
COLUMNS = ("mean", "p50", "p99", "p99.9", "max")
KERNEL, PYTHON, NUMPY = "ours, in the kernel", "ours, from Python", "NumPy + Pinocchio"
SPLIT, ROLLOUT = "split", "rollout"

Statistics = dict[str, float]
Row = Callable[[], Statistics]
Rounds = dict[str, list[float]]


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
    console = Console() if Console().width >= WIDTH else Console(width=WIDTH)
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(),
        TimeElapsedColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with progress:
        say = Steps(progress, 6)
        say("recording the workloads, compiling the loops")
        free, special = workloads.free(), workloads.special_cases()
        rollouts = rollout.Rollouts()
        say("building the C++ rows")
        programs, skipped = _programs()
        say("checking that all agree")
        agreement = _agreement(free, programs)
        results: dict[str, Any] = {"machine": machine(), "agreement": agreement, "skipped": skipped}
        say("timing all in turn", rounds)
        rows = _rows(free, programs, quick)
        rows |= {name: partial(tick.time_in_kernel, case, 3) for name, case in special.items()}
        rows[SPLIT] = partial(split.split, free, 5)
        rows[ROLLOUT] = rollouts.rates
        seen = _in_turn(rows, rounds, say)
        results["rollout"] = {n: float(np.max(rates)) for n, rates in seen.pop(ROLLOUT).items()}
        results["split"] = {n: float(np.median(ns)) for n, ns in seen.pop(SPLIT).items()}
        table = _table(seen)
        results["cases"] = {"free": table[KERNEL]} | {name: table.pop(name) for name in special}
        results["ticks"] = table
        say("counting allocations")
        counter = None if cpp_rows.missing(cpp_rows.PROGRAMS[0]) else cpp_rows.build_counter()
        results["allocations"] = allocations.count(20_000 if quick else 1_000_000, counter)
        say("starting afresh")
        results["startup"] = startup.measure(cold=not quick)
    results["loop"] = loop.with_progress(1.0 if quick else 10.0)
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
    rates["ours, step by step"] = split.replay(free)[0]
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


def _in_turn(rows: dict[str, Row], rounds: int, say: Steps) -> dict[str, Rounds]:
    """Everything once in each round, since the machine's speed drifts."""
    seen: dict[str, Rounds] = {name: {} for name in rows}
    for _ in range(rounds):
        for name, row in rows.items():
            for key, value in row().items():
                seen[name].setdefault(key, []).append(value)
        say.part()
    return seen


def _table(seen: dict[str, Rounds]) -> dict[str, Statistics]:
    """Medians over the rounds, the largest maximum, and ratios taken within each round."""
    table = {}
    for name, row in seen.items():
        table[name] = {column: float(np.median(row[column])) for column in COLUMNS}
        table[name]["max"] = max(row["max"])
        for label, ours in (("of kernel", KERNEL), ("of python", PYTHON)):
            ratios = np.array(row["mean"]) / np.array(seen[ours]["mean"])
            table[name][label] = float(np.median(ratios))
        if "allocations" in row:
            table[name]["allocations"] = max(row["allocations"])
    return table


def _add_allocations(results: dict[str, Any]) -> None:
    """Heap allocations a tick into the rows; where there was no counter, those of Numba."""
    for name, counted in results["allocations"].items():
        key = "heap" if "heap" in counted else "numba"
        if name in results["ticks"]:
            results["ticks"][name]["allocations"] = counted[key] / counted["ticks"]


def machine() -> dict[str, Any]:
    return loop_bench.machine() | {
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
    table = Table(title="One tick, ns (x: of ours; differs: from ours, rad/s)")
    table.add_column("implementation", no_wrap=True)
    headings = (*COLUMNS, "allocations", "x kernel", "x Python", "differs")
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
    for heading in ("case", *COLUMNS, "x free"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for name, row in results["cases"].items():
        table.add_row(name, *(f"{row[c]:,.0f}" for c in COLUMNS), f"{row['of kernel']:.2f}")
    console.print(table)
    _show_split(console, results)
    _show_rest(console, results)
    loop_bench.show(results["loop"], console)


def _show_split(console: Console, results: dict[str, Any]) -> None:
    whole = results["ticks"][KERNEL]["mean"]
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
    table = Table(title="Start, s; resident memory, MB")
    columns = ("import", "first tick", "process", "processor", "resident")
    for heading in ("", *columns):
        table.add_column(heading, justify="right" if heading else "left")
    for name, row in results["startup"].items():
        table.add_row(name, *(f"{row[key]:.2f}" for key in columns))
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
