"""The pose of equilibrium as users give it: a file's path, or position and orientation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ur_admittance.config.field import BadValue, Entry, Field, Problem, shown
from ur_admittance.config.validate import suggest

POSE_KEYS = {
    "position": (Field("number", "", "m", (-100.0, 100.0), size=3), "xyz"),
    "orientation": (Field("number", "", "w, x, y, z", (-1.001, 1.001), size=4), "wxyz"),
}


class Pose(NamedTuple):
    """A pose in the base frame: position [m], orientation as unit quaternion [w, x, y, z]."""

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]


def clean_equilibrium(value: Any) -> str | Pose:
    """The path of a pose file, or a pose from position and orientation."""
    if isinstance(value, str):
        if not value.isprintable() or not value.endswith((".yaml", ".yml")) or len(value) > 1000:
            raise BadValue(f"must be the path of a .yaml file, got {shown(value)}")
        if ".." in re.split(r"[/\\]", value):
            raise BadValue(f"must not climb with '..', got {shown(value)}; give the full path")
        return value
    value = value._asdict() if isinstance(value, Pose) else value
    if not isinstance(value, Mapping):
        raise BadValue(f"must be a path, or position and orientation, got {shown(value)}")
    pose, problems = pose_of([Entry(str(key), part) for key, part in value.items()])
    if pose is None:
        raise BadValue("; ".join(f"{p.name} {p.message}" for p in problems))
    return pose


def pose_of(entries: Sequence[Entry]) -> tuple[Pose | None, list[Problem]]:
    """The pose in entries named position and orientation, each a list or a mapping by letter."""
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for name, value, line, column in entries:
        try:
            if name not in POSE_KEYS or name in found:
                known = suggest(name, POSE_KEYS)
                raise BadValue("written twice" if name in found else f"unknown key{known}")
            field, letters = POSE_KEYS[name]
            if isinstance(value, Mapping):
                if set(value) != set(letters):
                    got = ", ".join(map(str, value))
                    raise BadValue(f"must have the keys {', '.join(letters)}, got {got}")
                value = [value[letter] for letter in letters]
            found[name] = field.clean(value)
            norm = math.hypot(*found[name])
            if name == "orientation" and not abs(norm - 1.0) <= 1e-3:
                raise BadValue(f"must be a unit quaternion [w, x, y, z], got norm {norm:.6g}")
            if name == "orientation" and abs(norm - 1.0) > 1e-12:
                found[name] = tuple(part / norm for part in found[name])
        except BadValue as error:
            problems.append(Problem(name, str(error), line, column))
    missing = [name for name in POSE_KEYS if all(entry.name != name for entry in entries)]
    problems += [
        Problem(name, f"is missing; give {POSE_KEYS[name][0].allowed}") for name in missing
    ]
    return (None if problems else Pose(**found)), problems
