"""How long a question to the controller takes: there, and back."""

from __future__ import annotations

import time

import numpy as np

from ur_admittance.robots.rtde import protocol
from ur_admittance.robots.rtde.connection import Dial, connected, dial, receive

_PAUSE = 0.01  # s between two questions


def round_trips(host: str, port: int, count: int, make: Dial = dial) -> np.ndarray:
    """Ask for the controller's version so often; s (count,).

    Raises:
        RobotError: nobody answers.
    """
    what, took = f"RTDE at {host}:{port}", np.empty(count)
    sock = connected(host, port, "RTDE interface", make)
    try:

        def ask(question: bytes) -> None:
            sock.sendall(question)
            size, _ = protocol.HEADER.unpack(receive(sock, protocol.HEADER.size, what))
            receive(sock, size - protocol.HEADER.size, what)

        ask(protocol.ask_protocol(2))
        for n in range(count):
            began = time.perf_counter()
            ask(protocol.frame(protocol.CONTROLLER_VERSION))
            took[n] = time.perf_counter() - began
            time.sleep(_PAUSE)
    finally:
        sock.close()
    return took
