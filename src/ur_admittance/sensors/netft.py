"""An ATI Net F/T over RDT: UDP packets of counts, scaled by what the device itself says.

OnRobot's HEX, with its Ethernet box, speaks the same. Source: ATI Industrial Automation, "Network
Force/Torque Sensor System Manual" (9620-05-NET FT), RDT, `netftapi2.xml` and system status code;
for Axia "F/T Sensor, Ethernet Axia" (9610-05-Ethernet Axia-09), table 4.7. A request is 8 bytes:
0x1234, command, count; an answer 36: two sequence numbers, status, six counts.
"""

from __future__ import annotations

import math
import re
import socket
import struct
import urllib.error
import urllib.request

import numpy as np

from ur_admittance.config.validate import as_sign
from ur_admittance.errors import RobotError
from ur_admittance.sensors.base import WrenchSource

PORT, PAGE = 49152, "netftapi2.xml"
STOP, START = 0, 2  # commands
_REQUEST, _ANSWER = struct.Struct(">HHI"), struct.Struct(">3I6i")
_MAGIC = 0x1234
_SECONDS = 3.0  # for the page and the first sample
_MOST = 256  # samples taken at once, four cycles at 7 kHz and 125 Hz
_BAD = 1 << 31 | 1 << 30 | 1 << 28 | 1 << 17  # of the status: any of these, and it is not believed
_PAGE_BYTES = 1 << 18

# Bits of the status, and what an Axia means by them where that differs.
_MEANS = {
    30: "an error of its processor or memory (Axia: force or torque out of range)",
    29: "an error of its digital board (Axia: checksum of the calibration)",
    28: "an error of its analog board (Axia: simulated error)",
    27: "an error of its serial link (Axia: a strain gauge out of range)",
    26: "an error of its program memory",
    25: "halted by its configuration",
    24: "settings that are not valid",
    23: "a configuration that does not fit the calibration",
    22: "an error of its network",
    21: "an error of CAN",
    20: "an error of RDT",
    19: "an error of EtherNet/IP",
    18: "an error of DeviceNet",
    17: "a saturated strain gauge, or an error of its A/D converter",
    16: "a monitor condition that is latched",
    14: "a watchdog that ran out",
    13: "an error of its stack",
    12: "an error of its EEPROM",
    11: "an error of its flash memory",
    10: "a watchdog of its analog board that ran out",
    9: "too much current through the strain gauges",
    8: "too little current through the strain gauges",
    7: "an analog ground out of range",
    6: "too high a supply of its analog board",
    5: "too low a supply of its analog board (Axia: some other error)",
    4: "no data on its serial link",
    3: "a reference voltage out of range (Axia: busy)",
    2: "too high or low a temperature (Axia: a broken strain gauge)",
    1: "an error of its web page (Axia: supply voltage out of range)",
    0: "(Axia: temperature out of range)",
}


class NetFt(WrenchSource):
    """The sensor at an address: it streams, and what is newest counts.

    Its socket does not block, and there is no thread: `newest` takes what has come.

    Attributes:
        scale: (6,) counts for a newton, and for a newton metre.
        lost: samples that never came.
        old: samples that came after newer ones, and were dropped.
        bad: packets that were none, or whose status said that the sample is not to be trusted.
        status: of the last packet.
    """

    def __init__(
        self, host: str, *, X_ES: np.ndarray | None = None, average: bool = False, sign: int = 1
    ) -> None:
        """
        Args:
            host: address, and after a colon the port of RDT, if it is not 49152; after a second
                one that of the page.
            X_ES: (4, 4) sensor in the flange; default: where the robot's model has it.
            average: of the samples between two calls, the mean; else the newest.
            sign: -1 for a sensor that is mounted the other way round, and reports the reaction.
        """
        super().__init__(f"netft://{host}", X_ES)
        self._host, _, ports = host.strip("/").partition(":")
        port, _, page = ports.partition(":")
        if not self._host or not all(number.isdigit() for number in (port, page) if number):
            raise RobotError(f"netft://{host}: no address; write it as netft://192.168.1.20")
        if not isinstance(average, bool):
            raise RobotError(f"{self.name}: average: must be true or false, got {average!r:.100}")
        self._port, self._page_port = int(port or PORT), int(page or 80)
        self.scale = np.full(6, np.nan)
        self.lost = self.old = self.bad = self.status = 0
        self._average, self._sign = average, as_sign("NetFt", sign)
        self._buffer = bytearray(64)
        self._sequence = -1
        self._sum, self._sample = np.zeros(6), np.zeros(6)
        self._sock: socket.socket | None = None

    def connect(self) -> None:
        """As every source: reads the scale factors, and lets it stream."""
        self.scale = np.repeat(self._factors(), 3) / self._sign
        sock = self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.connect((self._host, self._port))
            sock.send(_REQUEST.pack(_MAGIC, START, 0))
            sock.settimeout(_SECONDS)
            if not self._take(sock.recv_into(self._buffer)):
                raise RobotError(self.problem or f"{self.name}: its first packet is none of RDT's")
        except OSError as error:
            self.close()
            raise RobotError(
                f"{self.name}: no samples on UDP port {self._port} ({error}); is RDT enabled on "
                "the device's Communications page, and no other computer its client?"
            ) from None
        except RobotError:
            self.close()
            raise
        sock.setblocking(False)

    def newest(self, wrench: np.ndarray, now: float) -> float:
        """As every source; with `average` the mean of the samples since the last call.

        As long as more have piled up than are taken at once, none of them counts as new.
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
            except OSError as error:  # nobody there any more: its samples grow old
                self.problem = (
                    f"{self.name}: {error.strerror}; is it switched on, and its cable in?"
                )
                break
            if self._take(size):
                count += 1
                self._sum += self._sample
        else:
            count = 0
        if count:
            self.arrived = now
            if self._average:
                np.divide(self._sum, count, out=self._sample)
        np.divide(self._sample, self.scale, out=wrench)
        return self.arrived

    def close(self) -> None:
        """As every source: lets it stop to stream."""
        if self._sock is not None:
            try:
                self._sock.send(_REQUEST.pack(_MAGIC, STOP, 0))
            except OSError:
                self.bad += 1
            self._sock.close()
            self._sock = None

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
        self._sequence = sequence
        if status & _BAD:
            if status != self.status or not self.problem:
                self.problem = self._words(status)
            self.status = status
            self.bad += 1
            return False
        self.status, self.problem = status, ""
        self.count += 1
        self._sample[:] = counts
        return True

    def _words(self, status: int) -> str:
        """What a status says, and what to do."""
        means = [words for bit, words in _MEANS.items() if status >> bit & 1] or ["an error"]
        return (
            f"{self.name} reports {', '.join(means)} (status 0x{status:08x}); relieve the tool, "
            "and if that does not help, see the status on the device's own page"
        )

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
