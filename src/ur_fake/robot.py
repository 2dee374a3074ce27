"""A fake robot for tests: a controller in a thread or in a process of its own, and a hand on it."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from ur_admittance.errors import RobotError

START_SECONDS = 60.0  # a slow machine compiles the kernel first


class FakeRobot:
    """A UR controller on this machine, for as long as a `with` block lasts.

    >>> with FakeRobot("ur5e") as robot:
    ...     client = connect(robot.host, robot.ports["rtde"])
    ...     robot.do("emergency_stop")

    In a thread it shares the interpreter with the test; in a process it keeps its time, and scene,
    tool and hand are those that the command line knows.

    Attributes:
        host: address it listens on.
        ports: "primary", "secondary", "realtime", "rtde", "dashboard", "control".
        pid: of its process; None in a thread.
    """

    def __init__(
        self,
        model: str = "ur5e",
        *,
        host: str = "127.0.0.1",
        ports: int | None = None,
        faults: Iterable[str] = (),
        process: bool = False,
        **options: Any,
    ) -> None:
        """
        Args:
            model: name of the arm.
            host: address to listen on. Every address of 127.0.0.0/8 is this machine: with one of
                its own, a robot can have the real ports beside others.
            ports: added to the real ports; None for any that are free.
            faults: see `faults`.
            process: a process of its own.
            options: to `Controller`; with `process` only states, fieldbus, seed, and priority
                (real-time, 1 to 99).
        """
        self.host = host
        self.ports: dict[str, int] = {}
        self.pid: int | None = None
        self._model, self._offset, self._faults = model, ports, tuple(faults)
        self._process, self._options = process, options
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._controller: Any = None
        self._failure: BaseException | None = None
        self._control: socket.socket | None = None

    def __enter__(self) -> Self:
        try:
            if self._process:
                self._start_process()
            else:
                self._start_thread()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is None and self._failure is not None:
            raise self._failure

    def do(self, what: str, **arguments: Any) -> dict[str, Any]:
        """Do something that only a person at the robot can do: see `control_socket`.

        Raises:
            RobotError: if it was refused.
        """
        if self._control is None:
            address = self.host, self.ports["control"]
            self._control = socket.create_connection(address, timeout=START_SECONDS)
        self._control.sendall(json.dumps({"do": what, **arguments}).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            part = self._control.recv(65536)
            if not part:
                raise RobotError(
                    f"fake robot: it closed its control socket while asked to {what!r}"
                )
            answer += part
        said = json.loads(answer)
        if not said.pop("ok"):
            raise RobotError(f"fake robot: {said['error']}")
        return said

    def inject(self, fault: str) -> None:
        """Break something, see `faults`."""
        self.do("fault", fault=fault)

    def state(self) -> dict[str, Any]:
        """What a person would see on the pendant."""
        return self.do("state")

    def close(self) -> None:
        """End it, and wait until it has ended."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._child is not None:
            self._child.terminate()
            try:
                self._child.wait(10.0)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            if self._child.stdout is not None:
                self._child.stdout.close()
            self._child = None
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._controller is not None:
            self._controller.close()
            self._controller = None

    def _start_thread(self) -> None:
        from ur_fake.server import Controller

        self._controller = controller = Controller(
            self._model, host=self.host, ports=self._offset, faults=self._faults, **self._options
        )
        self.ports = dict(controller.ports)

        def run() -> None:
            try:
                controller.run(lambda: not self._ending.is_set())
            except BaseException as error:
                self._failure = error

        self._thread = threading.Thread(target=run, name="fake robot", daemon=True)
        self._thread.start()

    def _start_process(self) -> None:
        start = "from ur_admittance.cli import main; main()"
        command = [sys.executable, "-c", start, "fake-robot", "--json"]
        command += ["--arm", self._model, "--host", self.host]
        command += ["--free-ports"] if self._offset is None else ["--ports", str(self._offset)]
        for fault in self._faults:
            command += ["--fault", fault]
        for state in self._options.get("states", ()):
            command += ["--state", state]
        if self._options.get("fieldbus", False):
            command.append("--fieldbus")
        for name in ("seed", "priority"):
            command += [f"--{name}", str(self._options.get(name, 0))]
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        pipe = self._child.stdout
        line = pipe.readline() if pipe is not None else ""
        with contextlib.suppress(ValueError):
            self.ports = json.loads(line)["ports"]
        if not self.ports:
            code = self._child.wait()
            raise RobotError(f"fake robot: its process ended with {code} before it was ready")
        self.pid = self._child.pid
