"""The configuration: what each parameter is, what must hold between them, files and presets."""

from ur_admittance.config.field import AXES, Field
from ur_admittance.config.pose import Pose
from ur_admittance.config.schema import Config

__all__ = ["AXES", "Config", "Field", "Pose"]
