"""Loopback without chance: what was sent has arrived when these functions return.

A busy machine delivers late even to itself, and then a cycle of a controller would depend on it.
Both ends are in this process, so the kernel can be asked what each has sent and got (`TCP_INFO`).
"""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
import time
from collections.abc import Callable
from typing import cast

from ur_fake.server import Controller

PATIENCE = 120.0  # s on the wall: it fails, it does not hang
_ESTABLISHED = 1
_FULL = 1 << 15  # bytes to read, from which on the receiver may have no room for the rest
_LOOK = 1e-4  # s, between two questions
_INFO = 216  # bytes of `struct tcp_info`, Linux 4.19
_GOT, _UNSENT, _SENT = 128, 144, 200  # where in it: bytes received; not sent; sent, sent again


def deliver(sender: socket.socket, receiver: socket.socket) -> None:
    """Return when all that was sent by now can be read; or so much that the rest may wait."""
    _until(lambda: _arrived(sender, receiver), receiver)


class Loopback:
    """A client's connection to a controller of this process."""

    def __init__(self, near: socket.socket, controller: Controller) -> None:
        """The client, whose end is `near`, has just connected: the controller takes it in now."""
        self._near, self._far = near, None
        # Both ends: a client of another port may have the same number on its side.
        here, hub = _way(near), controller._hub

        def taken_in() -> bool:
            hub.poll(controller.machine.time)
            clients = [key for key in hub._selector.get_map().values() if key.data[1] is not None]
            ends = [cast("socket.socket", key.fileobj) for key in clients]
            self._far = next((end for end in ends if here and _way(end) == here[::-1]), None)
            return self._far is not None or not _open(near)  # it may be one too many

        _until(taken_in, near)

    def to_far(self) -> None:
        """Return when the controller could read all that the client has sent, or is gone."""
        if self._far is not None and self._far.fileno() >= 0:
            deliver(self._near, self._far)

    def to_near(self) -> None:
        """Return when the client could read all that the controller has sent, its end included."""
        if self._far is not None and self._far.fileno() >= 0:
            deliver(self._far, self._near)
        else:
            _until(lambda: not _open(self._near), self._near)

    def ended(self) -> None:
        """The client has closed its end: return when the controller could see that."""
        far = self._far
        if far is not None and far.fileno() >= 0:
            _until(lambda: not _open(far), far)


def _way(sock: socket.socket) -> tuple[object, object] | None:
    """This end and the other one; None if there is no other any more."""
    try:
        return sock.getsockname(), sock.getpeername()
    except OSError:
        return None


def _info(sock: socket.socket) -> bytes:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO)


def _open(sock: socket.socket) -> bool:
    return _info(sock)[0] == _ESTABLISHED


def _arrived(sender: socket.socket, receiver: socket.socket) -> bool:
    info = _info(sender)
    sent, again = struct.unpack_from("QQ", info, _SENT)
    (unsent,) = struct.unpack_from("I", info, _UNSENT)
    (got,) = struct.unpack_from("Q", _info(receiver), _GOT)
    if got >= sent - again + unsent:
        return True
    waiting = fcntl.ioctl(receiver, termios.FIONREAD, bytes(4))
    return struct.unpack("i", waiting)[0] >= _FULL


def _until(done: Callable[[], bool], receiver: socket.socket) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, "what was sent does not arrive"
        # Else the sender may have to wait for the receiver's word, which takes 40 ms.
        receiver.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        time.sleep(_LOOK)
