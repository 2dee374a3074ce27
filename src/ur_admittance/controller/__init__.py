"""The controller: configuration and model become records, and each tick gives a command."""

from ur_admittance.controller.controller import MODES, TRACE_SECONDS, Controller
from ur_admittance.controller.live import LiveParameters
from ur_admittance.controller.packing import Change

__all__ = ["MODES", "TRACE_SECONDS", "Change", "Controller", "LiveParameters"]
