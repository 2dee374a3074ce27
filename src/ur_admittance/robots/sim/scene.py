"""What stands around a simulated arm, and what it holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ur_admittance.config.validate import within
from ur_admittance.errors import RobotError


@dataclass(frozen=True)
class Box:
    """A block: table, wall, or any part of a fixture.

    Attributes:
        center: m, in W.
        size: full lengths along its axes, m.
        yaw: turn about W's z, rad.
    """

    center: tuple[float, float, float]
    size: tuple[float, float, float]
    yaw: float = 0.0


@dataclass(frozen=True)
class Cylinder:
    """A lying or standing cylinder: a curved surface to follow.

    Attributes:
        start, end: centres of its two faces, m, in W.
        radius: m.
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class Sphere:
    """A ball: a surface curved both ways.

    Attributes:
        center: m, in W.
        radius: m.
    """

    center: tuple[float, float, float]
    radius: float


Shape = Box | Cylinder | Sphere


@dataclass(frozen=True)
class Scene:
    """What stands around the arm, and how it feels.

    Attributes:
        shapes: see `table`, `wall` and `hole` for the usual ones.
        stiffness: of every contact, N/m.
        damping: of every contact, N s/m.
        friction: Coulomb's coefficient.
    """

    shapes: tuple[Shape, ...] = ()
    stiffness: float = 20_000.0
    damping: float = 200.0
    friction: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        for shape in self.shapes:
            if not isinstance(shape, Shape):
                raise RobotError(
                    f"scene: shapes must be Box, Cylinder or Sphere, got {shape!r:.100}"
                )
        within("scene: stiffness", self.stiffness, 1.0, 200_000.0, "N/m")
        within("scene: damping", self.damping, 0.0, 2_000.0, "N s/m")
        within("scene: friction", self.friction, 0.0, 10.0)


def table(height: float = 0.0, size: float = 1.6, x: float = 0.6) -> Box:
    """A table top at z = `height` m, `size` m square, its middle at (x, 0)."""
    return Box((x, 0.0, height - 0.02), (size, size, 0.04))


def wall(x: float, size: float = 1.5) -> Box:
    """A wall across W's x axis whose face is at `x` m, the material beyond it."""
    return Box((x + math.copysign(0.02, x), 0.0, size / 2), (0.04, size, size))


def hole(
    x: float, y: float, height: float, width: float = 0.022, depth: float = 0.05
) -> tuple[Box, ...]:
    """A square hole for a peg, `width` m wide and `depth` m deep, its mouth at (x, y, height)."""
    side, block = width / 2, 0.04
    z, outer = height - depth / 2, width + 2 * block
    return (
        Box((x + side + block / 2, y, z), (block, outer, depth)),
        Box((x - side - block / 2, y, z), (block, outer, depth)),
        Box((x, y + side + block / 2, z), (width, block, depth)),
        Box((x, y - side - block / 2, z), (width, block, depth)),
        Box((x, y, height - depth - 0.005), (outer, outer, 0.01)),
    )


@dataclass(frozen=True)
class Tool:
    """What the arm holds, and what the sensor weighs.

    Attributes:
        radius: of the ball centred at P or, with a length, of the peg, m.
        length: of a peg along P's z whose round nose ends at P, m; 0 for a ball.
        mass: of everything beyond the sensor, kg.
        com: its centre of mass in S, m.
        inertia: its principal inertias about the centre of mass, in S axes, kg m^2; None: those of
            a ball of 5 cm radius.
        mesh: file of its shape in flange axes, instead of ball and peg. Its convex hull touches,
            with a spring of the scene's stiffness at each corner: four, where a face lies flat.
        mesh_scale: metres of one unit of that file.
    """

    radius: float = 0.02
    length: float = 0.0
    mass: float = 0.0
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float] | None = None
    mesh: str | None = None
    mesh_scale: float = 1.0

    def __post_init__(self) -> None:
        if not (self.radius > 0 and self.length >= 0 and self.mass >= 0):
            raise RobotError(
                "tool: radius must be above 0 m, length and mass 0 or more; got "
                f"{self.radius} m, {self.length} m, {self.mass} kg"
            )
        if 0 < self.length <= 2 * self.radius:
            raise RobotError(
                f"tool: a peg of {self.radius} m radius must be longer than it is thick, or 0 for "
                f"a ball; got {self.length} m"
            )
