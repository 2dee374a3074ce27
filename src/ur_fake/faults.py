"""Faults on purpose: what goes wrong on the wire, in the sensor, in the arm, or with who it is.

A fault is one line of text, `WHERE:WHAT[=VALUE][@SECONDS]`, the same for the command line, Python
and the control socket; `@SECONDS` is the controller's time at which it begins.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ur_admittance.errors import ConfigError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.identity import Identity

WIRES = ("rtde", "primary", "secondary", "realtime", "dashboard")
# What each place can suffer: whether it takes a value, and the words of the help.
ON_THE_WIRE = {
    "drop": "share of packets that vanish, 0 to 1",
    "delay": "s that every packet is late",
    "jitter": "s that a packet may be late, evenly spread; order is kept",
    "duplicate": "share of packets that come twice, 0 to 1",
    "truncate": "share of packets cut short, 0 to 1",
    "flip": "share of packets with one bit turned, 0 to 1",
    "close": "",
    "freeze": "",
}
IN_RTDE = {"refuse": "name of a variable this controller does not have"}
IN_THE_SENSOR = {
    "freeze": "",
    "drift": "N a second along every axis, N m/10 about it",
    "saturate": "N that no force exceeds, N m/10 for torques",
    "sign": "",
}
IN_THE_ARM = {"slow": "times as slow as told, 1 or more"}
IN_THE_IDENTITY = {
    "serial": "digits",
    "model": "ur3e to ur30: what it says it is",
    "version": "such as 5.11.0",
    "calibration": "a whole number; each is another arm",
}
PLACES: dict[str, dict[str, str]] = {
    **{wire: ON_THE_WIRE for wire in WIRES},
    "rtde": ON_THE_WIRE | IN_RTDE,
    "sensor": IN_THE_SENSOR,
    "arm": IN_THE_ARM,
    "identity": IN_THE_IDENTITY,
}
_SHARES = ("drop", "duplicate", "truncate", "flip")
_TEXTS = ("refuse", "serial", "model", "version", "calibration")


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        where: a place of `PLACES`.
        what: one of what that place can suffer.
        value: as text; "" where it takes none.
        at: s on the controller's clock.
    """

    where: str
    what: str
    value: str = ""
    at: float = 0.0

    @staticmethod
    def parse(text: str) -> Fault:
        """Read `WHERE:WHAT[=VALUE][@SECONDS]`.

        Raises:
            ConfigError: if there is no such place or fault, or its value makes no sense.
        """
        body, _, at = text.partition("@")
        where, _, rest = body.partition(":")
        what, _, value = rest.partition("=")
        if where not in PLACES:
            raise ConfigError(f"fault {text!r}: no place {where!r}; there are {', '.join(PLACES)}")
        if what not in PLACES[where]:
            known = ", ".join(PLACES[where])
            raise ConfigError(f"fault {text!r}: {where} cannot {what!r}; it can {known}")
        meaning = PLACES[where][what]
        if bool(meaning) != bool(value):
            needs = f"needs a value ({meaning})" if meaning else "takes no value"
            raise ConfigError(f"fault {text!r}: {what} {needs}")
        fault = Fault(where, what, value, _number(text, at) if at else 0.0)
        if meaning and what not in _TEXTS:
            number = _number(text, value)
            least = 1.0 if what == "slow" else -math.inf if what == "drift" else 0.0
            most = 1.0 if what in _SHARES else math.inf
            if not least <= number <= most:
                raise ConfigError(f"fault {text!r}: {what} is {value}; it means {meaning}")
        return fault

    @property
    def number(self) -> float:
        """The value as a number."""
        return float(self.value)


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"fault {text!r}: {value!r} is no number")
    return number


class BadLine:
    """The way of packets to one client, while something is wrong with it. Order is kept: this is
    TCP.
    """

    def __init__(self, faults: Iterable[Fault], seed: int) -> None:
        worst: dict[str, float] = {}
        for fault in faults:
            worst[fault.what] = max(worst.get(fault.what, 0.0), fault.number)
        self._worst = worst
        self._random = random.Random(seed)
        self._queue: deque[tuple[float, bytes]] = deque()

    def push(self, packet: bytes, time: float) -> None:
        """A packet leaves the controller."""
        chance, worst = self._random.random, self._worst.get
        if chance() < worst("drop", 0.0):
            return
        if chance() < worst("truncate", 0.0):
            packet = packet[: self._random.randrange(len(packet) + 1)]
        if packet and chance() < worst("flip", 0.0):
            turned = bytearray(packet)
            turned[self._random.randrange(len(turned))] ^= 1 << self._random.randrange(8)
            packet = bytes(turned)
        due = time + worst("delay", 0.0) + chance() * worst("jitter", 0.0)
        if self._queue:
            due = max(due, self._queue[-1][0])
        for _ in range(1 + (chance() < worst("duplicate", 0.0))):
            self._queue.append((due, packet))

    def pop(self, time: float) -> Iterator[bytes]:
        """Packets that arrive by now."""
        while self._queue and self._queue[0][0] <= time + 1e-9:
            yield self._queue.popleft()[1]


class BadSensor:
    """What a wrist sensor reports when something is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._faults = tuple(faults)
        self._held: np.ndarray | None = None

    def __call__(self, time: float, wrench: np.ndarray) -> np.ndarray:
        """The reading of a true wrench (6,), N and N m, at a time of the controller, s."""
        reading = np.array(wrench, dtype=float)
        for fault in self._faults:
            if time < fault.at:
                continue
            if fault.what == "sign":
                reading = -reading
            elif fault.what == "drift":
                gone = fault.number * (time - fault.at)
                reading[LINEAR] += gone
                reading[ANGULAR] += gone / 10
            elif fault.what == "saturate":
                most = fault.number
                reading[LINEAR] = np.clip(reading[LINEAR], -most, most)
                reading[ANGULAR] = np.clip(reading[ANGULAR], -most / 10, most / 10)
            elif fault.what == "freeze":
                self._held = reading if self._held is None else self._held
                reading = self._held.copy()
        return reading


def other_identity(identity: Identity, faults: Iterable[Fault]) -> Identity:
    """Who the controller says it is, with what is wrong with that."""
    for fault in faults:
        if fault.where != "identity":
            continue
        if fault.what == "serial":
            if not (fault.value.isascii() and fault.value.isdigit()):
                raise ConfigError(f"fault serial={fault.value!r}: must be digits")
            identity = replace(identity, serial_number=fault.value)
        elif fault.what == "version":
            identity = replace(identity, version=_version(fault))
        elif fault.what == "calibration":
            identity = replace(identity, calibration=_calibration(fault))
    return identity


def _version(fault: Fault) -> tuple[int, int, int, int]:
    parts = fault.value.split(".")
    if not 2 <= len(parts) <= 4 or not all(part.isdigit() for part in parts):
        raise ConfigError(f"fault version={fault.value!r}: must be such as 5.11.0 or 5.11.0.108249")
    numbers = [*map(int, parts), 0, 0][:4]
    if numbers[0] > 255 or numbers[1] > 255 or max(numbers) >= 1 << 31:
        raise ConfigError(f"fault version={fault.value!r}: numbers too large for a version")
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _calibration(fault: Fault) -> tuple[tuple[float, ...], ...]:
    """Rows theta, a, d, alpha of an arm as the factory would measure it: tenths of a millimetre and
    of a milliradian.
    """
    if not fault.value.isdigit():
        raise ConfigError(f"fault calibration={fault.value!r}: must be a whole number")
    generator = np.random.default_rng(int(fault.value))
    return tuple(map(tuple, generator.normal(0.0, 2e-4, (4, 6)).tolist()))
