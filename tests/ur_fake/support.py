"""A controller whose time is the test's, and clients that talk to it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.loopback import Loopback
from ur_fake.rtde import frames
from ur_fake.server import Controller

PATIENCE = 20_000  # cycles that a test waits for an answer; a lost one fails, it does not hang


@contextmanager
def controller(**options: Any) -> Iterator[Controller]:
    """A controller on free ports that makes a step when a client waits for it."""
    made = Controller(ports=None, **options)
    try:
        yield made
    finally:
        made.close()


class Talker:
    """A plain client: what it waits for makes the controller step."""

    def __init__(self, robot: Controller, port: str) -> None:
        self.robot = robot
        self.sock = socket.create_connection(("127.0.0.1", robot.ports[port]), timeout=10.0)
        self.sock.setblocking(False)
        self.came = bytearray()
        self.ended = False
        self._loopback = Loopback(self.sock, robot)

    def send(self, data: bytes) -> None:
        """All of it, however slowly the controller reads."""
        while data and not self.ended:
            try:
                data = data[self.sock.send(data) :]
                self._loopback.to_far()
            except BlockingIOError:
                self.step()
            except OSError:
                self.ended = True

    def step(self) -> None:
        """One cycle, and what came."""
        self.robot.step()
        self._loopback.to_near()
        try:
            part = self.sock.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        self.came += part
        self.ended |= not part

    def until(self, done: Callable[[], bool]) -> None:
        """Step until something is so."""
        for _ in range(PATIENCE):
            if done():
                return
            self.step()
        raise AssertionError("waited in vain")

    def take(self, count: int) -> bytes:
        """The next bytes."""
        self.until(lambda: self.ended or len(self.came) >= count)
        assert len(self.came) >= count, "the controller hung up"
        taken = bytes(self.came[:count])
        del self.came[:count]
        return taken

    def line(self) -> str:
        """The next line of text, without its end."""
        self.until(lambda: self.ended or b"\n" in self.came)
        line, _, rest = bytes(self.came).partition(b"\n")
        self.came = bytearray(rest)
        return line.decode()

    def ask(self, line: str) -> str:
        """A line for a line."""
        self.send(line.encode() + b"\n")
        return self.line()

    def control(self, what: str, **arguments: Any) -> dict[str, Any]:
        """An object for an object."""
        return json.loads(self.ask(json.dumps({"do": what, **arguments})))

    def close(self) -> None:
        self.sock.close()
        self._loopback.ended()


class RtdeTalker(Talker):
    """An RTDE client."""

    def __init__(self, robot: Controller, protocol: int = 2) -> None:
        super().__init__(robot, "rtde")
        if protocol:
            assert self.exchange("V", struct.pack(">H", protocol)) == b"\x01"

    def frame(self) -> tuple[str, bytes]:
        """The next frame: type and payload."""
        size, kind = struct.unpack(">HB", self.take(3))
        return chr(kind), self.take(size - 3)

    def exchange(self, kind: str, payload: bytes = b"") -> bytes:
        """The answer of the same type."""
        self.send(frames.frame(ord(kind), payload))
        while True:
            got, answer = self.frame()
            if got == kind:
                return answer

    def outputs(self, names: str, hertz: float = 500.0) -> tuple[int, str]:
        """Set up what comes; number of the recipe and types."""
        answer = self.exchange("O", struct.pack(">d", hertz) + names.encode())
        return answer[0], answer[1:].decode()

    def inputs(self, names: str) -> tuple[int, str]:
        """Set up what goes; number of the recipe and types."""
        answer = self.exchange("I", names.encode())
        return answer[0], answer[1:].decode()

    def data(self) -> bytes:
        """The values of the next data package, after the recipe's number."""
        while True:
            kind, payload = self.frame()
            if kind == "U":
                return payload[1:]
