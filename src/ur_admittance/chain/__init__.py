"""Controllers that chain: state, command and reference interfaces as views of one array.

manager = ControllerManager(robot.model)
manager.load(
    PosePlayer(robot.model, waypoints, config),
    AdmittanceLink(ua.Controller(robot.model, config), desired="player"),
    VelocityForward("admittance"),
)
manager.switch(activate=["player", "admittance", "forward"])
manager.run(robot, seconds=10)
"""

from ur_admittance.chain.admittance import AdmittanceLink
from ur_admittance.chain.interfaces import DESIRED, Link, Pacer, Ports, positions, velocities
from ur_admittance.chain.links import (
    Desired,
    PolicyLink,
    PositionForward,
    ScaledTrajectory,
    VelocityForward,
)
from ur_admittance.chain.manager import ControllerManager
from ur_admittance.chain.planned import TrajectoryPlayer
from ur_admittance.chain.player import PosePlayer, Waypoint
from ur_admittance.chain.report import Failure

__all__ = [
    "DESIRED",
    "AdmittanceLink",
    "ControllerManager",
    "Desired",
    "Failure",
    "Link",
    "Pacer",
    "PolicyLink",
    "Ports",
    "PosePlayer",
    "PositionForward",
    "ScaledTrajectory",
    "TrajectoryPlayer",
    "VelocityForward",
    "Waypoint",
    "positions",
    "velocities",
]
