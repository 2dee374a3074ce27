"""The numbers by which a UR controller names its states, in words.

Source: Universal Robots, "Real-Time Data Exchange (RTDE) Guide".
"""

from __future__ import annotations

ROBOT_RUNNING = 7
ROBOT_MODES = {
    -1: "no controller",
    0: "disconnected",
    1: "confirm safety",
    2: "booting",
    3: "power off",
    4: "power on",
    5: "idle",
    6: "backdrive",
    7: "running",
    8: "updating firmware",
}
SAFE_MODES = {1: "normal", 2: "reduced"}
SAFETY_MODES = {
    **SAFE_MODES,
    3: "protective stop",
    4: "recovery",
    5: "safeguard stop",
    6: "system emergency stop",
    7: "robot emergency stop",
    8: "violation",
    9: "fault",
    10: "validate joint id",
    11: "undefined",
    12: "automatic mode safeguard stop",
    13: "three position enabling stop",
}
