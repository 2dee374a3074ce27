"""`python -m benchmarks.chain`: what a link costs, and how long a sample takes through three.

    player -> admittance -> forward, in one process: a measurement in, a joint command out

Against the same three links with ROS 2 topics between them, where rclpy is installed.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ur_admittance as ua
from benchmarks import cpp_rows
from benchmarks import workload as workloads
from benchmarks.timing import BLOCK, time_python
from ur_admittance.blackboard import Blackboard
from ur_admittance.chain import (
    DESIRED,
    AdmittanceLink,
    ControllerManager,
    Link,
    PolicyLink,
    PosePlayer,
    VelocityForward,
    Waypoint,
)

COLUMNS = ("mean", "p50", "p99", "p99.9", "max")
CLAIM = 0.5e6  # ns, what the documents say of the same in C++
ALONE, GUARD, PLAYED = "controller alone", "manager without links", "player > admittance > forward"
EMPTY, EXPORTS = "three empty links", "three links that export 15 numbers"
POLICY = "policy > admittance > forward"
WATCHED = "player > ..., published to a board"


class Exports(Link):
    """Writes 15 numbers, as a desired pose has."""

    def declare(self, joints: tuple[str, ...]) -> None:
        self.exports = DESIRED

    def configure(self, ports) -> None:
        self._to, self._values = ports.export(), np.ones(len(DESIRED))

    def update(self, dt: float) -> None:
        self._to[:] = self._values


def links_of(work: workloads.Workload, kind: str = "player") -> list[Link]:
    """Above, in the middle, below."""
    X = work.model.fk(work.q[0])
    X[:3, 3] += 0.1
    above: Link = PosePlayer(work.model, [Waypoint(60.0, X)])
    if kind == "policy":
        above = PolicyLink(lambda t, q, wrench: X)
    law = AdmittanceLink(ua.Controller(work.model, work.config), desired=kind)
    return [above, law, VelocityForward("admittance")]


def manager_of(work: workloads.Workload, *links: Link) -> ControllerManager:
    manager = ControllerManager(work.model)
    manager.load(*links)
    manager.switch(activate=[link.name for link in links])
    return manager


class Watched:
    """A chain whose outputs are published every cycle, as `manager.run(robot, board=...)` does."""

    def __init__(self, manager: ControllerManager, board: Blackboard) -> None:
        self._manager, self._board = manager, board
        self.activate = manager.activate

    def update(self, *measured: Any) -> None:
        self._manager.update(*measured)
        self._board.publish(self._manager.outputs)


def rows_of(work: workloads.Workload, board: Blackboard) -> dict[str, Any]:
    """By name: what is timed, with `update` and `activate`."""
    return {
        ALONE: ua.Controller(work.model, work.config),
        GUARD: manager_of(work),
        EMPTY: manager_of(work, *(Link(name) for name in "abc")),
        EXPORTS: manager_of(work, *(Exports(name) for name in "abc")),
        PLAYED: manager_of(work, *links_of(work)),
        POLICY: manager_of(work, *links_of(work, "policy")),
        WATCHED: Watched(manager_of(work, *links_of(work)), board),
    }


def measure(rounds: int = 9, passes: int = 2) -> dict[str, Any]:
    """All rows in turn: ns a cycle, medians over the rounds (of the maximum, the largest)."""
    work = workloads.free()
    first, *calls = zip(work.q, work.wrench, work.dt.tolist(), strict=True)
    calls = calls[: len(calls) // BLOCK * BLOCK]

    def begin(row: Any) -> None:
        row.activate(work.q[0])
        row.update(*first)  # which starts the links: not timed

    live = ua.Controller(work.model, work.config).live
    seen: dict[str, list[dict[str, float]]] = {}
    with Blackboard.create("benchmark", 500.0, live) as board:
        rows = rows_of(work, board)
        for _ in range(rounds):
            for name, row in rows.items():
                times = time_python(row.update, partial(begin, row), calls, passes)
                seen.setdefault(name, []).append(times)
    table = {}
    for name, rounds_of in seen.items():
        table[name] = {c: float(np.median([times[c] for times in rounds_of])) for c in COLUMNS}
        table[name]["max"] = max(times["max"] for times in rounds_of)
    more = {
        name: np.median([a["p50"] - b["p50"] for a, b in zip(seen[name], seen[GUARD], strict=True)])
        for name in (EMPTY, EXPORTS)
    }
    return {"cycles": table, "a link": {name: float(ns) / 3 for name, ns in more.items()}}


def allocations(cycles: int) -> dict[str, float]:
    """Heap allocations a cycle of the chain of three, and objects left, in a process of its own."""
    environment = dict(os.environ)
    if not cpp_rows.missing(cpp_rows.PROGRAMS[0]):
        environment |= {"LD_PRELOAD": str(cpp_rows.build_counter()), "PYTHONMALLOC": "malloc"}
    command = [sys.executable, "-m", "benchmarks.chain", "--count", str(cycles)]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def count(cycles: int) -> dict[str, float]:
    """What `allocations` runs in the other process."""
    work = workloads.free()
    manager = manager_of(work, *links_of(work))
    manager.activate(work.q[0])
    q, wrench = work.q[0], work.wrench[0]
    for _ in range(2000):  # until nothing is new any more
        manager.update(q, wrench, 0.002, 0.0, 0.0)
    counter = ctypes.CDLL(None).allocation_count if "LD_PRELOAD" in os.environ else lambda: 0
    before = counter(), sys.getallocatedblocks()
    for _ in range(cycles):
        manager.update(q, wrench, 0.002, 0.0, 0.0)
    after = counter(), sys.getallocatedblocks()
    result = {"cycles": cycles, "objects left": float(after[1] - before[1])}
    if "LD_PRELOAD" in os.environ:
        result["allocations a cycle"] = (after[0] - before[0]) / cycles
    return result


def topics(cycles: int) -> dict[str, float] | str:
    """The same three with ROS 2 topics between them: ns a cycle; or why not."""
    if importlib.util.find_spec("rclpy") is None:
        return "skipped: rclpy cannot be imported here; source a ROS 2 installation first"
    from benchmarks import chain_ros2

    work = workloads.free()
    return chain_ros2.measure(manager_of(work, *links_of(work)), work, cycles)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chain", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look")
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the numbers there")
    options = parser.parse_args()
    if options.count:
        json.dump(count(options.count), sys.stdout)
        return 0
    results = measure(3 if options.quick else 15)
    results["allocations"] = allocations(2000 if options.quick else 20_000)
    results["topics"] = topics(500 if options.quick else 5000)
    results["load"] = os.getloadavg()[0]
    show(Console(width=max(100, Console().width)), results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def show(console: Console, results: dict[str, Any]) -> None:
    table = Table(title=f"One cycle, ns (load of the machine: {results['load']:.1f})")
    table.add_column("", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column, justify="right")
    rows = dict(results["cycles"])
    if not isinstance(results["topics"], str):
        rows["the same three by ROS 2 topics"] = results["topics"]
    for name, row in rows.items():
        table.add_row(name, *(f"{row[column]:,.0f}" for column in COLUMNS))
    console.print(table)
    for name, ns in results["a link"].items():
        console.print(f"a link ({name}): {ns:.0f} ns a cycle")
    through = results["cycles"][PLAYED]["p50"]
    console.print(
        f"sample in, command out through three links: {through / 1e3:.1f} us (p50), "
        f"{CLAIM / through:.0f} times below 0.5 ms"
    )
    if isinstance(results["topics"], str):
        console.print(f"the same three by ROS 2 topics: {results['topics']}")
    for name, number in results["allocations"].items():
        console.print(f"{name}: {number:g}")


if __name__ == "__main__":
    sys.exit(main())
