"""The arm: kinematics, limits and bodies, from the maker's tables, a URDF or a calibration."""

from ur_admittance.model.link import Link
from ur_admittance.model.robot_model import RobotModel

__all__ = ["Link", "RobotModel"]
