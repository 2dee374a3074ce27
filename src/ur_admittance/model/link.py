"""A moving body of the arm: mass, centre of mass, inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ur_admittance.config.validate import as_numbers
from ur_admittance.errors import ModelError


@dataclass(frozen=True, eq=False)
class Link:
    """What one joint moves, as a rigid body."""

    name: str  # of the link
    mass: float  # kg
    com: np.ndarray  # (3,) centre of mass in the joint's moved frame, m
    # (3, 3) about the centre of mass, in the axes of the joint's moved frame, kg m^2
    inertia: np.ndarray

    def __post_init__(self) -> None:
        where = f"link {self.name!r}"
        mass = float(as_numbers(self.mass, f"{where}: mass", ()))
        if not mass > 0:
            raise ModelError(f"{where}: mass is {mass} kg; it must be above 0")
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "com", as_numbers(self.com, f"{where}: com", (3,)))
        object.__setattr__(self, "inertia", as_numbers(self.inertia, f"{where}: inertia", (3, 3)))

    def __reduce__(self) -> tuple:
        return Link, (self.name, self.mass, self.com, self.inertia)
