"""Force-compliant control for Universal Robots arms.

    M a + D v + K x = F

A force/torque sensor feels a push; the arm gives way like the mass, damper and spring you chose,
inside speed, acceleration, workspace and joint limits that it never breaks.
"""

from ur_admittance._version import __version__
from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.controller.packing import Change
from ur_admittance.errors import (
    AdmittanceError,
    CalibrationError,
    ConfigError,
    ModelError,
    RobotError,
)
from ur_admittance.faults import Event, Stop, StopReason
from ur_admittance.model import RobotModel
from ur_admittance.rollout import LaggedArm, Noise, Rollout, Strip, Surface, rollout
from ur_admittance.run import Run, run


def presets() -> tuple[str, ...]:
    """Names of the configurations that come with the package; `Config.preset(name)` loads one."""
    return Config.presets()


__all__ = [
    "AdmittanceError",
    "CalibrationError",
    "Change",
    "Config",
    "ConfigError",
    "Controller",
    "Event",
    "LaggedArm",
    "ModelError",
    "Noise",
    "RobotError",
    "RobotModel",
    "Rollout",
    "Run",
    "Stop",
    "StopReason",
    "Strip",
    "Surface",
    "__version__",
    "presets",
    "rollout",
    "run",
]
