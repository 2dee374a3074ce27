"""Who this controller says it is."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Identity:
    """What a client can ask of a controller before it moves anything.

    Attributes:
        serial_number: digits, as printed on the box.
        version: major, minor, bugfix, build of the software.
        build_date: of the software, as the version message says it.
        calibration: (4, 6) what the factory measured of this arm, added to the nominal rows
            theta [rad], a [m], d [m], alpha [rad].
    """

    serial_number: str = "20245500123"
    version: tuple[int, int, int, int] = (5, 21, 2, 1194300)
    build_date: str = "05-12-2024, 10:00:00"
    calibration: tuple[tuple[float, ...], ...] = field(default=((0.0,) * 6,) * 4)

    def checksums(self) -> tuple[int, ...]:
        """Six numbers that differ when the calibration of a joint, or the arm, differs."""
        columns = np.asarray(self.calibration, dtype=np.float64).reshape(4, 6).T
        seed = self.serial_number.encode()
        return tuple(zlib.crc32(seed + column.tobytes()) for column in columns)
