"""A robot over real sockets, on a controller whose time is the test's.

The client's socket makes the controller step whenever it has to wait: both sides are in one thread,
and no clock on a wall counts.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.loopback import Loopback
from ur_admittance import Config
from ur_admittance import Controller as AdmittanceController
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.run import run
from ur_admittance.run.summary import Summary
from ur_fake.arm.arm import CYCLE
from ur_fake.server import Controller

LONGEST = 20_000  # cycles that a wait without a timeout takes at most: it fails, it does not hang
WIRE = 120.0  # s on the wall, for another process to do its part: it fails, it does not hang


class PumpedSocket(socket.socket):
    """A real socket whose waiting makes a controller step. What either side has sent is there when
    the other one looks.
    """

    def __init__(self, controller: Controller, address: tuple[str, int]) -> None:
        super().__init__()
        self.settimeout(WIRE)
        self.connect(address)
        self.setblocking(False)
        self._controller, self._patience, self._cycles = controller, None, LONGEST
        self._loopback = Loopback(self, controller)

    def settimeout(self, value: float | None) -> None:
        """Seconds of the controller; a socket that never really blocks."""
        if hasattr(self, "_controller"):
            self._patience = value
        else:
            super().settimeout(value)

    def setsockopt(self, *arguments: Any) -> None:
        if arguments[1] == socket.SO_RCVTIMEO:
            seconds, microseconds = struct.unpack("ll", arguments[2])
            self._cycles = round((seconds + 1e-6 * microseconds) / CYCLE)
        super().setsockopt(*arguments)

    def send(self, data: Any, flags: int = 0) -> int:
        sent = super().send(data, flags)
        self._loopback.to_far()
        return sent

    def sendall(self, data: Any, flags: int = 0) -> None:
        super().sendall(data, flags)
        self._loopback.to_far()

    def recv(self, count: int, flags: int = 0) -> bytes:
        if flags or self._patience == 0.0:
            self._loopback.to_near()
        else:
            self._pump(LONGEST, TimeoutError)
        return super().recv(count, flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        if flags & socket.MSG_DONTWAIT:
            self._loopback.to_near()
        else:
            self._pump(self._cycles, BlockingIOError)
        return super().recv_into(buffer, nbytes, flags)

    def close(self) -> None:
        super().close()
        self._loopback.ended()

    def _pump(self, cycles: int, error: type[Exception]) -> None:
        """Cycle after cycle, as long as there is nothing to read."""
        while True:
            self._loopback.to_near()
            if select.select([self], [], [], 0.0)[0]:
                return
            if cycles == 0:
                raise error
            self._controller.step()
            cycles -= 1


def rtde_robot(controller: Controller, **options: Any) -> RtdeRobot:
    """A robot on a controller that steps when the robot waits; not yet connected."""
    return RtdeRobot(
        getattr(controller, "host", "127.0.0.1"),
        ports={name: controller.ports[name] for name in ("rtde", "primary", "dashboard")},
        make=lambda address, seconds: PumpedSocket(controller, address),
        clock=lambda: controller.machine.time,
        **options,
    )


@contextmanager
def controller(**options: Any) -> Iterator[Controller]:
    """A controller on free ports."""
    made = Controller(ports=None, **options)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def connected(fake: dict[str, Any] | None = None, **options: Any) -> Iterator[tuple[Any, Any]]:
    """A robot that is connected, and its controller."""
    with controller(**(fake or {})) as made, rtde_robot(made, **options) as robot:
        yield robot, made


def until(done: Callable[[], object]) -> None:
    """Wait on the wall for something that another process does."""
    deadline = time.monotonic() + WIRE
    while not done():
        assert time.monotonic() < deadline, "waited in vain"
        with contextlib.suppress(InterruptedError):
            time.sleep(0.001)


class Traced(Controller):
    """A controller that remembers every cycle, and lets a test act between two of them.

    Attributes:
        kinds: what the program was last told in each cycle, see `script`.
        target_qd: (n, 6) where the controller wanted the joints, rad/s.
        acts: number of a cycle to what is done before it.
    """

    def __init__(self, *, ports: int | None = None, **options: Any) -> None:
        self.host = options.get("host", "127.0.0.1")
        self.kinds: list[int] = []
        self._speeds: list[np.ndarray] = []
        self.acts: dict[int, Callable[[], Any]] = {}
        super().__init__(ports=ports, **options)

    def step(self) -> None:
        if act := self.acts.pop(self.machine.cycle, None):
            act()
        super().step()
        self.kinds.append(self.machine.input_int[25])
        self._speeds.append(self.machine.target_qd.copy())

    @property
    def target_qd(self) -> np.ndarray:
        return np.array(self._speeds)

    def push(self, newton: float, seconds: float = 100.0) -> None:
        """Push the flange along y of the base."""
        self._push([0.0, newton, 0.0, 0.0, 0.0, 0.0], seconds)

    @property
    def speed(self) -> float:
        """Of the tool point, m/s."""
        return float(np.linalg.norm(self.machine.actual_TCP_speed[:3]))

    def braked(self, since: int) -> int:
        """Cycles from `since` until the joints stood for good."""
        moving = np.abs(self.target_qd[since:]).max(axis=1) > 1e-9
        return int(np.nonzero(moving)[0][-1]) + 1 if moving.any() else 0


@contextmanager
def driven(**options: Any) -> Iterator[tuple[RtdeRobot, Traced, AdmittanceController]]:
    """A robot on a traced controller, and who drives it: hand-guiding, at rest."""
    fake = Traced(**options.pop("fake", {}))
    config = options.pop("config", Config.preset("hand-guiding"))
    try:
        with rtde_robot(fake, config=config, **options) as robot:
            yield robot, fake, AdmittanceController(robot.model, config)
    finally:
        fake.close()


def guided(
    robot: RtdeRobot,
    fake: Traced,
    controller: AdmittanceController,
    then: Callable[[], Any] | None = None,
    *,
    seconds: float = 3.0,
    newton: float = 20.0,
) -> Summary:
    """Push the arm; once it moves at 0.1 m/s, `then` happens."""
    happened: list[Any] = []

    def each(state: Any, out: Any) -> None:
        if out["tick"] == 2:
            fake.push(newton)
        if then is not None and not happened and fake.speed > 0.1:
            happened.append(then())

    summary = run(robot, controller, seconds=seconds, each=each)
    assert then is None or happened, "the arm was never that fast"
    return summary


class Lockstep:
    """Steps a controller for a client in another process: a cycle when it has answered the last.

    However slow either is, no cycle is lost, and none is late.
    """

    def __init__(self, fake: Traced, process: subprocess.Popen[str]) -> None:
        self.fake, self.process = fake, process

    def until(self, done: Callable[[], object], cycles: int = 60_000) -> None:
        """Step until something is so; a client that has ended does not answer any more."""
        for _ in range(cycles):
            if done():
                return
            self.step()
        raise AssertionError("waited in vain")

    def step(self) -> None:
        """One cycle, and the client's answer to it."""
        fake, machine = self.fake, self.fake.machine
        before = machine.input_int[24]
        fake.step()
        if machine.program_state != "PLAYING":
            # It is not there yet, or looks around: let it work.
            time.sleep(0.001 if fake.rtde.clients else 0.02)
            return
        deadline = time.monotonic() + WIRE
        while machine.input_int[24] == before and self.process.poll() is None:
            assert time.monotonic() < deadline, "the client does not answer"
            fake._hub._selector.select(0.01)
            fake._hub.poll(machine.time)
            if not any(client.data.inputs for client in fake.rtde.clients):
                return
