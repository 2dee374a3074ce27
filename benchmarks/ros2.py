"""The ROS 2 edge measured over DDS, two processes at 500 Hz: ways to take messages, and the node.

    python -m benchmarks.ros2 [--seconds 60] [--quick] [--node] [--clock joint_states|timer]

An arm in one process sends a wrench and a joint state, and waits for the command. First a node that
only answers takes them in several ways, then the admittance node does: paced by the joint states,
and by a timer of its own, with joint states at 1000 Hz. It needs rclpy: the user's
own ROS 2, or `pip install "ur-admittance[ros2]"`. Leaves with 1 if a message to or from the
admittance node was lost; without a real-time priority it may well be, where the machine is busy.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from benchmarks.cpp_rows import BUILD
from ur_admittance.bench import loop as loop_bench
from ur_admittance.errors import RobotError
from ur_admittance.realtime import RealTime, prepare, restore

PRIORITY = 50  # of SCHED_FIFO
NODE = "the admittance node"
ROUNDS, SLICE = 4, 3.0  # ways take turns, so many s each, since the machine's speed drifts

Tell = Callable[[str, float, float], None]  # what is measured, s in all, s so far


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ros2",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="of the node's run")
    parser.add_argument("--quick", action="store_true", help="a few seconds each, fewer rows")
    parser.add_argument("--json", type=Path, default=BUILD / "ros2.json", metavar="PATH")
    parser.add_argument("--node", action="store_true", help="the admittance node alone")
    parser.add_argument("--clock", choices=("both", "joint_states", "timer"), default="both")
    options = parser.parse_args()
    try:
        from ur_admittance.robots.ros2 import wire  # noqa: F401
    except RobotError as error:
        print(error, file=sys.stderr)
        return 2
    clocks = ("joint_states", "timer") if options.clock == "both" else (options.clock,)
    ask = Asked(2.0 if options.quick else options.seconds, options.quick, options.node, clocks)
    results = with_progress(ask)
    console = Console(highlight=False)
    show(results, console)
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"written to {options.json}")
    best = list(results["node"].values())[: len(clocks)]  # with FIFO, if that is permitted
    return int(any(node["lost in"] + node["lost out"] > 0 for node in best))


class Asked(NamedTuple):
    """What to measure."""

    seconds: float  # of each run of the node
    quick: bool
    node_alone: bool
    clocks: tuple[str, ...]


def with_progress(ask: Asked) -> dict[str, Any]:
    """`measure` behind a bar, which is drawn a few times a second at most."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[time]}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", time="")

        def tell(what: str, total: float, done: float) -> None:
            words = f"{done:.0f} of {total:.0f} s" if done else "starts"
            progress.update(task, description=what, completed=done, total=total, time=words)
            progress.refresh()

        return measure(ask, tell)


def measure(ask: Asked, tell: Tell) -> dict[str, Any]:
    """All rows, on a ROS domain of their own. Returns plain values; times in s."""
    from benchmarks.ros2_processes import RATE, WAYS
    from benchmarks.ros2_rows import admittance, answered, as_one

    refused = prepare(RealTime(PRIORITY, lock_memory=False, awake=False))
    restore()
    priorities = (0,) if refused else (PRIORITY,) if ask.quick else (PRIORITY, 0)
    rounds = 0 if ask.node_alone else 1 if ask.quick else ROUNDS
    machine, before = loop_bench.machine(), _stolen()
    results: dict[str, Any] = {
        "machine": machine,
        "rate": RATE,
        "seconds": {"ways": rounds * SLICE, NODE: ask.seconds},
        "notes": [f"rows with FIFO left out: {line}" for line in refused],
        "messages": messages(),
        "node": {},
    }
    slices: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(prefix="ur-admittance-ros2-") as name:
        # The tests take lower domains; those between are the ports of ordinary connections.
        os.environ["ROS_DOMAIN_ID"] = str(215 + os.getpid() % 18)
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        os.environ["ROS_LOG_DIR"] = os.environ["UR_ADMITTANCE_RUNTIME"] = name
        folder = Path(name)
        for _, priority, way in product(range(rounds), priorities, WAYS):
            row = _named(way, priority)
            taken = answered(way, priority, SLICE, folder, partial(tell, row, SLICE))
            slices.setdefault(row, []).append(taken)
        for priority, clock in product(priorities, ask.clocks):
            row = _named(NODE if clock == "joint_states" else "the same, by a timer", priority)
            long = ask.seconds if priority == priorities[0] else min(ask.seconds, 10.0)
            told = partial(tell, row, long)
            results["node"][row] = admittance(clock, priority, long, folder, told)
    results["ways"] = {row: as_one(taken) for row, taken in slices.items()}
    stolen, passed = _stolen() - before
    machine["stolen"] = float(stolen / passed)
    return results


def _named(what: str, priority: int) -> str:
    return f"{what}, FIFO" if priority else what


def messages() -> dict[str, float]:
    """What it takes to read one message, s."""
    from geometry_msgs.msg import WrenchStamped
    from rclpy.serialization import deserialize_message, serialize_message
    from sensor_msgs.msg import JointState

    from ur_admittance import RobotModel
    from ur_admittance.robots.ros2.readers import JointReader, WrenchReader

    names = list(RobotModel.ur("ur5e").joint_names)
    state = JointState(name=names, position=[0.5] * 6, velocity=[0.1] * 6, effort=[1.0] * 6)
    wrench = WrenchStamped()
    wrench.header.frame_id = "tool0"
    joints, force = serialize_message(state), serialize_message(wrench)
    joint_reader, wrench_reader, out = JointReader(names), WrenchReader(), np.zeros((3, 6))
    rows = {
        "joint state, message object": lambda: deserialize_message(joints, JointState),
        "joint state, in place": lambda: joint_reader.read(joints, out[0], out[1]),
        "wrench, message object": lambda: deserialize_message(force, WrenchStamped),
        "wrench, in place": lambda: wrench_reader.read(force, out[2]),
    }
    return {name: _best(read) for name, read in rows.items()}


def _best(call: Callable[[], Any], count: int = 3000) -> float:
    """Time of one call, s: the best of five rounds."""
    rounds = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - begun) / count)
    return min(rounds)


def _stolen() -> np.ndarray:
    """Time so far that the host of a virtual machine gave to others, and all time; of all cores."""
    spent = np.array(Path("/proc/stat").read_text().split()[1:9], int)  # the last: stolen
    return np.array([spent[-1], spent.sum()])


# --- the tables ---


def show(results: dict[str, Any], console: Console) -> None:
    """Print the tables."""
    m, seconds = results["machine"], results["seconds"]
    console.print(
        f"{m['cpu']}, {m['cores']} cores, load {m['load']:.1f} before; {m['system']}; "
        f"Python {m['python']}\n{results['rate']:g} Hz; {seconds['ways']:g} s each way in turn, "
        f"{seconds[NODE]:g} s {NODE}; {100 * m['stolen']:.1f} % of it given to others by "
        "the host"
    )
    table = _table("Reading one message", ("us",))
    for name, time_taken in results["messages"].items():
        table.add_row(name, _us(time_taken))
    console.print(table)
    heads = ("p50", "p99", "p99.9", "max", "sent", "answers", "CPU %")
    table = _table("Wrench and joint state sent -> command taken by the arm, us", heads)
    for name, row in (results["ways"] | results["node"]).items():
        counts = (row["sent"], row["commands"], f"{100 * row['cpu']:.1f}")
        table.add_row(name, *map(_us, row["trip"].values()), *map(str, counts))
    console.print(table)
    heads = ("p50", "p99", "p99.9", "max", "ticks", "late", "missed", "stops", "lost")
    table = _table("Inside the node: wrench arrived -> command sent, us", heads)
    for name, row in results["node"].items():
        counts = (row["ticks"], row["late"], row["missed"], len(row["stops"]))
        lost = f"{row['lost in']}/{row['lost out']}"
        table.add_row(name, *map(_us, row["reaction"].values()), *map(str, counts), lost)
    console.print(table)
    table = _table("Time between two ticks, off the period by, us", heads[:4])
    for name, row in results["node"].items():
        table.add_row(name, *map(_us, row["lateness"].values()))
    console.print(table)
    for name, row in results["node"].items():
        begin, end = row["megabytes"]
        console.print(
            f"{name}: {row['rate']:.1f} ticks a second, stops included; a tick takes "
            f"{_us(row['tick']['p50'])} us (99.9 %: {_us(row['tick']['p99.9'])}); memory "
            f"{begin:.1f} MB at the begin, {end:.1f} at the end; the arm itself missed "
            f"{row['arm late']} of its deadlines"
        )
        if machine := row["C beside"]:
            console.print(
                f"  a bare loop in C beside it, above all in priority, woke a period late "
                f"{machine['late']} times; that would have stopped an arm {machine['stops']} times"
            )
        stops = Counter(map(_short, row["stops"]))
        for why, count in stops.most_common():
            console.print(f"  stopped and reset {count} times: {why}")
    for line in (
        "late: states that came half a period too late; missed: never seen, or only with the next",
        "stops: how often the arm was stopped; it was reset each time",
        "lost: messages to the node / commands to the arm that never arrived",
        *results["notes"],
    ):
        console.print(line)


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, padding=0, title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _short(why: str) -> str:
    """Its reasons, without numbers and advice."""
    reasons = [part for part in why.split("; ") if not part.startswith("what to do")]
    return re.sub(r"[\d.]+ ", "", "; ".join(reasons))


def _us(seconds: float) -> str:
    us = 1e6 * seconds
    return f"{us:.0f}" if us >= 10 else f"{us:.1f}"


if __name__ == "__main__":
    sys.exit(main())
