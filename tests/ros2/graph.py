"""What the tests of ROS 2 nodes share: a graph that no one else sees, real processes on it."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile

from tests.ros2.clock import SLOTS, Clock, wall
from tests.ros2.domain import domain
from tests.ros2.peer import Peer
from ur_admittance import Config, Controller, RobotModel

ROOT = Path(__file__).parents[2]
SCRIPT = str(Path(sys.executable).with_name("ur-admittance"))
PATIENCE = 120.0  # s, for a busy machine; of the graph's clock, where that is simulated
STOPPED = "the arm was stopped: "  # a node's line begins so, for each stop
_STALL = 0.05  # s: what takes longer here was a pause of the machine
_READS = 0.02  # s between two calls of `each`
_LATCHED_LOG = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def timeouts(rate: float) -> dict[str, float]:
    """What a configuration allows sources to be silent, in as many periods as by default."""
    usual = Config()
    names = ("wrench_timeout", "joint_timeout", "lost_timeout")
    periods = {name: getattr(usual.safety, name) * usual.control_rate for name in names}
    return {f"safety.{name}": count / rate for name, count in periods.items()}


@functools.cache
def compile_once() -> None:
    """So that no process has to, in the middle of a test: on a new machine it takes a minute."""
    Controller(RobotModel.ur("ur5e"), Config())


class Graph(Peer):
    """One ROS domain on this machine, and the test's own node there.

    Attributes:
        log: what nodes have logged.
        stops: what they said when they stopped an arm; see `expect_stop`.
        folder: in which processes start.
        domain: what holds it; nobody else has it while a process lives that has inherited this.
        clock: of the processes that are started from now on; None: that on the wall.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        compile_once()
        number, self.domain = domain()
        private = {
            "ROS_DOMAIN_ID": str(number),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(folder / "log"),
            "UR_ADMITTANCE_RUNTIME": str(folder / "runtime"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        (folder / "runtime").mkdir()
        for name, value in {**private, "NO_COLOR": "1", "COLUMNS": "80"}.items():
            monkeypatch.setenv(name, value)
        self.folder, self._processes = folder, []
        self.clock: Clock | None = None
        self._slots: dict[int, int] = {}  # of the clock, by process
        self._arm_is_dead, self._seen = False, wall()
        self.stops: list[str] = []
        self._expected: dict[tuple[str, ...], int] = {}
        super().__init__(number)
        self.log = self.hear(Log, "/rosout", _LATCHED_LOG)

    def simulate_time(self) -> Clock:
        """Let the processes that are started from now on live by a clock that waits for them."""
        self.clock = self.clock or Clock(self.folder / "clock")
        return self.clock

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The installed command, as a user would start it; only the clock may be another."""
        pipe, command = subprocess.PIPE, [SCRIPT]
        slot = len(self._slots)
        if self.clock is not None:
            assert slot < SLOTS
            command = [sys.executable, "-m", "tests.ros2.clock", str(self.clock.path), str(slot)]
        process = subprocess.Popen(
            [*command, *arguments],
            stdout=pipe,
            stderr=pipe,
            text=True,
            cwd=self.folder,
            pass_fds=[self.domain.fileno()],
        )
        self._slots[process.pid] = slot
        self._processes.append(process)
        return process

    def forget(self, process: subprocess.Popen[str]) -> None:
        """A process that may have failed."""
        self._processes.remove(process)

    def kill(self, process: subprocess.Popen[str]) -> None:
        """With -9, and the clock does not wait for it."""
        process.kill()
        process.communicate()
        if self.clock is not None:
            self.clock.slot(self._slots[process.pid])[0] = 0
        self.forget(process)

    def arm_is_dead(self, dead: bool) -> None:
        """Whether nobody drives the clock: while the test waits, its time passes then."""
        self._arm_is_dead, self._seen = dead, wall()

    def has_said(self, words: str) -> bool:
        """Whether a node has logged these words."""
        return any(words in line.msg for line in self.log)

    def until_said(self, words: str) -> None:
        self.until(lambda: self.has_said(words))

    def expect_stop(self, *words: str, count: int = 1) -> None:
        """Wait for the arm to be stopped, so often, for a reason with any of these words. Every
        other stop before `settle`, for whatever reason, is one too many.
        """
        due = self._expected.get(words, 0) + count
        self._expected[words] = due
        self.until(lambda: len(self._stops_by(words)) >= due)

    def _stops_by(self, words: tuple[str, ...]) -> list[str]:
        return [stop for stop in self.stops if any(each in stop for each in words)]

    def settle(self) -> None:
        """See that no arm was stopped but where a test expects it, and so often; count anew."""
        self.take()
        stops, expected = list(self.stops), dict(self._expected)
        counted = {words: len(self._stops_by(words)) for words in expected}
        known = [stop for words in expected for stop in self._stops_by(words)]
        self.stops.clear()
        self._expected.clear()
        assert counted == expected, f"so often it was stopped: {stops}"
        assert sorted(known) == sorted(stops), f"stops that nobody expects: {stops}"

    @contextmanager
    def in_step(self) -> Iterator[Callable[[Callable[[], object]], None]]:
        """The arm waits for the test, too, after each state. Gives what lets it go on to the next,
        once something was done.
        """
        assert self.clock is not None
        words, slot = self.clock.words, self.clock.slot(SLOTS - 2)

        def answer(each: Callable[[], object]) -> None:
            if slot[0] != words[1]:
                each()
                slot[0] = words[1]

        slot[-1] = os.getpid()
        slot[0] = words[1]
        try:
            yield answer
        finally:
            slot[0] = 0.0

    @contextmanager
    def between_ticks(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """The arm stands, and a process that drives it has answered the last state, and waits."""
        assert self.clock is not None
        words, slot = self.clock.words, self.clock.slot(self._slots[process.pid])
        with self.in_step():
            before = float(words[1])
            self.until(lambda: words[1] > before and slot[0] == words[1])
            yield

    def until_in_step(self, what: Callable[[], object], each: Callable[[], object]) -> None:
        """As `until`, but `each` is called once after every state, and the arm waits for it."""
        with self.in_step() as answer:
            self.until(what, lambda: answer(each))

    def until(self, what: Callable[[], object], each: Callable[[], object] = lambda: None) -> None:
        """Take messages until `what` is true, calling `each` every 20 ms. It fails after so long on
        the graph's clock, however slowly that goes; or where it stands still for so long.
        """
        now = wall if self.clock is None else self.clock.now
        end, seen, moved, due = now() + PATIENCE, now(), wall(), 0.0
        while not what():
            dead = [p.communicate() for p in self._processes if p.poll() not in (None, 0)]
            assert not dead, dead
            if now() != seen:
                seen, moved = now(), wall()
            waits = now() < end and wall() < moved + PATIENCE
            assert waits, f"waited in vain; {self._story()}"
            self._executor.spin_once(timeout_sec=0.005)
            self.take()
            self._let_time_pass()
            if wall() >= due:
                due = wall() + _READS
                each()

    def take(self) -> int:
        """As it says there; what a node logs of a stop is noted."""
        seen = len(self.log)
        count = super().take()
        self.stops += [line.msg for line in self.log[seen:] if line.msg.startswith(STOPPED)]
        return count

    def _story(self) -> str:
        """What there is to say of a graph on which something did not happen."""
        stacks = []
        for process in self._processes if self.clock is not None else ():
            process.send_signal(signal.SIGUSR1)  # see `clock.main`
            process.kill()
            stacks.append(process.communicate()[1][-3000:])
        words = None if self.clock is None else self.clock.words[:10].tolist()
        said = [line.msg for line in self.log[-5:]]
        return f"last said: {said}; clock: {words}; {' '.join(stacks)}"

    def _let_time_pass(self) -> None:
        if self._arm_is_dead and self.clock is not None:
            before, self._seen = self._seen, wall()
            self.clock.advance(min(self._seen - before, _STALL))

    def after(self, seconds: float, each: Callable[[], object] = lambda: None) -> None:
        """Take messages for so long, on the graph's clock. If that is the one on the wall, what
        this machine pauses does not count.
        """
        if (clock := self.clock) is not None:
            end = clock.now() + seconds
            return self.until(lambda: clock.now() >= end, each)
        left, before = seconds, wall()

        def over() -> bool:
            nonlocal left, before
            now = wall()
            left, before = left - min(now - before, _STALL), now
            return left <= 0.0

        return self.until(over, each)

    def _inhabited(self) -> bool:
        """Whether a process lives that was started with this graph's folder."""
        mark = f"UR_ADMITTANCE_RUNTIME={self.folder}".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # it has just ended
                if mark in environment.read_bytes():
                    return True
        return False

    def close(self) -> None:
        """End the processes, gently: one that is killed while it writes to our shared memory may
        make Fast DDS crash here when this node leaves the graph.
        """
        for process in self._processes:
            process.terminate()
        self.arm_is_dead(True)  # or soon will be
        stuck = self._wait(lambda: all(process.poll() is not None for process in self._processes))
        stories = self._story() if stuck else ""
        for process in self._processes:
            process.kill()
            process.communicate()
        left = self._wait(lambda: not self._inhabited())  # a guard outlives its node
        self.leave()
        self.domain.close()
        assert not stuck, f"a process does not end; {stories}"
        assert not left, "a guard does not end"

    def _wait(self, what: Callable[[], bool]) -> bool:
        """Let time pass until `what` is true. Whether that took too long."""
        deadline = wall() + PATIENCE
        while not what() and wall() < deadline:
            time.sleep(0.005)
            self._let_time_pass()
        return not what()
