"""When states and commands pass the loopback interface, by the kernel's own stamps.

Nothing stands between client and controller: neither knows, and neither waits for anything more.
Needs the right to listen to packets (root, or CAP_NET_RAW).
"""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable

import numpy as np

RTDE, DATA = 30004, ord("U")
_IP, _TIMESTAMPNS, _BUFFER_FORCED = 0x0800, 35, 33  # ETH_P_IP, SO_TIMESTAMPNS, SO_RCVBUFFORCE
_SAME = 0.5e-3  # s within which packets are of one cycle
_ROOM = 1 << 24  # bytes that may wait for us


class Sniffer:
    """Listens to the packets between a controller and its clients."""

    def __init__(self, host: str) -> None:
        """
        Args:
            host: address of the controller.

        Raises:
            PermissionError: not allowed.
        """
        self._states: list[float] = []
        self._commands: list[float] = []
        self._host = socket.inet_aton(host)
        self._sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_IP))
        self._sock.setsockopt(socket.SOL_SOCKET, _BUFFER_FORCED, _ROOM)
        self._sock.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        self._sock.bind(("lo", _IP))

    def run(self, going: Callable[[], bool]) -> None:
        """Listen for as long as `going()`."""
        while going():
            if select.select([self._sock], [], [], 0.1)[0]:
                self._take()

    def close(self) -> None:
        self._sock.close()

    def reactions(self, window: tuple[float, float]) -> tuple[list[float], float]:
        """From each state to the first command after it, s; and the share of states that had one
        before the next.

        Args:
            window: first and last moment that counts, s of `time.time()`.
        """
        came = np.sort([t for t in self._states if window[0] <= t <= window[1]])
        if not (len(came) and self._commands):
            return [], 0.0
        came = came[np.diff(came, prepend=-np.inf) > _SAME]  # one cycle, to several clients
        sent = np.sort(self._commands)
        after = np.searchsorted(sent, came)
        there = after < len(sent)
        came, after = came[there], after[there]
        answered = sent[after] < np.append(came[1:], np.inf)
        return (sent[after] - came)[answered].tolist(), float(answered.mean())

    def _take(self) -> None:
        packet, notes, _, _ = self._sock.recvmsg(4096, 128)
        if packet[9] != socket.IPPROTO_TCP:
            return
        head = 4 * (packet[0] & 15)
        source, target = struct.unpack_from(">HH", packet, head)
        data = head + 4 * (packet[head + 12] >> 4)
        if len(packet) < data + 4 or packet[data + 2] != DATA or not notes:
            return
        seconds, nanoseconds = struct.unpack("qq", notes[0][2][:16])
        now = seconds + 1e-9 * nanoseconds
        if source == RTDE and packet[12:16] == self._host:
            self._states.append(now)
        elif target == RTDE and packet[16:20] == self._host:
            self._commands.append(now)


def quantiles(seconds: list[float]) -> dict[str, float]:
    """us."""
    values = 1e6 * np.array(seconds or [np.nan])
    p50, p99, p999 = np.percentile(values, (50, 99, 99.9))
    return {"p50": p50, "p99": p99, "p99.9": p999, "max": float(values.max())}
