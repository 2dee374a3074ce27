"""A tap between a client and a controller: forwards every byte, and notes when states went to the
client and when commands came back.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time

import numpy as np

PORTS = {"primary": 30001, "secondary": 30002, "realtime": 30003, "rtde": 30004, "dashboard": 29999}
DATA = ord("U")


class Tap:
    """Listens on the real ports of one address, and connects to those of another.

    Attributes:
        reactions: s from the newest state's way to the client to a command's way back.
    """

    def __init__(self, host: str, target: str) -> None:
        self.reactions: list[float] = []
        self._target = target
        self._selector = selectors.DefaultSelector()
        self._state = 0.0
        for port in PORTS.values():
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(16)
            self._selector.register(listener, selectors.EVENT_READ, (port, None, False))

    def run(self, going) -> None:
        """Forward for as long as `going()`."""
        while going():
            for key, _ in self._selector.select(0.1):
                port, other, upstream = key.data
                if other is None:
                    self._accept(key.fileobj, port)
                else:
                    self._forward(key.fileobj, port, other, upstream)

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def quantiles(self) -> dict[str, float]:
        """us."""
        values = 1e6 * np.array(self.reactions or [np.nan])
        p50, p99, p999 = np.percentile(values, (50, 99, 99.9))
        return {"p50": p50, "p99": p99, "p99.9": p999, "max": float(values.max())}

    def _accept(self, listener, port: int) -> None:
        ours, _ = listener.accept()
        theirs = socket.create_connection((self._target, port))
        for sock in (ours, theirs):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(ours, selectors.EVENT_READ, (port, theirs, True))
        self._selector.register(theirs, selectors.EVENT_READ, (port, ours, False))

    def _forward(self, sock, port: int, other, upstream: bool) -> None:
        try:
            data = sock.recv(65536)
            if data:
                other.sendall(data)
        except OSError:
            data = b""
        now = time.perf_counter()
        if not data:
            for one in (sock, other):
                if one.fileno() >= 0:
                    self._selector.unregister(one)
                    one.close()
        elif port == PORTS["rtde"] and len(data) > 3 and data[2] == DATA:
            if not upstream:
                self._state = now
            elif self._state:
                (size,) = struct.unpack_from(">H", data)
                if size <= len(data):
                    self.reactions.append(now - self._state)
