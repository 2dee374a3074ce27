"""The numbers by which a UR controller names its states.

Source: Universal Robots, "Real-Time Data Exchange (RTDE) Guide", tables of robot mode, safety mode,
joint mode, runtime state and status bits.
"""

from __future__ import annotations

from enum import IntEnum


class RobotMode(IntEnum):
    """`robot_mode`."""

    NO_CONTROLLER = -1
    DISCONNECTED = 0
    CONFIRM_SAFETY = 1
    BOOTING = 2
    POWER_OFF = 3
    POWER_ON = 4
    IDLE = 5
    BACKDRIVE = 6
    RUNNING = 7
    UPDATING_FIRMWARE = 8


class SafetyMode(IntEnum):
    """`safety_mode`."""

    NORMAL = 1
    REDUCED = 2
    PROTECTIVE_STOP = 3
    RECOVERY = 4
    SAFEGUARD_STOP = 5
    SYSTEM_EMERGENCY_STOP = 6
    ROBOT_EMERGENCY_STOP = 7
    VIOLATION = 8
    FAULT = 9


class SafetyBit(IntEnum):
    """Bit numbers of `safety_status_bits`."""

    NORMAL = 0
    REDUCED = 1
    PROTECTIVE_STOP = 2
    RECOVERY = 3
    SAFEGUARD_STOP = 4
    SYSTEM_EMERGENCY_STOP = 5
    ROBOT_EMERGENCY_STOP = 6
    EMERGENCY_STOP = 7
    VIOLATION = 8
    FAULT = 9
    STOPPED_DUE_TO_SAFETY = 10


class RobotBit(IntEnum):
    """Bit numbers of `robot_status_bits`."""

    POWER_ON = 0
    PROGRAM_RUNNING = 1
    TEACH_BUTTON = 2
    POWER_BUTTON = 3


class RuntimeState(IntEnum):
    """`runtime_state` of the program."""

    STOPPING = 0
    STOPPED = 1
    PLAYING = 2
    PAUSING = 3
    PAUSED = 4
    RESUMING = 5


class JointMode(IntEnum):
    """`joint_mode` of one joint."""

    POWER_OFF = 239
    BACKDRIVE = 238
    RUNNING = 253
    IDLE = 255
