"""How `benchmarks.ros2` measures one row: two processes for a while, and what both noted."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future
from std_srvs.srv import Trigger

from benchmarks import witness
from benchmarks.ros2_processes import ARM_PRIORITY, PROCESSES, RATE, ROW, STATES
from ur_admittance.blackboard import Blackboard
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros2 import topics, wire

QUANTILES = {"p50": 50.0, "p99": 99.0, "p99.9": 99.9, "max": 100.0}
_SETTLE = 1.0  # s that do not count
_LOOK = 0.2  # s between two looks at the node
_START = 300.0  # s for a process that may have to compile something first
_PATIENCE = 30.0  # s for a process to end, or to say its last word
_ROWS, _COMPLAINTS = "rows.npy", "complaints.txt"
_NODE = ("-c", "from ur_admittance.cli import main; main()", "run", "--robot", "ros2", "--json")
_NODE += ("--model", "ur5e", "--remote-reset", "--keep-trying", "--config")
_CONFIG = "extends: preset:hand-guiding\noutput: {mode: velocity}\n"

Tell = Callable[[float], None]  # told how many s have been measured


def answered(way: str, priority: int, seconds: float, folder: Path, tell: Tell) -> dict[str, Any]:
    """The arm, and a node that only answers its states."""
    tell(0.0)
    with (
        _running(folder, "-m", PROCESSES, "answer", way, str(priority)) as node,
        _running(folder, "-m", PROCESSES, "arm", str(folder / _ROWS), str(RATE), "tagged") as arm,
    ):
        _wait_for_commands(arm, node, folder)
        window = Window(node.pid)
        while (passed := time.monotonic() - window.begun) < seconds:
            time.sleep(min(1.0, seconds - passed))
            tell(passed)
        window.close()
        _end(arm)
    return {**_noted(folder, window), "cpu": window.cpu}


def as_one(slices: list[dict[str, Any]]) -> dict[str, Any]:
    """Slices of the same length, of the same row."""
    counts = {name: sum(s[name] for s in slices) for name in ("sent", "commands", "arm late")}
    trips = np.concatenate([s["trips"] for s in slices])
    cpu = float(np.mean([s["cpu"] for s in slices]))
    return {**counts, "trip": quantiles(trips), "cpu": cpu}


def admittance(
    clock: str, priority: int, seconds: float, folder: Path, tell: Tell
) -> dict[str, Any]:
    """The arm, and `ur-admittance run --robot ros2`; after a stop it is asked to go on.

    By its joint states at 500 Hz, or by a timer with joint states at 1000 Hz.
    """
    tell(0.0)
    above = max(ARM_PRIORITY, priority) + 1 if priority else 0
    (config := folder / "config.yaml").write_text(f"{_CONFIG}clock: {clock}\n")
    real_time = ("--priority", str(priority), "--awake" if priority else "--no-awake")
    with (
        _running(folder, "-m", PROCESSES, "arm", str(folder / _ROWS), str(STATES[clock])) as arm,
        _running(folder, *_NODE, str(config), *real_time) as node,
    ):
        _wait_for_commands(arm, node, folder)
        with wire.started():
            attendant = Attendant()
            window = Window(node.pid)
            with witness.beside(RATE, seconds, above) as machine:
                while (passed := time.monotonic() - window.begun) < seconds:
                    attendant.look()
                    tell(passed)
                window.close()
            attendant.last_word()
        _end(node)
        _end(arm)
    noted = _noted(folder, window)
    return {
        "trip": quantiles(noted.pop("trips")),
        **noted,
        **attendant.counted(window),
        "cpu": window.cpu,
        "megabytes": window.megabytes,
        "C beside": machine,
    }


class Attendant:
    """Reads the blackboard and the diagnostics of the node, and asks it to go on after a stop.

    Attributes:
        stops: why the arm was stopped, each time.
        lost: messages to the node that never reached it, while it was active.
    """

    def __init__(self) -> None:
        self.stops: list[str] = []
        self.lost = 0
        self._counted, self._stopped, self._heard = 0, False, 0.0
        self._board = Blackboard.attach("ros2")
        self._index = self._board.index
        self._timings: list[np.ndarray] = []
        self._reset: Future | None = None
        node = rclpy.create_node("benchmark_attendant")
        node.create_subscription(DiagnosticArray, topics.DIAGNOSTICS, self._hear, 10)
        self._resets = node.create_client(Trigger, topics.RESET.replace("~", f"/{topics.NODE}"))
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)

    def look(self) -> None:
        """Take what is there, or comes within a moment."""
        self._executor.spin_once(timeout_sec=_LOOK)
        records, self._index, overtaken = self._board.since(self._index)
        if overtaken:
            raise RobotError(f"benchmark: {overtaken} ticks were not read in time")
        self._timings.append(records["timing"].copy())

    def last_word(self) -> None:
        """Wait for diagnostics that tell of all until now."""
        asked = time.monotonic()
        while self._heard < asked:
            self.look()
            if time.monotonic() > asked + _PATIENCE:
                raise RobotError("benchmark: the node is silent; what it said is above")

    def counted(self, window: Window) -> dict[str, Any]:
        """What the node measured of itself in a window of time."""
        timing = np.concatenate(self._timings)
        timing = timing[(timing["arrived"] >= window.begun) & (timing["arrived"] < window.ended)]
        new = np.diff(timing["arrived"], prepend=0.0) > 0.0  # else the arm was silent
        return {
            "ticks": len(timing),
            "rate": len(timing) / (window.ended - window.begun),
            "late": _grown(timing["late"]),
            "missed": _grown(timing["missed"]),
            "reaction": quantiles(timing["reaction"][new]),
            "tick": quantiles(timing["tick"]),
            "lateness": quantiles(np.abs(np.diff(timing["arrived"]) - 1.0 / RATE)),
            "stops": self.stops,
            "lost in": self.lost,
        }

    def _hear(self, message: DiagnosticArray) -> None:
        (status,) = message.status
        values = {pair.key: pair.value for pair in status.values}
        lost, self._heard = int(values["lost messages"]), time.monotonic()
        stopped = status.level == DiagnosticStatus.ERROR and status.message.startswith("stopped")
        if stopped or not self._stopped:
            self.lost += lost - self._counted
            self._counted = lost
        else:  # just about to begin again, and so does the node's count
            self._counted = 0
        if stopped and not self._stopped:
            self.stops.append(status.message.removeprefix("stopped: ").rpartition("; call")[0])
        if stopped and (self._reset is None or self._reset.done()):
            self._reset = self._resets.call_async(Trigger.Request())
        self._stopped = stopped


class Window:
    """A process between two moments.

    Attributes:
        begun, ended: s on the monotonic clock.
        cpu: share of a core that all its threads took.
        megabytes: resident in memory at both moments.
    """

    def __init__(self, process: int) -> None:
        self._files = Path(f"/proc/{process}")
        self.megabytes = [self._memory()]
        self.begun, self._spent = time.monotonic(), self._time_spent()
        self.ended, self.cpu = np.inf, np.nan

    def close(self) -> None:
        self.ended = time.monotonic()
        self.cpu = (self._time_spent() - self._spent) / (self.ended - self.begun)
        self.megabytes.append(self._memory())

    def _time_spent(self) -> float:
        fields = (self._files / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # user, system

    def _memory(self) -> float:
        pages = int((self._files / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def quantiles(seconds: np.ndarray) -> dict[str, float]:
    values = np.percentile(seconds, list(QUANTILES.values())) if len(seconds) else [np.nan] * 4
    return dict(zip(QUANTILES, map(float, values), strict=True))


@contextmanager
def _running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process, killed at the end. What it complains of goes to a file."""
    with (
        (folder / _COMPLAINTS).open("a") as complaints,
        subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=complaints, text=True
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def _wait_for_commands(
    arm: subprocess.Popen[str], node: subprocess.Popen[str], folder: Path
) -> None:
    """Return a while after the arm was told something for the first time."""
    heard: Any = arm.stdout
    deadline, ready = time.monotonic() + _START, []
    while not ready and node.poll() is None and time.monotonic() < deadline:
        ready = select.select([heard], [], [], 1.0)[0]
    if not ready or not heard.readline():
        said = (folder / _COMPLAINTS).read_text()
        raise RobotError(f"benchmark: no command reached the arm; the processes said:\n{said}")
    time.sleep(_SETTLE)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate(timeout=_PATIENCE)


def _noted(folder: Path, window: Window) -> dict[str, Any]:
    """What the arm noted in a window of time."""
    rows = np.load(folder / _ROWS)
    (folder / _ROWS).unlink()
    rows = rows[(rows[:, 0] >= window.begun) & (rows[:, 0] < window.ended)]
    trips = rows[:, ROW.index("trip")]
    first, last = (dict(zip(ROW, row, strict=True)) for row in (rows[0], rows[-1]))
    return {
        "sent": len(rows),
        "commands": round(last["commands"] - first["commands"]) + 1,
        "lost out": round(last["lost"] - first["lost"]),
        "arm late": round(last["missed"] - first["missed"]),
        "trips": trips[np.isfinite(trips)],
    }


def _grown(counter: np.ndarray) -> int:
    """By how much a counter has grown that may begin anew."""
    steps = np.diff(counter)
    return int(np.where(steps < 0, counter[1:], steps).sum())
