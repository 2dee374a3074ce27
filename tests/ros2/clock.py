"""One simulated clock for all processes of a graph: the arm's, and it waits for whoever is late.

The arm's process lets time pass, where it would sleep until its next cycle: only when every node
that listens has taken the last joint state and come back for another, and never faster than the
clock on the wall. What such a node commanded has arrived before the arm goes on. So every state is
answered, in the same simulated instant, however busy the machine is; and a run is the same on all.
It does not wait for a process that is dead or suspended. The guard of velocity mode reads the same
clock (`guard_process.py`): what the machine pauses is no silence to it.

    python -m tests.ros2.clock FILE arm MODULE [ARGUMENT...]
    python -m tests.ros2.clock FILE SLOT VERB [ARGUMENT...]

starts the arm that is a module, or a verb of the command line: `sim-ros2` is an arm, others are
nodes. The code under test is not changed: it is `time` and rclpy that tell another time here.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import os
import runpy
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

JOINT_STATES = "/joint_states"
COMMANDS = (
    "/forward_velocity_controller/commands",
    "/forward_position_controller/commands",
    "/scaled_joint_trajectory_controller/joint_trajectory",
)
SLOTS = 16  # processes that may listen
CLOCK = "UR_ADMITTANCE_CLOCK"  # in the environment of what a process starts: its slot, and the file
_WORDS = 2 + len(COMMANDS)  # of one slot: the newest state taken, commands sent by topic, process
_PATIENCE = 60.0  # s on the wall, for a process that does not come back though it lives
_NEVER_CAME = 4.0  # s on the wall, for a command that was lost; heartbeats are 3 s apart
_GUARDED = ("run", "play")  # verbs that start a guard
_PR_SET_PDEATHSIG = 1
_LOOK = 5e-4  # s on the wall, between two looks at the others

# Before anything replaces them.
wall, _sleep = time.monotonic, time.sleep


class Clock:
    """The file that the processes of a graph share.

    Attributes:
        words: all of it: now, how many joint states the arm has sent, and the slots.
    """

    def __init__(self, path: Path) -> None:
        new = not path.exists()
        mode = "w+" if new else "r+"
        self.path = path
        self.words = np.memmap(path, np.float64, mode, shape=(2 + SLOTS * _WORDS,))
        self._now = self.words[:1].data
        if new:
            self.words[0] = wall()

    def now(self) -> float:
        """The simulated time, s."""
        return self._now[0]

    def now_ns(self) -> int:
        """Likewise in ns: so long ago that whatever DDS has stamped arrives now."""
        return int(1e9 * self._now[0])

    def advance(self, seconds: float) -> None:
        self.words[0] = round(self.words[0] + seconds, 9)

    def slot(self, number: int) -> np.ndarray:
        """The newest state that a process has taken, 0 while it does not listen; commands sent;
        its number.
        """
        return self.words[2 + number * _WORDS :][:_WORDS]

    def told(self, topic: int) -> float:
        """How many commands of a kind all processes have sent."""
        return float(self.words[2:].reshape(SLOTS, _WORDS)[:, 1 + topic].sum())

    def sends(self, topic: int) -> bool:
        """Whether a process that has sent commands of a kind listens, and so may send more."""
        return any(
            self.slot(number)[0] and self.slot(number)[1 + topic] and not self.suspended(number)
            for number in range(SLOTS)
        )

    def suspended(self, number: int) -> bool:
        """Whether the process of a slot is dead, or stopped by a signal."""
        try:
            stat = Path(f"/proc/{int(self.slot(number)[-1])}/stat").read_text()
        except OSError:
            return True
        return stat.rpartition(")")[2].split()[0] in "TtZX"

    def trace(self, *, guards: bool = False) -> np.ndarray:
        """Every command so far: slot, kind (see `COMMANDS`), when [s], six numbers; (n, 9).

        Args:
            guards: also what guards have sent, each under its node's slot, after what that sent.
        """
        files = sorted(self.path.parent.glob(f"{self.path.name}.trace.*"))
        files += self.path.parent.glob(f"{self.path.name}.guard.*") if guards else []
        whole = [file.read_bytes() for file in files]  # but for a row that is being written
        rows = [np.frombuffer(row[: len(row) // 72 * 72]).reshape(-1, 9) for row in whole]
        return np.concatenate([np.empty((0, 9)), *rows])


def _replace(owner: Any, name: str, new: Any, undo: list[Callable[[], None]]) -> Any:
    old = getattr(owner, name)
    setattr(owner, name, new)
    undo.append(lambda: setattr(owner, name, old))
    return old


def end_with_parent() -> None:
    """So that nothing is left of tests that were killed: their clock would stand still for ever."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def listen(clock: Clock, number: int) -> Callable[[], None]:
    """Let this process live by the clock, as a node. Returns what takes that back."""
    from rclpy.impl.implementation_singleton import rclpy_implementation as rcl

    undo: list[Callable[[], None]] = []
    slot, newest, empty = clock.slot(number), 0.0, False
    known: set[int] = set()  # subscriptions that have been asked for a state
    slot[-1] = os.getpid()
    trace = os.open(f"{clock.path}.trace.{number}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    _replace(time, "monotonic", clock.now, undo)
    _replace(time, "time_ns", clock.now_ns, undo)

    def back() -> None:
        """It has done with the newest state, and looks or waits for the next."""
        slot[0] = newest or slot[0]

    def waiting(self: Any, nanoseconds: int) -> None:
        if empty:
            back()
        wait(self, nanoseconds)

    def taking(self: Any, kind: Any, raw: bool) -> Any:
        nonlocal newest, empty
        taken = take(self, kind, raw)
        if raw and self.get_topic_name() == JOINT_STATES:
            if id(self) not in known:  # what was sent before it was there will never come to it
                known.add(id(self))
                newest, empty, slot[0] = 0.0, False, 0.0
            if taken is None:
                if empty:
                    back()
                empty = True
            else:
                empty = False
                # The first may be an old one: from then on the arm waits. Whoever else sends joint
                # states has sent another number of them.
                number = taken[1]["publication_sequence_number"]
                if newest < number <= clock.words[1]:
                    newest = float(number)
        return taken

    def destroying(self: Any) -> None:
        nonlocal newest, empty
        if self.get_topic_name() == JOINT_STATES:  # it listens no more
            known.discard(id(self))
            newest, empty, slot[0] = 0.0, False, 0.0
        destroy(self)

    def publishing(self: Any, message: Any) -> None:
        publish(self, message)
        topic = self.get_topic_name()
        if topic in COMMANDS:
            kind = COMMANDS.index(topic)
            slot[1 + kind] += 1
            numbers = message.points[0].positions if kind == 2 else message.data
            os.write(trace, np.array([number, kind, clock.now(), *numbers]).tobytes())

    def leave() -> None:
        for each in undo:
            each()
        slot[0] = 0
        os.close(trace)

    take = _replace(rcl.Subscription, "take_message", taking, undo)
    destroy = _replace(rcl.Subscription, "destroy_when_not_in_use", destroying, undo)
    wait = _replace(rcl.WaitSet, "wait", waiting, undo)
    publish = _replace(rcl.Publisher, "publish", publishing, undo)
    return leave


def drive(clock: Clock) -> None:
    """Let this process, which is the arm, drive the clock."""
    from rclpy.impl.implementation_singleton import rclpy_implementation as rcl

    undo: list[Callable[[], None]] = []
    away = {number: float(clock.slot(number)[0]) for number in range(SLOTS)}  # of an arm before
    heard = [clock.told(kind) for kind in range(len(COMMANDS))]
    clock.words[1] = 0
    _replace(time, "monotonic", clock.now, undo)
    _replace(time, "monotonic_ns", clock.now_ns, undo)

    def in_step(number: int) -> bool:
        seen = clock.slot(number)[0]
        return seen in (0, away[number], clock.words[1])

    def sleep(seconds: float) -> None:
        begun = wall()
        while late := [number for number in range(SLOTS) if not in_step(number)]:
            gone = wall() - begun > _PATIENCE
            gone = late if gone else [number for number in late if clock.suspended(number)]
            away.update({number: clock.slot(number)[0] for number in gone})
            _sleep(_LOOK)
        _sleep(max(0.0, seconds - (wall() - begun)))
        clock.advance(seconds)

    def publishing(self: Any, message: Any) -> None:
        if self.get_topic_name() == JOINT_STATES:
            clock.words[1] += 1
        publish(self, message)

    def taking(self: Any, kind: Any, raw: bool) -> Any:
        taken, topic, begun = take(self, kind, raw), self.get_topic_name(), wall()
        if topic in COMMANDS:
            k = COMMANDS.index(topic)
            while taken is None and heard[k] < clock.told(k):  # it is on its way
                # Unless it was sent before the two knew of each other, or the sender is gone. One
                # that the arm does not know yet sends it again, with the next heartbeat of DDS.
                gone = not self.get_publisher_count() and not clock.sends(k)
                given_up = gone or wall() - begun > _NEVER_CAME
                _sleep(_LOOK)
                taken = take(self, kind, raw)
                if given_up:
                    heard[k] = clock.told(k)
            heard[k] = min(heard[k] + (taken is not None), clock.told(k))
        return taken

    _replace(time, "sleep", sleep, undo)
    publish = _replace(rcl.Publisher, "publish", publishing, undo)
    take = _replace(rcl.Subscription, "take_message", taking, undo)


def main() -> None:
    path, role, name = sys.argv[1:4]
    clock = Clock(Path(path))
    os.environ[CLOCK] = f"{role} {clock.path}"
    faulthandler.register(signal.SIGUSR1)
    end_with_parent()
    sys.argv[:] = [name, *sys.argv[4:]] if role == "arm" else ["ur-admittance", *sys.argv[3:]]
    if role == "arm" or name == "sim-ros2":
        drive(clock)
    else:
        atexit.register(listen(clock, int(role)))
    if name in _GUARDED:
        guard: Any = import_module("ur_admittance.ros2.guard")
        guard._PROGRAM = Path(__file__).with_name("guard_process.py")
    if role == "arm":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        from ur_admittance.cli import main as command_line

        command_line()


if __name__ == "__main__":
    main()
