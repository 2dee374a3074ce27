"""A stand-in for an ATI Net F/T: its page with scale factors, and RDT over UDP. For tests.

It answers when it is polled, and sends a sample when it is told to: whoever calls is the clock.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

_REQUEST, _ANSWER = struct.Struct(">HHI"), struct.Struct(">3I6i")


class FakeNetFt:
    """A sensor on this machine.

    Attributes:
        address: for `netft://`, with both ports.
        counts: for a newton, and for a newton metre.
        status: that it reports.
        sequence: of the last sample; whoever adds to it lets samples get lost.
        client: who is sent samples; None before anybody has asked.
    """

    def __init__(
        self, counts: tuple[float, float] = (1e6, 1e6), units: tuple[str, str] = ("N", "Nm")
    ) -> None:
        self.counts, self.status, self.sequence = counts, 0, 0
        self.client: tuple[str, int] | None = None
        page = (
            f'<?xml version="1.0"?><netft><scfgfu>{units[0]}</scfgfu><scfgtu>{units[1]}</scfgtu>'
            f"<cfgcpf>{counts[0]:g}</cfgcpf><cfgcpt>{counts[1]:g}</cfgcpt></netft>"
        ).encode()

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                good = self.path == "/netftapi2.xml"
                self.send_response(200 if good else 404)
                self.send_header("Content-Length", str(len(page) if good else 0))
                self.end_headers()
                self.wfile.write(page if good else b"")

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        self._http = HTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._udp.setblocking(False)
        self.address = f"127.0.0.1:{self._udp.getsockname()[1]}:{self._http.server_port}"

    def poll(self) -> None:
        """Hear who wants samples, and who no more."""
        with contextlib.suppress(BlockingIOError):
            while True:
                data, sender = self._udp.recvfrom(64)
                if len(data) == _REQUEST.size and data[:2] == b"\x12\x34":
                    self.client = sender if _REQUEST.unpack(data)[1] == 2 else None

    def send(self, wrench: ArrayLike) -> None:
        """One sample, N and Nm (6,), to whoever wants it."""
        self.poll()
        self.sequence = self.sequence + 1 & 0xFFFFFFFF
        scale = np.repeat(self.counts, 3)
        counts = np.round(np.asarray(wrench, dtype=float) * scale).astype(np.int64)
        self.raw(_ANSWER.pack(self.sequence, self.sequence, self.status, *counts.tolist()))

    def raw(self, packet: bytes) -> None:
        """Any bytes."""
        if self.client is not None:
            self._udp.sendto(packet, self.client)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._udp.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
