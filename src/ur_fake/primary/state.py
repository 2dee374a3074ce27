"""The robot state packet of ports 30001 and 30002: its sub-packets as bytes."""

from __future__ import annotations

import math
import struct
from typing import Any

from ur_fake.modes import RobotMode, RuntimeState, SafetyMode
from ur_fake.primary.messages import ROBOT_STATE, packet

(
    ROBOT_MODE_DATA,
    JOINT_DATA,
    TOOL_DATA,
    MASTERBOARD_DATA,
    CARTESIAN_INFO,
    KINEMATICS_INFO,
    CONFIGURATION_DATA,
    FORCE_MODE_DATA,
    ADDITIONAL_INFO,
) = range(9)

# `robot_type` of the configuration data. UR7e and UR12e are UR5e and UR10e by another name.
ROBOT_TYPES = {
    "ur5e": 1,
    "ur7e": 1,
    "ur10e": 2,
    "ur12e": 2,
    "ur3e": 3,
    "ur16e": 4,
    "ur8long": 6,
    "ur20": 7,
    "ur30": 8,
    "ur15": 9,
}
_LINEARIZED = 2  # how a calibrated arm shows once it is powered
_EMERGENCY = (SafetyMode.SYSTEM_EMERGENCY_STOP, SafetyMode.ROBOT_EMERGENCY_STOP)


def robot_state(machine: Any, model: str) -> bytes:
    """One robot state packet.

    Args:
        machine: the controller.
        model: the arm it says it is, "ur5e" to "ur30".
    """
    parts = (
        _robot_mode(machine),
        _joints(machine),
        _tool(),
        _masterboard(machine),
        _cartesian(machine),
        kinematics_info(machine),
        configuration_data(machine, model),
        _force_mode(machine),
        packet(ADDITIONAL_INFO, struct.pack(">4B", 0, 0, 0, 0)),
    )
    return packet(ROBOT_STATE, b"".join(parts))


def kinematics_info(machine: Any) -> bytes:
    """This very arm's table: checksum of each joint, then theta, a, d and alpha of all joints.

    The nominal table plus what the factory measured. The checksum is what clients compare.
    """
    theta, a, d, alpha = machine.dh.tolist()
    checksums = machine.identity.checksums()
    status = _LINEARIZED if machine.robot_mode >= RobotMode.POWER_ON else 0
    body = struct.pack(">6I24dI", *checksums, *theta, *a, *d, *alpha, status)
    return packet(KINEMATICS_INFO, body)


def configuration_data(machine: Any, model: str) -> bytes:
    """Limits and defaults, and the nominal table: a, d, alpha and theta of all joints."""
    arm = machine.model
    limits = [
        value
        for low, high in zip(arm.q_min.tolist(), arm.q_max.tolist(), strict=True)
        for value in (max(low, -2 * math.pi), min(high, 2 * math.pi))
    ]
    motion = [
        value
        for speed, acceleration in zip(arm.qd_max.tolist(), arm.qdd_max.tolist(), strict=True)
        for value in (speed, acceleration)
    ]
    theta, a, d, alpha = machine.nominal_dh.tolist()
    defaults = (1.05, 1.4, 0.25, 1.2, 0.5)  # movej and movel speed and acceleration; radius
    numbers = (0, 2, ROBOT_TYPES.get(model, 1), 0)  # masterboard, control box, arm, variant
    body = struct.pack(">53d4i", *limits, *motion, *defaults, *a, *d, *alpha, *theta, *numbers)
    return packet(CONFIGURATION_DATA, body)


def _robot_mode(machine: Any) -> bytes:
    mode, safety = machine.robot_mode, machine.safety_mode
    body = struct.pack(
        ">Q7?BB3dB",
        round(machine.time * 1e6),
        True,  # an arm is connected
        mode > RobotMode.DISCONNECTED,
        mode >= RobotMode.POWER_ON,
        safety in _EMERGENCY,
        safety == SafetyMode.PROTECTIVE_STOP,
        machine.runtime_state in (RuntimeState.PLAYING, RuntimeState.RESUMING),
        machine.runtime_state in (RuntimeState.PAUSED, RuntimeState.PAUSING),
        max(0, mode),
        0,  # control mode: position
        machine.target_speed_fraction,
        machine.speed_scaling,
        1.0,
        0,
    )
    return packet(ROBOT_MODE_DATA, body)


def _joints(machine: Any) -> bytes:
    one = struct.Struct(">3d4fB")
    body = b"".join(
        one.pack(q, q_target, qd, current, 48.0, 28.0, 0.0, int(mode) & 255)
        for q, q_target, qd, current, mode in zip(
            machine.actual_q.tolist(),
            machine.target_q.tolist(),
            machine.actual_qd.tolist(),
            machine.actual_current.tolist(),
            machine.joint_mode,
            strict=True,
        )
    )
    return packet(JOINT_DATA, body)


def _tool() -> bytes:
    return packet(TOOL_DATA, struct.pack(">BBddfBffB", 0, 0, 0.0, 0.0, 0.0, 0, 0.0, 28.0, 253))


def _masterboard(machine: Any) -> bytes:
    ins, outs = machine.analog_input, machine.analog_output
    body = struct.pack(
        ">IIBBddbbdd4fB??IB?B",
        machine.actual_digital_input_bits & 0xFFFFFFFF,
        machine.actual_digital_output_bits & 0xFFFFFFFF,
        0,
        0,
        float(ins[0]),
        float(ins[1]),
        0,
        0,
        float(outs[0]),
        float(outs[1]),
        30.0,  # degrees Celsius
        48.0,  # V
        0.6,  # A
        0.07,  # A
        machine.safety_mode,
        machine.safety_mode == SafetyMode.REDUCED,
        False,  # no Euromap 67
        0,
        0,
        False,
        0,
    )
    return packet(MASTERBOARD_DATA, body)


def _cartesian(machine: Any) -> bytes:
    pose, offset = machine.actual_TCP_pose.tolist(), machine.tcp_offset.tolist()
    return packet(CARTESIAN_INFO, struct.pack(">12d", *pose, *offset))


def _force_mode(machine: Any) -> bytes:
    force = machine.actual_TCP_force.tolist()
    return packet(FORCE_MODE_DATA, struct.pack(">7d", *force, 0.0))
