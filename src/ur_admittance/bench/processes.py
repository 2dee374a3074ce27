"""The processes that `bench.loop` measures, and those it loads the machine with: one role each.

Each is `python -m` this module with a role, takes orders on its standard input and answers on its
standard output, one JSON value a line.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.faults import StopReason
from ur_admittance.realtime import Deadlines, RealTime
from ur_admittance.robots.base import Robot, State
from ur_admittance.run import Run

RATE = 500.0  # Hz
PERIOD = 1.0 / RATE
_PUSH, _NOISE = 8.0, 0.1  # N, less than `safety.start_force`: it pushes from the start
_ROOM = 11.0  # s of samples beyond the length of a run, which may take 10 s to come to rest
_POLL = 0.001  # s between two looks of a reader: five times as often as the recorder


class StandIn(Robot):
    """An arm without wire or physics, woken by deadlines: it is where it was told to be.

    It measures what the loop cannot see: how late each waking is, and when the command comes back.
    """

    def __init__(self, model: RobotModel, seconds: float) -> None:
        """`seconds`: how long the run will be."""
        self._model = model
        self._state = State()
        self._state.q[:], self._state.qd[:] = model.home, 0.0
        # A second of pushing forth, a second back; noisy, since a frozen sensor stops the arm.
        pushes = np.random.default_rng(0).normal(0.0, _NOISE, (round(2 * RATE), 6))
        pushes[:, 1] += _PUSH * np.where(np.arange(len(pushes)) < RATE, 1.0, -1.0)
        self._pushes = list(pushes)
        self.room = round((seconds + _ROOM) * RATE)  # for so many samples
        self._lateness, self._reaction = np.zeros(self.room), np.zeros(self.room)
        self._deadlines: Deadlines | None = None
        self._count = 0
        self._first = self._due = 0.0
        self.cpu = self.wall = 0.0  # s, of the processor and of the clock, from the first waking on
        self.faults = 0  # pages that were not there when they were needed meanwhile

    @property
    def name(self) -> str:
        return "stand-in"

    @property
    def rate(self) -> float:
        return RATE

    @property
    def model(self) -> RobotModel:
        return self._model

    def connect(self) -> None:
        self._life = "connected"

    def wait(self) -> State:
        deadlines = self._deadlines or self._begin()
        due = deadlines.wait()
        state, count = self._state, self._count
        state.joint_time = state.wrench_time = now = time.monotonic()
        self._lateness[count] = now - due
        state.wrench = self._pushes[count % len(self._pushes)]
        self._due = due
        self._count = count = count + 1
        state.cycle = count + deadlines.missed
        return state

    def send_position(self, q_ref: ArrayLike) -> None:
        state = self._state
        self._reaction[self._count - 1] = time.monotonic() - state.wrench_time
        state.q[:] = q_ref

    def send_velocity(self, qd: ArrayLike) -> None:
        raise RobotError("send_velocity: the stand-in takes positions; set output.mode: position")

    def send_trajectory(self, q_ref: ArrayLike, qd: ArrayLike, time_from_start: float) -> None:
        self.send_position(q_ref)

    def stop(self) -> None:
        self.cpu = time.process_time() - self._cpu
        self.wall = time.monotonic() - self._begun
        self.faults = _page_faults() - self._faults

    def close(self) -> None:
        self._life = "closed"

    @property
    def lateness(self) -> np.ndarray:
        """Of each waking, s."""
        return self._lateness[1 : self._count]

    @property
    def reaction(self) -> np.ndarray:
        """From each waking, when the wrench arrives, to its command, s."""
        return self._reaction[1 : self._count]

    @property
    def cycles(self) -> int:
        """Deadlines from the first to the last that was met, the first not counted."""
        return round((self._due - self._first) * RATE)

    def _begin(self) -> Deadlines:
        self._cpu, self._faults = time.process_time(), _page_faults()
        self._begun = time.monotonic()
        self._deadlines = Deadlines(PERIOD, self.spin)
        self._first = self._due = self._begun + PERIOD
        return self._deadlines


class TimedBoard:
    """A blackboard, and what each publishing took, s."""

    def __init__(self, board: Blackboard, room: int) -> None:
        self.take_params, self.request, self._publish = (
            board.take_params,
            board.request,
            board.publish,
        )
        self._taken, self._count = np.zeros(room), 0
        self.reason: StopReason | None = None

    def publish(self, outputs: np.ndarray) -> None:
        begun = time.perf_counter()
        self._publish(outputs)
        self._taken[self._count] = time.perf_counter() - begun
        self._count += 1

    @property
    def taken(self) -> np.ndarray:
        return self._taken[: self._count]


# --- the control process ---


def control(robot: str, recording: str) -> None:
    """Own a blackboard, record it to `recording` unless that is empty, and run the loop as each
    order says: `seconds`, `priority`, `spin`.
    """
    model = RobotModel.ur("ur5e")
    config = Config.preset("hand-guiding").replace({"output.mode": "position"})
    controller = Controller(model, config)
    recorder, problem = None, ""
    with (
        Blackboard.create(robot, RATE, controller.live) as board,
        ExitStack() as stack,
    ):
        if recording:
            try:
                from ur_admittance.telemetry.recorder import Recorder

                recorder = stack.enter_context(Recorder(robot, recording, model))
            except (AdmittanceError, ImportError) as error:
                problem = f"not recorded: {error}"
        reader = Blackboard.attach(robot)
        _say({"ready": True, "problem": problem})
        for line in sys.stdin:
            _say(_drive(controller, board, reader, **json.loads(line)))
        recorded = recorder.close() if recorder else None
        _say(
            {
                "published": board.published,
                "written": recorded.written if recorded else 0,
                "lost": recorded.lost if recorded else 0,
                "problem": recorded.problem if recorded else problem,
            }
        )


def _drive(
    controller: Controller,
    board: Blackboard,
    reader: Reader,
    seconds: float,
    priority: int,
    spin: bool,
) -> dict[str, Any]:
    """Run the loop for so long; when it stops the arm for being late, begin again."""
    wishes = RealTime(priority=priority, lock_memory=priority > 0, awake=False, spin=spin)
    counted, timed_by_arm = ("ticks", "late", "missed"), ("cycles", "faults", "cpu", "wall")
    plain: dict[str, Any] = dict.fromkeys((*counted, *timed_by_arm), 0)
    stops: list[str] = []
    samples: dict[str, list[np.ndarray]] = {
        name: [] for name in ("lateness", "period", "tick", "reaction", "publish")
    }
    refused: list[str] = []
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > PERIOD:
        index = reader.index
        with StandIn(controller.model, left) as arm:
            timed = TimedBoard(board, arm.room)
            run = Run(arm, controller=controller, board=timed, real_time=wishes)
            run.follow(None)
            summary = run.drive(left, checked=True)
        records, _, _ = reader.since(index)
        for name in counted:
            plain[name] += getattr(summary, name)
        for name in timed_by_arm:
            plain[name] += getattr(arm, name)
        if summary.faulted and summary.reason:
            stops.append(summary.reason.text)
        refused = summary.refused
        for name, taken in (
            ("lateness", arm.lateness),
            ("reaction", arm.reaction),
            ("publish", timed.taken),
            ("period", records["inputs"]["dt"]),
            ("tick", records["timing"]["tick"]),
        ):
            samples[name].append(taken)
    in_ns = {name: np.rint(1e9 * np.hstack(s)).astype(int).tolist() for name, s in samples.items()}
    more = {"stops": stops, "refused": refused, "resident": _resident()}
    return plain | more | {"samples": in_ns}


def _page_faults() -> int:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt + usage.ru_majflt


def _resident() -> int:
    """Memory of this process that is in RAM, bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# --- what reads beside it ---


def readers(robot: str) -> None:
    """Attach once; then, for each order, split off a reader and say its process."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever was killed leaves no trace
    reader = Blackboard.attach(robot)
    _look(reader, 0)
    _say({"ready": True})
    for _ in sys.stdin:
        parent, child = os.getpid(), os.fork()
        if child == 0:
            _read(reader, parent)
        _say(child)


def _read(reader: Reader, parent: int) -> None:
    """Read every record, and the newest again, until the nursery has gone."""
    index = reader.index
    while os.getppid() == parent:
        index = _look(reader, index)
        time.sleep(_POLL)
    os._exit(0)


def _look(reader: Reader, index: int) -> int:
    _, index, _ = reader.since(index)
    reader.latest()
    return index


ROLES: dict[str, Callable[..., None]] = {"control": control, "readers": readers}


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    ROLES[sys.argv[1]](*sys.argv[2:])
