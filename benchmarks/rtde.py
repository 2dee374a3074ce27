"""Our RTDE client beside ur_rtde, on the same fake controller, one after the other in one run.

    python -m benchmarks.rtde [--seconds 600] [--priority 60] [--json PATH]

Each reads joints and wrench, and sends joint speeds of zero, as often as states come. A tap between
client and controller measures how long after a state a command comes back. The client counts states
that it never saw, or saw twice, and times itself from a state's arrival (ur_rtde: from its reading)
to the return of the call that sends; the system says what it cost. These two run without real-time
rights: with them ur_rtde, which polls, lost the robot on two cores. Two more rows are ours with
them, alone, and with the whole loop around it: controller, blackboard, limits.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import machine
from benchmarks.rtde_tap import Tap
from ur_admittance.realtime import RealTime, prepare, restore

PERIOD = 0.002  # s
ROWS = ("ours", "ur_rtde", "ours, real-time", "our whole loop, real-time")
PATIENCE = 90.0  # s for a client to start and to end
NOTHING: dict[str, Any] = {
    "states": 0,
    "lost": 0,
    "doubled": 0,
    "cpu": 0.0,
    "stopped": "did not end",
}
NOTHING["inside"] = dict.fromkeys(("p50", "p99", "p99.9", "max"), float("nan"))
COLUMNS = ("p50", "p99", "p99.9", "max")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rtde", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="each")
    parser.add_argument("--priority", type=int, default=60, help="real-time, 1 to 99; 0: none")
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "rtde.json")
    parser.add_argument("--client", choices=ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--host", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        work = dict(zip(ROWS, (ours, ur_rtde, ours, whole), strict=True))[options.client]
        print(json.dumps(work(options.host, options.seconds, options.priority)))
        return 0
    rows = [name for name in ROWS if name != "ur_rtde" or importlib.util.find_spec("rtde_control")]
    results: dict[str, Any] = {"machine": machine(), "seconds": options.seconds}
    results["rows"] = {name: measure(name, options.seconds, options.priority) for name in rows}
    _show(results)
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def measure(name: str, seconds: float, priority: int) -> dict[str, Any]:
    """One client on a fake controller of its own, with the tap between them."""
    from ur_admittance.fake_robot.robot import FakeRobot

    pid, place = os.getpid(), ROWS.index(name)
    host, behind = (f"127.{150 + place}.{side}.{pid % 254 + 1}" for side in (1, 2))
    with FakeRobot(host=behind, ports=0, process=True, priority=priority):
        tap = Tap(host, behind)
        command = [sys.executable, "-m", "benchmarks.rtde", "--client", name, "--host", host]
        rights = priority - 5 if priority and "real-time" in name else 0
        command += ["--seconds", str(seconds), "--priority", str(rights)]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if priority:
            prepare(RealTime(priority - 2, lock_memory=False))
        deadline = time.monotonic() + seconds + PATIENCE
        try:
            tap.run(lambda: client.poll() is None and time.monotonic() < deadline)
        finally:
            restore()
            tap.close()
            client.kill()
        out, _ = client.communicate()
    if not out.strip():
        return {**NOTHING, "reaction": tap.quantiles()}
    return {**json.loads(out.strip().splitlines()[-1]), "reaction": tap.quantiles()}


def ours(host: str, seconds: float, priority: int) -> dict[str, Any]:
    """Our client alone: a state in, a command out."""
    from ur_admittance.robots.rtde.robot import RtdeRobot

    zero, inside = np.zeros(6), []
    with RtdeRobot(host) as robot:
        if priority:
            prepare(RealTime(priority))
        state = robot.wait()
        first, seen, before = state.cycle, 0, _cpu()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not robot.stopped_by:
            state = robot.wait()
            robot.send_velocity(zero)
            inside.append(time.monotonic() - state.joint_time)
            seen += 1
        cpu = (_cpu() - before) / seconds
        restore()
        return {
            "states": state.cycle - first,
            "lost": state.cycle - first - seen,
            "doubled": robot.session.states.doubled,
            "cpu": cpu,
            "stopped": robot.stopped_by,
            "inside": _quantiles(inside),
        }


def whole(host: str, seconds: float, priority: int) -> dict[str, Any]:
    """Our client with the loop, the controller and a blackboard."""
    from ur_admittance import Config, Controller, loop
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.robots.rtde.robot import RtdeRobot

    config = Config.preset("hand-guiding")
    with RtdeRobot(host, config=config) as robot:
        controller = Controller(robot.model, config)
        with Blackboard.create(robot.name, robot.rate, config, controller.params) as board:
            before = _cpu()
            summary = loop.run(
                robot,
                controller,
                seconds=seconds,
                board=board,
                real_time=RealTime(priority) if priority else None,
            )
            cpu = (_cpu() - before) / seconds
        return {
            "states": summary.ticks + summary.missed,
            "lost": summary.missed,
            "doubled": robot.session.states.doubled,
            "cpu": cpu,
            "stopped": "; ".join(summary.words),
            "inside": {
                "p50": 1e6 * summary.reaction.quantile(0.5),
                "p99": 1e6 * summary.reaction.quantile(0.99),
                "p99.9": 1e6 * summary.reaction.quantile(0.999),
                "max": 1e6 * summary.reaction.most,
            },
        }


def ur_rtde(host: str, seconds: float, priority: int) -> dict[str, Any]:
    """The same with ur_rtde, paced as its documentation does."""
    import rtde_control
    import rtde_receive

    receive = rtde_receive.RTDEReceiveInterface(host, 500.0)
    control = _tried(lambda: rtde_control.RTDEControlInterface(host, 500.0))
    zero, stamps, inside, before = [0.0] * 6, [], [], _cpu()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        started = control.initPeriod()
        stamps.append(receive.getTimestamp())
        came = time.perf_counter()
        receive.getActualQ()
        receive.getActualTCPForce()
        control.speedJ(zero, 5.0, PERIOD)
        inside.append(time.perf_counter() - came)
        control.waitPeriod(started)
    cpu = (_cpu() - before) / seconds
    control.speedStop()
    control.stopScript()
    steps = np.rint(np.diff(stamps) / PERIOD)
    return {
        "states": int(np.rint((stamps[-1] - stamps[0]) / PERIOD)),
        "lost": int(np.sum(steps[steps > 1] - 1)),
        "doubled": int(np.sum(steps < 1)),
        "cpu": cpu,
        "stopped": "",
        "inside": _quantiles(inside),
    }


def _quantiles(seconds: list[float]) -> dict[str, float]:
    """us."""
    values = 1e6 * np.array(seconds)
    p50, p99, p999 = np.percentile(values, (50, 99, 99.9))
    return {"p50": p50, "p99": p99, "p99.9": p999, "max": float(values.max())}


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
    console = Console(width=120)
    table = Table("", "", *(f"{name} us" for name in COLUMNS), "states", "lost", "doubled", "CPU")
    for name, row in results["rows"].items():
        counts = [str(row[column]) for column in ("states", "lost", "doubled")]
        for where, title in (("inside", "in the process"), ("reaction", "at the tap")):
            times = [f"{row[where][column]:.0f}" for column in COLUMNS]
            more = [*counts, f"{100 * row['cpu']:.0f} %"] if where == "inside" else [""] * 4
            table.add_row(name if where == "inside" else row["stopped"], title, *times, *more)
    console.print(f"state to command, {results['seconds']:g} s each")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
