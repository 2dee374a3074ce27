"""What scenes and tools may be."""

from __future__ import annotations

import pytest

from tests.support import arm
from ur_admittance import RobotError
from ur_admittance.robots.sim.mjcf import build
from ur_admittance.robots.sim.scene import Scene, Sphere, Tool


def test_pegs_must_be_longer_than_thick():
    with pytest.raises(RobotError, match="longer than it is thick"):
        Tool(radius=0.01, length=0.015)


def test_scenes_and_tools_out_of_range_say_what_is_allowed():
    with pytest.raises(RobotError, match="stiffness: must be 1 to 200000 N/m, got 0"):
        Scene(stiffness=0)
    with pytest.raises(RobotError, match="Box, Cylinder or Sphere"):
        Scene(("table",))  # pyright: ignore[reportArgumentType]
    with pytest.raises(RobotError, match="mass 0 or more"):
        Tool(mass=-1)
    with pytest.raises(RobotError, match="above 0 m"):
        build(arm(), scene=Scene((Sphere((0, 0, 0), 0.0),)))
