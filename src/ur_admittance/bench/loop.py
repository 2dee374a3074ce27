"""Measures the loop: how late it wakes, what a cycle takes, and what others cost it.

Every row runs the real loop in a process of its own, on an arm that is not there (`StandIn`), first
on the machine as it is and then on a busy one: every core computing, five readers attached of which
one hangs and one is killed on the way, and a recorder. Rows take turns, so that a machine that
changes changes for all of them.
"""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from ur_admittance.bench.processes import RATE
from ur_admittance.errors import RobotError
from ur_admittance.realtime import RealTime, keep_awake, let_sleep, prepare, restore

ROBOT = "bench"  # name of the blackboard: a second benchmark at the same time is refused
PRIORITY = 50  # of SCHED_FIFO
READERS = 5
SLICE = 5.0  # s at most that one row runs before the next takes its turn
QUIET, WATCHED, BUSY = "quiet", "watched", "busy"
TIMES = ("lateness", "tick", "reaction", "publish", "period")
_PROCESSES = "ur_admittance.bench.processes"
_PATIENCE = 300.0  # s, for a process that may have to compile something first
# Ends with the process that started it, however that ends.
_BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n for _ in range(99999): 0"

# Runs a loop for so many seconds at a priority of SCHED_FIFO, or at 0 without. Returns `samples`
# (with `lateness`, ns), `missed`, `cpu` and `wall` (s).
Rival = Callable[[float, int], dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    load: str
    rival: str  # "" for our loop
    priority: int
    awake: bool = False
    spin: bool = False

    @property
    def name(self) -> str:
        words = [self.rival or "ours"]
        words += ["awake"] if self.awake else ["FIFO"] if self.priority else []
        words += ["spin"] if self.spin else []
        return ", ".join(words)

    @property
    def readers(self) -> int:
        return 0 if self.load == QUIET else READERS


def measure(
    seconds: float = 10.0,
    rivals: dict[str, Rival] | None = None,
    tell: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure all rows, each for so many seconds. Returns plain values; times in s.

    `rivals`: other loops to run in turn with ours, by name; `tell` is called before each slice,
    with what comes, its number and how many there are.
    """
    rivals = rivals or {}
    measures, refused = _measures()
    rounds = math.ceil(seconds / SLICE)
    plan = {load: _rows(load, list(rivals), measures) for load in (QUIET, BUSY)}
    total, done = rounds * sum(len(rows) for rows in plan.values()), 0
    results: dict[str, Any] = {
        "machine": machine(),
        "rate": RATE,
        "seconds": seconds,
        "notes": refused,
        "rows": [],
    }
    before = _stolen()
    for load, rows in plan.items():
        taken: dict[Row, list[dict[str, Any]]] = {row: [] for row in rows}
        with _world(load == BUSY) as world:
            for _ in range(rounds):
                for row in rows:
                    if tell is not None:
                        tell(f"{row.load}: {row.name}", done, total)
                    taken[row].append(world.slice(row, seconds / rounds, rivals))
                    done += 1
        results["rows"] += [_row(row, slices) for row, slices in taken.items()]
        results["notes"] += world.notes
        if load == BUSY:
            results["recording"] = world.recording
    stolen, passed = _stolen() - before
    results["machine"]["stolen"] = float(stolen / passed)
    return results


def machine() -> dict[str, Any]:
    """What this was measured on."""
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines())
        cpu = next((value.strip() for key, _, value in lines if key.startswith("model name")), cpu)
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _stolen() -> np.ndarray:
    """Time so far that the host of a virtual machine gave to others, and all time; of all cores."""
    spent = np.array(Path("/proc/stat").read_text().split()[1:9], int)  # the last: stolen
    return np.array([spent[-1], spent.sum()])


def show(results: dict[str, Any], console: Console) -> None:
    """Print the tables."""
    m = results["machine"]
    console.print(
        f"{m['cpu']}, {m['cores']} cores, load {m['load']:.1f} before; {m['system']}; "
        f"Python {m['python']}\n{results['rate']:g} Hz, {results['seconds']:g} s each row; "
        f"{100 * m['stolen']:.1f} % of it given to others by the host"
    )
    waking = [("lateness", key) for key in ("p50", "p99", "p99.9", "max")]
    heads = [*(key for _, key in waking), "missed", "stops", "faults", "CPU %"]
    table = _table("Late to wake, us", heads)
    for row in results["rows"]:
        stops, faults = (len(row["stops"]), row["faults"]) if "stops" in row else ("-", "-")
        _add(table, row, waking, [row["missed"], stops, faults, f"{100 * row['cpu']:.1f}"])
    console.print(table)
    ours = [(name, key) for name in TIMES[1:-1] for key in ("p50", "p99.9")]
    heads = [f"{name if key == 'p50' else ''}\n{key}" for name, key in ours] + ["period\np99.9"]
    ours.append(("period", "p99.9"))
    table = _table("Our cycle, us", [*heads, "\nMB"])
    for row in results["rows"]:
        if "resident" in row:
            _add(table, row, ours, [f"{row['resident'] / 2**20:.0f}"])
    console.print(table)
    recording = results["recording"]
    for line in (
        "FIFO: with a real-time priority; awake: with that, and no core may fall asleep",
        "missed: cycles skipped; stops: how often the loop stopped the arm for being late",
        "faults: pages of memory that were not there when needed; MB: resident memory",
        "reaction: from the force's arrival to the command",
        f"watched: by {READERS} readers; busy: by {READERS}, of which one hangs and one is killed, "
        f"and a recorder ({recording['written']} of {recording['published']} ticks written), with "
        f"{m['cores']} processes that compute",
        *results["notes"],
    ):
        console.print(line)


# --- the rows ---


def _rows(load: str, rivals: list[str], measures: list[tuple[int, bool]]) -> list[Row]:
    rows = [Row(load, loop, *measure) for measure in measures for loop in (*rivals, "")]
    rows.append(Row(load, "", *measures[-1], spin=True))
    if load == QUIET:
        rows.append(Row(WATCHED, "", *measures[-1]))
    return rows


def _row(row: Row, slices: list[dict[str, Any]]) -> dict[str, Any]:
    """The slices of a row as one."""
    wall = sum(s["wall"] for s in slices)
    result: dict[str, Any] = {
        "load": row.load,
        "loop": row.name,
        "priority": row.priority,
        "awake": row.awake,
        "spin": row.spin,
        "missed": sum(s["missed"] for s in slices),
        "cpu": sum(s["cpu"] for s in slices) / wall,
    }
    if not row.rival:
        for name in ("ticks", "late", "cycles", "faults"):
            result[name] = sum(s[name] for s in slices)
        result["stops"] = [why for s in slices for why in s["stops"]]
        result["resident"] = slices[0]["resident"]
    for name in TIMES:
        if name in slices[0]["samples"]:
            result[name] = _quantiles(np.hstack([s["samples"][name] for s in slices]))
    return result


def _quantiles(ns: np.ndarray) -> dict[str, float]:
    """Of samples in ns, in s."""
    p50, p99, p999, most = 1e-9 * np.percentile(ns, [50, 99, 99.9, 100])
    return {"p50": float(p50), "p99": float(p99), "p99.9": float(p999), "max": float(most)}


def _measures() -> tuple[list[tuple[int, bool]], list[str]]:
    """Which priorities can be had, and whether with cores kept awake; and what cannot, in words."""
    measures, notes = [(0, False)], []
    try:
        for wish, name in ((False, "FIFO"), (True, "awake")):
            refused = prepare(RealTime(priority=PRIORITY, lock_memory=False, awake=wish))
            if refused:
                notes.append(f"rows with {name} left out: {refused[-1]}")
                break
            measures.append((PRIORITY, wish))
    finally:
        restore()
    return measures, notes


# --- the processes ---


class _Child:
    """A process that takes orders and answers, one JSON value a line."""

    def __init__(self, role: str, *arguments: str) -> None:
        self._role = role
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _PROCESSES, role, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the one that started it
        )

    def tell(self, order: Any) -> None:
        self._process.stdin.write(json.dumps(order) + "\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]

    def answer(self) -> Any:
        with self._at_most(_PATIENCE):
            line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise RobotError(f"bench: the process '{self._role}' died; what it said is above")
        return json.loads(line)

    def end(self) -> Any:
        """Let it finish, and say its last word."""
        self._process.stdin.close()  # type: ignore[union-attr]
        return self.answer()

    def close(self) -> None:
        """Without an order it ends by itself, after the slice it is in."""
        with suppress(OSError):  # it has died
            self._process.stdin.close()  # type: ignore[union-attr]
        with self._at_most(2.0 * SLICE):
            self._process.stdout.read()  # type: ignore[union-attr]
            self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]

    @contextmanager
    def _at_most(self, seconds: float) -> Iterator[None]:
        """Kill it if this takes longer."""
        watchdog = threading.Timer(seconds, self._process.kill)
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()


class _World:
    """A machine with a control process, and what runs beside it."""

    def __init__(self, control: _Child, nursery: _Child, notes: list[str]) -> None:
        self._control, self._nursery = control, nursery
        self.notes = notes
        self.recording: dict[str, Any] = {}

    def slice(self, row: Row, seconds: float, rivals: dict[str, Rival]) -> dict[str, Any]:
        """Run a row for so long, among its readers."""
        with self._reading(row.readers) as readers, _awake(row.awake):
            if row.rival:
                return rivals[row.rival](seconds, row.priority)
            order = {"seconds": seconds, "priority": row.priority, "spin": row.spin}
            self._control.tell(order)
            if row.load == BUSY:
                time.sleep(seconds / 3.0)
                os.kill(readers[0], signal.SIGSTOP)
                time.sleep(seconds / 3.0)
                os.kill(readers.pop(1), signal.SIGKILL)
            result = self._control.answer()
        self.notes += [line for line in result["refused"] if line not in self.notes]
        return result

    @contextmanager
    def _reading(self, count: int) -> Iterator[list[int]]:
        """So many readers, as their process numbers; whoever is still in the list must live."""
        readers = []
        for _ in range(count):
            self._nursery.tell({})
            readers.append(self._nursery.answer())
        try:
            yield readers
        finally:
            lived = [_killed(reader) for reader in readers]
        if not all(lived):
            raise RobotError("bench: a reader died; what it said is above")


@contextmanager
def _awake(wish: bool) -> Iterator[None]:
    """All cores are, if that is wished for."""
    if wish:
        keep_awake()
    try:
        yield
    finally:
        let_sleep()


@contextmanager
def _world(busy: bool) -> Iterator[_World]:
    """Start everything; end everything."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ur-admittance-bench-"))
        control = _Child("control", ROBOT, str(Path(folder) / "bench.mcap") if busy else "")
        stack.callback(control.close)
        problem = control.answer()["problem"]
        nursery = _Child("readers", ROBOT)
        stack.callback(nursery.close)
        nursery.answer()
        for _ in range(os.cpu_count() or 1) if busy else ():
            burner = subprocess.Popen([sys.executable, "-S", "-c", _BURN], start_new_session=True)
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        world = _World(control, nursery, [problem] if problem else [])
        yield world
        world.recording = control.end()


def _killed(process: int) -> bool:
    """End a process. Returns whether it was there."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


# --- the tables ---


def _table(title: str, headings: list[str]) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, padding=0, title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _add(table: Table, row: dict[str, Any], times: list[tuple[str, str]], rest: list[Any]) -> None:
    values = [_us(row[name][key]) for name, key in times]
    table.add_row(f"{row['load']}: {row['loop']}", *values, *map(str, rest))


def _us(seconds: float) -> str:
    us = 1e6 * seconds
    return f"{us:.0f}" if us >= 10 else f"{us:.1f}"
