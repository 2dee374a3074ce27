"""What can stand around the simulated arm of the cockpit, and how it is told to the page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError
from ur_admittance.robots.sim.scene import Box, Cylinder, Scene, table

FEEL = {"steel": 50_000.0, "wood": 10_000.0, "foam": 1_000.0}  # N/m
GAP = 0.08  # m from the tool to a wall that is put beside it
_SIDES = {"+x": (0, 1), "-x": (0, -1), "+y": (1, 1), "-y": (1, -1), "-z": (2, -1)}
_THICK, _WIDE = 0.02, 0.5  # m
NAMES = ("empty", "table", "wall", "pipe")


def scene_of(wish: Mapping[str, Any], p_WP: np.ndarray) -> Scene:
    """The scene a page asks for.

    Args:
        wish: `name`, one of `NAMES`; for a wall `side`, such as '+x'; `feel`, one of `FEEL`.
        p_WP: (3,) where the tool is, m: nothing is put where it stands.
    """
    name, feel = wish.get("name"), wish.get("feel", "wood")
    if name not in NAMES:
        hint = suggest(str(name), NAMES)
        raise ConfigError(f"scene: no {name!r:.40}; there are {', '.join(NAMES)}{hint}")
    if feel not in FEEL:
        raise ConfigError(f"scene: feel must be one of {', '.join(FEEL)}, got {feel!r:.40}")
    stiffness = FEEL[feel]
    if name == "empty":
        return Scene()
    if name == "table":
        return Scene((table(height=float(min(0.2, p_WP[2] - GAP))),), stiffness=stiffness)
    if name == "pipe":
        x, y, z = (float(v) for v in p_WP)
        radius = 0.08
        low = z - GAP - radius
        return Scene((Cylinder((x, y - 0.4, low), (x, y + 0.4, low), radius),), stiffness=stiffness)
    side = wish.get("side", "+x")
    if side not in _SIDES:
        raise ConfigError(f"scene: side must be one of {', '.join(_SIDES)}, got {side!r:.40}")
    axis, sign = _SIDES[side]
    center, size = [float(v) for v in p_WP], [_WIDE, _WIDE, _WIDE]
    center[axis] += sign * (GAP + _THICK / 2)
    size[axis] = _THICK
    return Scene((Box(tuple(center), tuple(size)),), stiffness=stiffness)  # type: ignore[arg-type]


def drawn(scene: Scene) -> list[dict[str, Any]]:
    """The shapes of a scene, fit for JSON: their kind, and what their class says, m and rad."""
    return [
        {"kind": type(shape).__name__.lower(), **dataclasses.asdict(shape)}
        for shape in scene.shapes
    ]
