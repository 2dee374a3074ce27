"""A TCP connection to a controller: prompt, soon aware of a cut cable, and clear when it fails."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from ur_admittance.errors import RobotError

CONNECT_SECONDS = 3.0
ANSWER_SECONDS = 3.0
KEEPALIVE = (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3))  # s, s, times
UNANSWERED_MS = 1000  # after which what was sent counts as lost, and the connection as dead

# Makes a connected socket from an address and a timeout; tests have one that makes time pass.
Dial = Callable[[tuple[str, int], float], socket.socket]


def dial(address: tuple[str, int], seconds: float) -> socket.socket:
    """A socket connected to `address`."""
    return socket.create_connection(address, timeout=seconds)


def connected(host: str, port: int, what: str, make: Dial = dial) -> socket.socket:
    """A connection to one of the controller's ports.

    Raises:
        RobotError: nobody answers there; the message says which of the usual causes it looks like.
    """
    try:
        sock = make((host, port), CONNECT_SECONDS)
    except socket.gaierror as error:
        raise RobotError(
            f"rtde://{host}: no machine has this name ({error.strerror}); give the address that "
            "the pendant shows under Settings, System, Network"
        ) from None
    except ConnectionRefusedError:
        raise RobotError(
            f"rtde://{host}: it is there, but has no {what} on port {port}; is it a UR controller "
            "that has booted, and are its services enabled (Settings, Security, Services)?"
        ) from None
    except OSError as error:
        raise RobotError(
            f"rtde://{host}: no answer for the {what} on port {port} ({error}); are cable and "
            "network mask right, and is the robot's computer on?"
        ) from None
    with contextlib.suppress(OSError):  # a socket that lacks one of these still works
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE:
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_MS)
    return sock


def receive(sock: Any, count: int, what: str, seconds: float = ANSWER_SECONDS) -> bytes:
    """Exactly so many bytes, while nothing is urgent yet.

    Raises:
        RobotError: they do not come.
    """
    came, deadline = bytearray(), time.monotonic() + seconds
    sock.settimeout(seconds)
    while len(came) < count:
        try:
            part = sock.recv(count - len(came))
        except TimeoutError:
            part = None
        except OSError as error:
            raise RobotError(f"{what}: the connection broke ({error})") from None
        if part == b"":
            raise RobotError(f"{what}: the robot closed the connection")
        came += part or b""
        if len(came) < count and (part is None or time.monotonic() > deadline):
            raise RobotError(f"{what}: no answer for {seconds:g} s")
    return bytes(came)


def give_up_after(sock: socket.socket, seconds: float) -> None:
    """Let a blocking `recv` return empty-handed after so long, without another call a time."""
    sock.settimeout(None)
    whole, rest = divmod(seconds, 1.0)
    patience = struct.pack("ll", int(whole), round(1e6 * rest))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
