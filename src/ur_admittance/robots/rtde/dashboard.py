"""The dashboard server, asked what nothing else tells: serial number, remote control, program.

It only ever asks. Power, brakes and stops are for a person at the robot.
"""

from __future__ import annotations

import contextlib
import time

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.connection import Dial, connected, dial

PORT = 29999
_SECONDS = 2.0  # for an answer
_QUESTIONS = ("get serial number", "is in remote control", "get robot model", "programState")


class Dashboard:
    """What the dashboard says; "" for what it does not, as on CB3 and PolyScope X.

    Attributes:
        serial: digits.
        remote: "true" or "false".
        model: such as "UR5".
        program: name of the one that is loaded.
    """

    def __init__(self, host: str, port: int = PORT, *, make: Dial = dial) -> None:
        answers = [""] * len(_QUESTIONS)
        with contextlib.suppress(RobotError, OSError):
            answers = _ask(host, port, make)
        self.serial, self.remote, self.model, state = answers
        self.program = state.partition(" ")[2].strip()
        self.serial = self.serial if self.serial.isdigit() else ""
        self.remote = self.remote if self.remote in ("true", "false") else ""
        self.model = self.model if self.model.upper().startswith("UR") else ""


def _ask(host: str, port: int, make: Dial) -> list[str]:
    sock = connected(host, port, "dashboard server", make)
    try:
        sock.settimeout(_SECONDS)
        came = bytearray()
        _line(sock, came)  # its greeting
        answers = []
        for question in _QUESTIONS:
            sock.sendall(question.encode() + b"\n")
            answers.append(_line(sock, came).strip())
        return answers
    finally:
        sock.close()


def _line(sock, came: bytearray) -> str:
    deadline = time.monotonic() + _SECONDS
    while b"\n" not in came and time.monotonic() < deadline:
        part = sock.recv(4096)
        if not part:
            break
        came += part
    line, _, rest = bytes(came).partition(b"\n")
    came[:] = rest
    return line.decode("utf-8", "replace")
