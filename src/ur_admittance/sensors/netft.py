"""An ATI Net F/T over RDT: UDP packets of counts, scaled by what the device itself says.

    with NetFt("192.168.1.20") as sensor:
        sensor.newest(wrench, now)

OnRobot's HEX, with its Ethernet box, speaks the same. Source: ATI Industrial Automation, "Network
Force/Torque Sensor System Manual", RDT and `netftapi2.xml`. A request is 8 bytes: 0x1234, command,
count; an answer 36: two sequence numbers, status, six counts.
"""

from __future__ import annotations

import math
import re
import socket
import struct
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Self

import numpy as np

from ur_admittance.config.validate import as_sign
from ur_admittance.errors import RobotError

PORT, PAGE = 49152, "netftapi2.xml"
STOP, START = 0, 2  # commands
_REQUEST, _ANSWER = struct.Struct(">HHI"), struct.Struct(">3I6i")
_MAGIC = 0x1234
_SECONDS = 3.0  # for the page and the first sample
_MOST = 64  # samples taken at once, two cycles at 7 kHz twice over
_SERIOUS = 0xC000_0000  # of the status: any error, and a condition that needs a look
_SATURATED = 1 << 17  # a gauge at the end of its range
_PAGE_BYTES = 1 << 18


class NetFt:
    """The sensor at an address: it streams, and what is newest counts.

    Attributes:
        X_ES: (4, 4) sensor in the flange.
        scale: (6,) counts for a newton, and for a newton metre.
        lost: samples that never came.
        old: samples that came after newer ones, and were dropped.
        bad: packets that were none, or whose status said that the sample is not to be trusted.
        status: of the last packet.
    """

    def __init__(
        self,
        host: str,
        *,
        X_ES: np.ndarray | None = None,
        average: bool = False,
        sign: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            host: address, and after a colon the port of RDT, if it is not 49152; after a second
                one that of the page.
            X_ES: (4, 4) sensor in the flange; default: at the flange.
            average: of the samples between two calls, the mean; else the newest.
            sign: -1 for a sensor that is mounted the other way round, and reports the reaction.
            clock: s.
        """
        self._host, _, ports = host.strip("/").partition(":")
        port, _, page = ports.partition(":")
        if not self._host or not all(number.isdigit() for number in (port, page) if number):
            raise RobotError(f"netft://{host}: no address; write it as netft://192.168.1.20")
        self._port, self._page_port = int(port or PORT), int(page or 80)
        self.name = f"netft://{host}"
        self.X_ES = np.eye(4) if X_ES is None else X_ES
        self.scale = np.full(6, np.nan)
        self.lost = self.old = self.bad = self.status = 0
        self._average, self._sign, self._clock = average, as_sign("NetFt", sign), clock
        self._buffer = bytearray(64)
        self._sequence = -1
        self._sum, self._sample = np.zeros(6), np.zeros(6)
        self._arrived = -math.inf
        self._sock: socket.socket | None = None

    def connect(self) -> None:
        """Read the scale factors, and let it stream.

        Raises:
            RobotError: it is not there, or does not stream.
        """
        self.scale = np.repeat(self._factors(), 3) / self._sign
        sock = self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.connect((self._host, self._port))
            sock.send(_REQUEST.pack(_MAGIC, START, 0))
            sock.settimeout(_SECONDS)
            if not self._take(sock.recv_into(self._buffer)):
                raise RobotError(f"{self.name}: its first packet is none of RDT's")
        except OSError as error:
            self.close()
            raise RobotError(
                f"{self.name}: no samples on UDP port {self._port} ({error}); is RDT enabled on "
                "the device's Communications page, and no other computer its client?"
            ) from None
        sock.setblocking(False)

    def newest(self, wrench: np.ndarray, now: float | None = None) -> float:
        """Write the newest sample, N and Nm (6,), or the mean of those since the last call.

        Returns when it arrived, s of the clock; what does not come does not make this wait.
        """
        sock = self._sock
        if sock is None:
            raise RobotError(f"{self.name}: not connected")
        count = 0
        self._sum[:] = 0.0
        for _ in range(_MOST):
            try:
                size = sock.recv_into(self._buffer)
            except BlockingIOError:
                break
            except OSError:  # nobody there any more: its samples grow old, and that is noticed
                break
            if self._take(size):
                count += 1
                self._sum += self._sample
        if count:
            self._arrived = self._clock() if now is None else now
            if self._average:
                np.divide(self._sum, count, out=self._sample)
        np.divide(self._sample, self.scale, out=wrench)
        return self._arrived

    def close(self) -> None:
        """Let it stop to stream. May be called twice."""
        if self._sock is not None:
            try:
                self._sock.send(_REQUEST.pack(_MAGIC, STOP, 0))
            except OSError:
                self.bad += 1
            self._sock.close()
            self._sock = None

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, size: int) -> bool:
        """Judge a packet; its counts are the sample if it is newer and good."""
        if size != _ANSWER.size:
            self.bad += 1
            return False
        sequence, _, status, *counts = _ANSWER.unpack_from(self._buffer)
        if self._sequence >= 0:
            step = (sequence - self._sequence) & 0xFFFFFFFF
            if step == 0 or step >= 1 << 31:
                self.old += 1
                return False
            self.lost += step - 1
        self._sequence, self.status = sequence, status
        if status & (_SERIOUS | _SATURATED):
            self.bad += 1
            return False
        self._sample[:] = counts
        return True

    def _factors(self) -> np.ndarray:
        """Counts for a newton and for a newton metre, from the device's own page."""
        url = f"http://{self._host}:{self._page_port}/{PAGE}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(url, timeout=_SECONDS) as page:
                text = page.read(_PAGE_BYTES).decode("utf-8", "replace")
        except (OSError, urllib.error.URLError) as error:
            raise RobotError(
                f"{self.name}: its scale factors cannot be read from {url} ({error}); is this "
                "the sensor's address, and on this network?"
            ) from None
        return np.array([_per(text, "cfgcpf", _FORCES), _per(text, "cfgcpt", _TORQUES)])


# What the device's units are in N and Nm.
_FORCES = {"N": 1.0, "kN": 1e3, "lbf": 4.4482216152605, "klbf": 4448.2216152605, "kg": 9.80665}
_TORQUES = {
    "Nm": 1.0,
    "N-m": 1.0,
    "kNm": 1e3,
    "Nmm": 1e-3,
    "lbf-in": 0.1129848290276167,
    "lbf-ft": 1.3558179483314004,
    "kgcm": 0.0980665,
}


def _per(text: str, tag: str, units: dict[str, float]) -> float:
    """Counts for a newton or newton metre: what the page says, less the device's choice of unit."""
    found = re.search(rf"<{tag}>\s*([0-9.eE+-]+)\s*</{tag}>", text)
    unit_tag = "scfgfu" if units is _FORCES else "scfgtu"
    unit = re.search(rf"<{unit_tag}>\s*([^<]*?)\s*</{unit_tag}>", text)
    counts = float(found[1]) if found else math.nan
    name = unit[1] if unit else ""
    if not 0 < counts < math.inf or name not in units:
        raise RobotError(
            f"netft: its page gives {tag} as {found[1] if found else 'nothing'} for {name!r}; "
            f"known units are {', '.join(units)}: choose one on the device's Configurations page"
        )
    return counts / units[name]
