"""Wrench sources that are not the robot, and the registry of them: which address leads to which."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ur_admittance.config.validate import as_numbers, pose_of, suggest
from ur_admittance.errors import ConfigError
from ur_admittance.sensors.base import WrenchSource

__all__ = ["WrenchSource", "make"]

SOURCES = {"netft": "ur_admittance.sensors.netft:NetFt"}
"""Our own: the address `netft://...` leads to that class. One line a source."""

GROUP = "ur_admittance.sensors"  # entry points of other packages: the same, in theirs


def make(url: str, **options: Any) -> WrenchSource:
    """The source at `url`, not yet connected.

    Args:
        url: such as "netft://192.168.1.20", or with options "netft://192.168.1.20?average=true".
        options: what a source of that kind takes, see `NetFt`; and of each `pose`, x y z [m] and
            rotation vector [rad] of S in the flange, six numbers.

    Raises:
        ConfigError: no source has that scheme, or it does not take that option.
    """
    scheme, _, rest = url.strip().partition("://")
    address, _, query = rest.partition("?")
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    found |= {name: EntryPoint(name, value, GROUP) for name, value in SOURCES.items()}
    scheme = scheme.lower()
    if scheme not in found:
        known = ", ".join(f"{name}://" for name in sorted(found))
        raise ConfigError(
            f"wrench {url!r:.100}: unknown kind {scheme!r:.100}; there are {known}"
            f"{suggest(scheme, found)}"
        )
    source = found[scheme].load()
    if not (isinstance(source, type) and issubclass(source, WrenchSource)):
        raise ConfigError(f"wrench {url!r:.100}: {found[scheme].value} is no WrenchSource")
    options = {**dict(_option(url, word) for word in query.split("&") if word), **options}
    if (pose := options.pop("pose", None)) is not None:
        six = as_numbers(pose, "wrench: pose", (6,), unit="m, rad", error=ConfigError)
        options["X_ES"] = pose_of(six)
    takes = list(inspect.signature(source).parameters)[1:]
    for name in options:
        if name not in takes:
            others = ", ".join("pose" if one == "X_ES" else one for one in takes)
            raise ConfigError(
                f"wrench {url!r:.100}: {scheme}:// takes no {name!r:.100}; it takes {others}"
                f"{suggest(name, takes)}"
            )
    return source(address, **options)


def _option(url: str, word: str) -> tuple[str, Any]:
    """Name and value of an option in an address: numbers, true and false, lists, or text."""
    name, sign, text = word.partition("=")
    if not sign:
        raise ConfigError(f"wrench {url!r:.100}: {word!r:.100} has no value; write {word}=VALUE")
    try:
        values = json.loads(f"[{text}]")
    except ValueError:
        return name, text
    return name, values[0] if len(values) == 1 else values
