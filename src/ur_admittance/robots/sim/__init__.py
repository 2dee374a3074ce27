"""A simulated arm (MuJoCo), what stands around it, and hands that push it."""

from ur_admittance.robots.sim.hands import Hand, ScriptedPush, SpringHand
from ur_admittance.robots.sim.robot import SimRobot
from ur_admittance.robots.sim.scene import Scene, Tool
from ur_admittance.robots.sim.servo import following

__all__ = ["Hand", "Scene", "ScriptedPush", "SimRobot", "SpringHand", "Tool", "following"]
