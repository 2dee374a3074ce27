"""How well the fake controller keeps its time, and what it costs.

    python -m benchmarks.fake_robot [--minutes 10] [--priority 0] [--json PATH]

Two RTDE clients at 500 Hz, each a process that only receives, beside a bare timer in a third: are
timestamps 2 ms apart, is anything lost or doubled, how late does each packet come, and which share
of a core does the controller take?
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import machine
from ur_admittance.realtime import Deadlines
from ur_fake.robot import FakeRobot

PERIOD = 0.002  # s
CLIENTS = 2
OUTPUTS = (
    "timestamp,target_q,target_qd,actual_q,actual_qd,actual_current,actual_TCP_pose,"
    "actual_TCP_speed,actual_TCP_force,ft_raw_wrench,robot_mode,safety_mode,safety_status_bits,"
    "runtime_state,speed_scaling,output_int_register_0"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fake_robot", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument(
        "--json", type=Path, default=Path(__file__).parent / "fake_robot.json", metavar="PATH"
    )
    parser.add_argument("--priority", type=int, default=0, help="of the controller, 1 to 99")
    options = parser.parse_args()
    console = Console()
    measured = run(60.0 * options.minutes, options.priority)
    results = {"machine": machine(), "minutes": options.minutes, **measured}
    _show(console, results)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"written to {options.json}")
    clean = all(row["lost"] == 0 and row["doubled"] == 0 for row in results["clients"])
    return 0 if clean else 1


def run(seconds: float, priority: int = 0) -> dict[str, Any]:
    """Clients and timer for so long, s. Returns what each has seen."""
    context = get_context("spawn")
    cycles = int(seconds / PERIOD)
    with FakeRobot(process=True, priority=priority) as robot:
        jobs: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
            (receive, (robot.host, robot.ports["rtde"], cycles))
        ] * CLIENTS
        jobs.append((tick, (cycles,)))
        under_way = []
        for work, arguments in jobs:
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(*arguments, theirs))
            process.start()
            under_way.append((process, ours))
        before, since = cpu_seconds(robot.pid), time.monotonic()
        seen = [pipe.recv() for _, pipe in under_way]
        share = (cpu_seconds(robot.pid) - before) / (time.monotonic() - since)
        for process, _ in under_way:
            process.join()
        missed = robot.state()["missed"]
    return {"clients": seen[:CLIENTS], "timer": seen[-1], "cpu": share, "missed": missed}


def receive(host: str, port: int, cycles: int, done: Connection) -> None:
    """A client: what came, and when."""
    stamps, arrivals = np.empty(cycles), np.empty(cycles)
    with socket.create_connection((host, port)) as sock:
        stream = sock.makefile("rb")
        _ask(sock, stream, b"V", struct.pack(">H", 2))
        _ask(sock, stream, b"O", struct.pack(">d", 500.0) + OUTPUTS.encode())
        _ask(sock, stream, b"S", b"")
        for i in range(cycles):
            size = struct.unpack(">H", stream.read(2))[0]
            packet = stream.read(size - 2)
            arrivals[i] = time.monotonic()
            stamps[i] = struct.unpack_from(">d", packet, 2)[0]
    steps = np.rint(np.diff(stamps) / PERIOD)
    done.send(
        {
            "packets": cycles,
            "lost": int(np.sum(steps[steps > 1] - 1)),
            "doubled": int(np.sum(steps < 1)),
            "apart": float(np.abs(np.diff(stamps) - PERIOD).max()),
            "seconds": float(arrivals[-1] - arrivals[0]),
            "controller_seconds": float(stamps[-1] - stamps[0]),
            **_lateness(arrivals - stamps),
        }
    )


def tick(cycles: int, done: Connection) -> None:
    """A bare timer: how late this machine is by itself."""
    deadlines = Deadlines(PERIOD)
    late = np.empty(cycles)
    for i in range(cycles):
        reached = deadlines.wait()
        late[i] = time.monotonic() - reached
    done.send({"packets": cycles, **_lateness(late, least=0.0)})


def cpu_seconds(pid: int | None) -> float:
    """CPU time of a process and of its children that live, s."""
    total, wanted = 0.0, {pid}
    for path in sorted(Path("/proc").glob("[0-9]*/stat")):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.parent.name) in wanted or int(fields[1]) in wanted:
            total += (int(fields[11]) + int(fields[12])) / 100.0
    return total


def _ask(sock: socket.socket, stream: Any, kind: bytes, payload: bytes) -> None:
    sock.sendall(struct.pack(">H", 3 + len(payload)) + kind + payload)
    size = struct.unpack(">H", stream.read(2))[0]
    stream.read(size - 2)


def _lateness(offsets: np.ndarray, least: float | None = None) -> dict[str, float]:
    """Beyond the promptest packet, or a given one, us."""
    late = 1e6 * (offsets - (offsets.min() if least is None else least))
    p50, p99, p999 = np.percentile(late, (50, 99, 99.9))
    return {
        "p50": float(p50),
        "p99": float(p99),
        "p99.9": float(p999),
        "max": float(late.max()),
        "over_2ms": float(np.mean(late > 2000.0)),
    }


def _show(console: Console, results: dict[str, Any]) -> None:
    table = Table("", "packets", "lost", "doubled", "p50 us", "p99", "p99.9", "max", "over 2 ms")
    rows = [(f"client {i + 1}", row) for i, row in enumerate(results["clients"])]
    for name, row in [*rows, ("bare timer", results["timer"])]:
        late = [f"{row[column]:.0f}" for column in ("p50", "p99", "p99.9", "max")]
        counts = [str(row.get(column, "")) for column in ("packets", "lost", "doubled")]
        table.add_row(name, *counts, *late, f"{100 * row['over_2ms']:.3f} %")
    console.print(table)
    first = results["clients"][0]
    console.print(
        f"timestamps 2 ms apart within {1e9 * max(r['apart'] for r in results['clients']):.3f} ns; "
        f"{first['controller_seconds']:.3f} s of the controller in {first['seconds']:.3f} s; "
        f"{results['missed']} cycles given up; {100 * results['cpu']:.0f} % of a core"
    )


if __name__ == "__main__":
    sys.exit(main())
