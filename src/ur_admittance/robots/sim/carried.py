"""What a configuration lets a simulated arm carry: so that it can be rehearsed as it is."""

from __future__ import annotations

from typing import Any

from ur_admittance.config import Config
from ur_admittance.controller.packing import carrying
from ur_admittance.model import RobotModel
from ur_admittance.robots.sim.scene import Tool


def carried(config: Config, name: str) -> dict[str, Any]:
    """Arguments of `SimRobot`: the arm with tool point and sensor, the tool's shape and weight, and
    what its sensor reads without load.

    The tool weighs what `tool` says; where that says nothing, what `payload` says.
    """
    payload = config.payload
    return {
        "model": carrying(RobotModel.ur(name), config),
        "tool": tool_of(config),
        "bias": (*payload.force_bias, *payload.torque_bias),
    }


def tool_of(config: Config) -> Tool:
    """Its shape and weight; of the inertia the three about the axes."""
    tool, payload = config.tool, config.payload
    mass = payload.mass if tool.mass is None else tool.mass
    com = payload.center_of_mass if tool.center_of_mass is None else tool.center_of_mass
    xx, yy, zz = (tool.inertia or payload.inertia)[:3]
    inertia = (xx, yy, zz) if min(xx, yy, zz) > 0.0 else None
    return Tool(tool.radius, tool.length, mass, com, inertia, tool.mesh, tool.mesh_scale)
