"""Ranges of sensors that can be named instead of typed: those whose maker's table is at hand."""

from __future__ import annotations

from typing import Any

from ur_admittance.config.field import BadValue, Field, shown
from ur_admittance.config.validate import suggest

RANGES = {
    # ATI, "F/T Sensor, Ethernet Axia" (9610-05-Ethernet Axia-09), table 4.8, of table 15.3
    "ati-axia80-m20-range-0": (500.0, 500.0, 900.0, 20.0, 20.0, 20.0),
    # ATI, "F/T Sensor, Ethernet Axia" (9620-05-C-Ethernet Axia-02), table 5.8
    "ati-axia90-m50-range-0": (1000.0, 1000.0, 2000.0, 50.0, 50.0, 50.0),
}
"""Greatest reading of each axis, N and Nm, for the calibration that the sensor is set to."""

_SIX = Field("number", "", "N, Nm", (0.0, 1e5), above=True, size=6)


def clean_range(value: Any) -> tuple[float, ...]:
    """Six numbers, or the name of a sensor in their place."""
    if not isinstance(value, str):
        return _SIX.clean(value)
    if value in RANGES:
        return RANGES[value]
    raise BadValue(
        f"must be {_SIX.allowed}, or a sensor of {', '.join(RANGES)}, got "
        f"{shown(value)}{suggest(value, RANGES)}"
    )
