"""Our RTDE client beside ur_rtde, on the same kind of fake controller, one after the other.

    python -m benchmarks.rtde [--seconds 60] [--priority 60] [--only ROW] [--json PATH]

Each reads joints and wrench, and sends joint speeds of zero, as often as states come: our client
alone, ur_rtde, both with real-time rights, and our client in the whole loop with controller,
limits, blackboard and recording. On the wire: from a state's way through the loopback to that of
the first command after it, by the kernel's stamps, the same for all; and how many states had one
before the next. In the process: from a state's arrival (ur_rtde: from its reading) to the return
of the call that sends. The client counts states that it never saw, or saw twice; the system says
what it cost.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import machine
from benchmarks.rtde_sniffer import Sniffer, quantiles
from ur_admittance.realtime import RealTime, prepare, restore

PERIOD = 0.002  # s
OURS, THEIRS = "ours", "ur_rtde"
ROWS = (
    OURS, THEIRS, "ours, real-time", "ur_rtde, real-time", "ours, real-time, spinning",
    "our whole loop, real-time",
)  # fmt: skip
PATIENCE = 60.0  # s for a client to start and to end
WANTED = ["timestamp", "actual_q", "actual_qd", "actual_TCP_force"]
NOTHING: dict[str, Any] = {
    "states": 0, "lost": 0, "doubled": 0, "cpu": float("nan"), "stopped": "did not end",
    "inside": quantiles([]), "window": (0.0, float("inf")),
}  # fmt: skip
COLUMNS = ("p50", "p99", "p99.9", "max")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rtde", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="each")
    parser.add_argument("--priority", type=int, default=60, help="real-time, 1 to 99; 0: none")
    parser.add_argument("--only", choices=ROWS, action="append", help="this row; may be repeated")
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "rtde.json")
    parser.add_argument("--client", choices=ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--host", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        work = ours if options.client.startswith(OURS) else ur_rtde
        if "spinning" in options.client:
            work = functools.partial(ours, spin=True)
        if options.client == ROWS[-1]:
            work = whole
        print(json.dumps(work(options.host, options.seconds, options.priority)))
        return 0
    rows = [name for name in options.only or ROWS if _there(name)]
    results: dict[str, Any] = {"machine": machine(), "seconds": options.seconds}
    results["rows"] = {name: measure(name, options.seconds, options.priority) for name in rows}
    _show(results)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def _there(name: str) -> bool:
    return not name.startswith(THEIRS) or importlib.util.find_spec("rtde_control") is not None


def measure(name: str, seconds: float, priority: int) -> dict[str, Any]:
    """One client on a fake controller of its own, and who listens to them."""
    from ur_fake.robot import FakeRobot

    host = f"127.{150 + ROWS.index(name)}.1.{os.getpid() % 254 + 1}"
    with FakeRobot(host=host, ports=0, process=True, priority=priority):
        sniffer = Sniffer(host)
        command = [sys.executable, "-m", "benchmarks.rtde", "--client", name, "--host", host]
        rights = priority - 5 if priority and "real-time" in name else 0
        command += ["--seconds", str(seconds), "--priority", str(rights)]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + seconds + PATIENCE
        try:
            sniffer.run(lambda: client.poll() is None and time.monotonic() < deadline)
        finally:
            sniffer.close()
            client.kill()
        out, _ = client.communicate()
    row = json.loads(out.strip().splitlines()[-1]) if out.strip() else NOTHING
    reactions, answered = sniffer.reactions(row["window"])
    return {**row, "answered": answered, "wire": quantiles(reactions)}


def ours(host: str, seconds: float, priority: int, spin: bool = False) -> dict[str, Any]:
    """Our client alone: a state in, a command out."""
    from ur_admittance.robots.rtde.robot import RtdeRobot

    zero, inside = np.zeros(6), []
    with RtdeRobot(host) as robot:
        if priority:
            prepare(RealTime(priority))
        state = robot.wait()
        robot.spin = spin
        first, seen, before, begun = state.cycle, 0, _cpu(), time.time()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not robot.stopped_by:
            state = robot.wait()
            robot.send_velocity(zero)
            inside.append(time.monotonic() - state.joint_time)
            seen += 1
        cpu, window = (_cpu() - before) / seconds, (begun, time.time())
        restore()
        return {
            "window": window,
            "states": state.cycle - first,
            "lost": state.cycle - first - seen,
            "doubled": robot.session.states.doubled,
            "cpu": cpu,
            "stopped": str(robot.stopped_by or ""),
            "inside": quantiles(inside),
        }


def whole(host: str, seconds: float, priority: int) -> dict[str, Any]:
    """Our client with the loop, the controller, a blackboard and a recording."""
    from ur_admittance import Config, Controller
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.robots.rtde.robot import RtdeRobot
    from ur_admittance.run import Run
    from ur_admittance.telemetry.recorder import Recorder

    config = Config.preset("hand-guiding")
    with RtdeRobot(host, config=config) as robot, tempfile.TemporaryDirectory() as folder:
        controller = Controller(robot.model, config.replace({"control_rate": robot.rate}))
        with (
            Blackboard.create(robot.name, robot.rate, controller.live) as board,
            Recorder(robot.name, Path(folder) / "run.mcap", robot.model) as recorder,
        ):
            before, begun = _cpu(), [0.0]
            run = Run(
                robot,
                controller=controller,
                board=board,
                real_time=RealTime(priority) if priority else None,
            )
            summary = run.drive(seconds, begun=lambda: begun.append(time.time()))
            cpu, window = (_cpu() - before) / seconds, (begun[-1], time.time())
            recorded = recorder.close(summary.as_dict())
        unrecorded = f"{recorded.lost} not recorded" if recorded.lost else ""
        times = {name: summary.reaction.quantile(float(name[1:]) / 100) for name in COLUMNS[:3]}
        return {
            "window": window,
            "states": summary.ticks + summary.missed,
            "lost": summary.missed,
            "doubled": robot.session.states.doubled,
            "cpu": cpu,
            "stopped": "; ".join(filter(None, [str(summary.reason or ""), unrecorded])),
            "recorded": recorded.written,
            "inside": {k: 1e6 * v for k, v in (times | {"max": summary.reaction.most}).items()},
        }


def ur_rtde(host: str, seconds: float, priority: int) -> dict[str, Any]:
    """The same with ur_rtde, paced as its documentation does."""
    import rtde_control
    import rtde_receive

    receive = rtde_receive.RTDEReceiveInterface(host, 500.0, WANTED, rt_priority=priority)
    control = _tried(lambda: rtde_control.RTDEControlInterface(host, 500.0, rt_priority=priority))
    if priority:
        prepare(RealTime(priority))
    zero, stamps, inside, before = [0.0] * 6, [], [], _cpu()
    begun, end = time.time(), time.monotonic() + seconds
    while time.monotonic() < end:
        started = control.initPeriod()
        stamps.append(receive.getTimestamp())
        came = time.perf_counter()
        receive.getActualQ()
        receive.getActualTCPForce()
        control.speedJ(zero, 5.0, PERIOD)
        inside.append(time.perf_counter() - came)
        control.waitPeriod(started)
    cpu, window = (_cpu() - before) / seconds, (begun, time.time())
    restore()
    control.speedStop()
    control.stopScript()
    steps = np.rint(np.diff(stamps) / PERIOD)
    return {
        "window": window,
        "states": int(np.rint((stamps[-1] - stamps[0]) / PERIOD)),
        "lost": int(np.sum(steps[steps > 1] - 1)),
        "doubled": int(np.sum(steps < 1)),
        "cpu": cpu,
        "stopped": "",
        "inside": quantiles(inside),
    }


def _tried(make: Callable[[], Any]) -> Any:
    """It allows five seconds for its script to be compiled; a busy machine takes longer once."""
    for _ in range(4):
        try:
            return make()
        except RuntimeError:
            time.sleep(1.0)
    return make()


def _cpu() -> float:
    times = os.times()
    return times.user + times.system


def _show(results: dict[str, Any]) -> None:
    console = Console(width=130)
    console.print(f"state to command, {results['seconds']:g} s each")
    times = [f"{name} us" for name in COLUMNS]
    table = Table("", "", *times, "answered", "states", "lost", "doubled", "CPU")
    for name, row in results["rows"].items():
        counts = [str(row[column]) for column in ("states", "lost", "doubled")]
        for where, title in (("wire", "on the wire"), ("inside", "in the process")):
            values = [f"{row[where][column]:.0f}" for column in COLUMNS]
            more = [f"{100 * row['answered']:.1f} %", *counts, f"{100 * row['cpu']:.1f} %"]
            words = name if where == "wire" else row["stopped"]
            table.add_row(words, title, *values, *(more if where == "wire" else [""] * 5))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
