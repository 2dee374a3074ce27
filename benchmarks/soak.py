"""Minutes of the demo's scenarios as fast as they go, recorded: memory, losses and limits.

    python -m benchmarks.soak [--minutes 10] [--json PATH]

Each scenario has its own arm, controller, blackboard and recording, and the next seed. Every run is
held against its own judge and against the limits' oracle of the tests.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from tests.support import oracle

from benchmarks.__main__ import machine
from ur_admittance import Controller
from ur_admittance.blackboard import Blackboard
from ur_admittance.kernel import layout
from ur_admittance.scenarios import SCENARIOS, Scenario, play
from ur_admittance.telemetry.recorder import Recorder

LONGEST = 15_000  # ticks of one run
MEGABYTE = 1024.0 * 1024.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of simulated time")
    parser.add_argument(
        "--json", type=Path, default=Path(__file__).parent / "soak.json", metavar="PATH"
    )
    options = parser.parse_args()
    console = Console()
    rows = list(_with_progress(options.minutes))
    results: dict[str, Any] = {"machine": machine(), "total": total(rows), "runs": rows}
    _show(console, results)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"written to {options.json}")
    return 0 if results["total"]["clean"] else 1


def soak(minutes: float) -> Iterator[dict[str, Any]]:
    """One row for each scenario played, until so many simulated minutes have passed."""
    records = np.zeros(LONGEST, layout.OUTPUTS)
    with tempfile.TemporaryDirectory(prefix="ur-admittance-soak-") as folder:
        os.environ["UR_ADMITTANCE_RUNTIME"] = folder
        simulated, seed = 0.0, 0
        while simulated < 60.0 * minutes:
            for scenario in SCENARIOS.values():
                yield (row := run(scenario, seed, records, Path(folder)))
                simulated += row["simulated"]
            seed += 1


def run(scenario: Scenario, seed: int, records: np.ndarray, folder: Path) -> dict[str, Any]:
    """Play one scenario with the realistic arm, recorded, and say how it was."""
    file = folder / f"{scenario.name}.mcap"
    with scenario.robot(realtime=False, seed=seed) as robot:
        config = scenario.config()
        controller = Controller(robot.model, config)

        def keep(state: Any, out: np.record) -> None:
            records[int(out["tick"]) - 1] = out

        with (
            Blackboard.create(robot.name, robot.rate, controller.live) as board,
            Recorder(robot.name, file, robot.model) as recorder,
        ):
            begun = time.perf_counter()
            summary = play(scenario, robot, controller, board=board, each=keep)
            seconds = time.perf_counter() - begun
            recorded = recorder.close()
    file.unlink()
    history = records[: summary.ticks]
    findings = [f"{f.what}: {f.words}" for f in scenario.judge(history) if not f.passed]
    try:
        oracle(history, controller)
    except AssertionError as error:
        findings.append(f"oracle: {error}")
    gc.collect()
    return {
        "scenario": scenario.name,
        "seed": seed,
        "ticks": summary.ticks,
        "simulated": summary.seconds,
        "seconds": seconds,
        "resident": resident(),
        "written": recorded.written,
        "lost": recorded.lost,
        "problem": recorded.problem,
        "findings": findings,
    }


def resident() -> int:
    """Memory of this process that is in RAM, bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums over all runs; memory after the first round, halfway and at the end, bytes."""
    first = min(len(SCENARIOS), len(rows)) - 1
    memory = [rows[n]["resident"] for n in (first, (first + len(rows)) // 2, -1)]
    sums = {
        name: sum(row[name] for row in rows)
        for name in ("ticks", "simulated", "seconds", "written", "lost")
    }
    findings = sum(len(row["findings"]) + bool(row["problem"]) for row in rows)
    clean = not (findings or sums["lost"] or sums["written"] != sums["ticks"])
    return {"runs": len(rows), **sums, "resident": memory, "findings": findings, "clean": clean}


def _with_progress(minutes: float) -> Iterator[dict[str, Any]]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=60.0 * minutes)
        for row in soak(minutes):
            progress.update(task, description=row["scenario"], advance=row["simulated"])
            yield row


def _show(console: Console, results: dict[str, Any]) -> None:
    done = results["total"]
    table = Table(title=f"{done['simulated'] / 60:.1f} simulated minutes of scenarios")
    table.add_column("")
    table.add_column("", justify="right")
    memory = " / ".join(f"{size / MEGABYTE:.1f}" for size in done["resident"])
    for name, value in (
        ("scenarios played", f"{done['runs']}"),
        ("ticks", f"{done['ticks']:,}"),
        ("simulated, s", f"{done['simulated']:.0f}"),
        ("real, s", f"{done['seconds']:.0f}"),
        ("ticks a second", f"{done['ticks'] / done['seconds']:,.0f}"),
        ("resident memory, MB: after the first round / halfway / at the end", memory),
        ("records written", f"{done['written']:,}"),
        ("records lost", f"{done['lost']:,}"),
        ("findings of judges and oracle", f"{done['findings']}"),
    ):
        table.add_row(name, value)
    console.print(table)
    for row in results["runs"]:
        for finding in [*row["findings"], *filter(None, [row["problem"]])]:
            console.print(f"{row['scenario']}, seed {row['seed']}: {finding}")


if __name__ == "__main__":
    sys.exit(main())
