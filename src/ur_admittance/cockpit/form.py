"""The form of the page: every parameter of the schema as a slider, field, switch or choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ur_admittance.config import Config
from ur_admittance.config.advice import advice_on, axes_of
from ur_admittance.config.field import Field

GAINS = ("admittance.mass", "admittance.damping", "admittance.stiffness")
_DECADES = 1.5  # that a slider reaches to each side of its middle
_SMALL = {"admittance.stiffness": (10.0, 0.5)}  # least above 0, translation and rotation
_MOST = {"admittance.stiffness": (5000.0, 200.0)}
_MIDDLE = {
    "admittance.mass": (4.0, 0.2),
    "admittance.damping": (100.0, 3.0),
}


def form() -> list[dict[str, Any]]:
    """Every parameter, in schema order, as the page needs it to draw a control."""
    return [_control(field) for field in Config.fields()]


def values_of(config: Config) -> dict[str, Any]:
    """Every value by its name, how the axes behave with them, and what is unwise."""
    return {
        "values": config.flat(),
        "axes": [axis._asdict() for axis in axes_of(config)],
        "advice": list(advice_on(config)),
        "loop_delay": config.loop_delay,
    }


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What is not as it was: name -> [before, now]."""
    return {name: [before[name], now[name]] for name in now if before[name] != now[name]}


def live_changes(current: Config, wanted: Config) -> tuple[dict[str, Any], list[str]]:
    """What changes one configuration into another live, and names of what differs but may not."""
    live = {field.name: field.live for field in Config.fields()}
    before, now = current.flat(), wanted.flat()
    differs = [name for name in now if before[name] != now[name]]
    changes = {name: now[name] for name in differs if live[name]}
    # Of two keys that set one thing the one that is given rules: leave out what is none.
    changes = {name: value for name, value in changes.items() if value is not None}
    return changes, [name for name in differs if not live[name]]


def _control(field: Field) -> dict[str, Any]:
    control: dict[str, Any] = {
        "name": field.name,
        "group": field.name.rpartition(".")[0] or "general",
        "kind": field.kind,
        "text": field.text,
        "units": [unit.strip() for unit in field.unit.split(",")] if field.unit else [],
        "size": field.size,
        "scalar": field.or_scalar,
        "optional": field.optional,
        "choices": list(field.choices),
        "live": field.live,
        "bounds": list(field.bounds) if field.bounds else None,
        "allowed": field.allowed,
    }
    if field.kind == "number" and field.bounds:
        control["slider"] = [_slider(field, part) for part in range(2 if field.size == 6 else 1)]
    return control


def _slider(field: Field, part: int) -> dict[str, Any]:
    """From where to where a slider goes, and whether by factors; `part` 0 is translation."""
    low, high = field.bounds or (0.0, 1.0)
    if field.name in _SMALL:
        return {
            "log": True,
            "zero": True,
            "low": _SMALL[field.name][part],
            "high": _MOST[field.name][part],
        }
    middle = _MIDDLE.get(field.name, (_first(field.default, part),) * 2)[part]
    if low >= 0.0 and middle and middle > 0.0 and high / middle >= 4.0:
        reach = 10.0**_DECADES
        least = max(middle / reach, low) if low > 0 else middle / reach
        return {
            "log": True,
            "zero": False,
            "low": _nice(least),
            "high": _nice(min(middle * reach, high)),
        }
    return {"log": False, "zero": False, "low": low, "high": high}


def _first(value: Any, part: int) -> float | None:
    if isinstance(value, (tuple, list)):
        value = value[3 * part if len(value) == 6 else 0]
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _nice(value: float) -> float:
    """The same with two digits."""
    digits = 1 - math.floor(math.log10(value))
    return round(value, digits)
