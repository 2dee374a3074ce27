"""The protocol of every wrench source: a force/torque sensor that is not the robot's own.

    with sensors.make("netft://192.168.1.20") as sensor:
        arrived = sensor.newest(wrench, time.monotonic())

A robot that is given one takes its wrench from there. All calls come from one thread, the control
loop's, once a cycle: `connect` may take seconds; `newest` and `close` never wait for anybody, and
leave the loop its time: 0.1 ms at most, as a rule. A device that cannot be asked like that has a
thread of the source's own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

import numpy as np


class WrenchSource(ABC):
    """A sensor at an address. It is made, then connected, then closed, each once.

    Attributes:
        name: what to call it in messages, such as "netft://192.168.1.20".
        X_ES: (4, 4) S in the flange; None: it does not say, the robot's model does.
        frame: name of S, the frame in which its wrench is given.
        compensated: whether tool weight and bias are out of the wrench already.
        real: whether it has noise: readings that never change are those of a dead one.
        arrived: when the newest good sample came, s on the clock of those who ask.
        count: how many good samples have come.
        problem: what has been wrong with all samples since the last good one, in words, what to do
            behind the last semicolon; "" if nothing is. Bad samples are not used.
    """

    frame = "sensor"
    compensated = False
    real = True

    def __init__(self, name: str, X_ES: np.ndarray | None = None) -> None:
        self.name, self.X_ES = name, X_ES
        self.arrived, self.count, self.problem = -math.inf, 0, ""

    @abstractmethod
    def connect(self) -> None:
        """Open the connection, and see a first good sample.

        Raises:
            RobotError: it is not there, sends nothing, or says that something is wrong with it.
        """

    @abstractmethod
    def newest(self, wrench: np.ndarray, now: float) -> float:
        """Write the newest good sample, and return when it arrived: `arrived`.

        A sample that was there before is written again, and keeps its time: it grows old, and that
        is noticed.

        Args:
            wrench: (6,) [force; torque], N and N m, what the world does to the tool, in S axes at
                S's origin.
            now: s, on the clock of the robot: a sample that is new arrived now.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of it. May be called twice, and before it was connected."""

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
