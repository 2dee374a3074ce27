"""The 1220 bytes that port 30003 sends in every cycle (software 5.10 and later)."""

from __future__ import annotations

import struct
from typing import Any

SIZE = 1220
_PACKET = struct.Struct(">i152d")


def packet(machine: Any) -> bytes:
    """One real-time packet. All numbers are doubles; bits are a whole number in a double."""
    unused, none = [0.0] * 6, [0.0] * 3
    elbow_position, elbow_velocity = machine.elbow()
    values = [
        machine.time,
        *machine.target_q.tolist(),
        *machine.target_qd.tolist(),
        *machine.target_qdd.tolist(),
        *machine.target_current.tolist(),
        *machine.target_moment.tolist(),
        *machine.actual_q.tolist(),
        *machine.actual_qd.tolist(),
        *machine.actual_current.tolist(),
        *machine.joint_control_output.tolist(),
        *machine.actual_TCP_pose.tolist(),
        *machine.actual_TCP_speed.tolist(),
        *machine.actual_TCP_force.tolist(),
        *machine.target_TCP_pose.tolist(),
        *machine.target_TCP_speed.tolist(),
        float(machine.actual_digital_input_bits),
        *([28.0] * 6),  # motor temperatures, degrees Celsius
        0.3,  # ms the controller took for its cycle
        0.0,
        float(machine.robot_mode),
        *(float(mode) for mode in machine.joint_mode),
        float(machine.safety_mode),
        *unused,
        *none,  # tool accelerometer
        *unused,
        float(machine.speed_scaling),
        0.0,  # norm of the linear momentum
        0.0,
        0.0,
        48.0,  # main voltage, V
        48.0,  # robot voltage, V
        0.6,  # robot current, A
        *([48.0] * 6),  # joint voltages, V
        float(machine.actual_digital_output_bits),
        float(machine.runtime_state),
        *elbow_position,
        *elbow_velocity,
        float(machine.safety_status),
        *none,
        float(machine.payload),
        *machine.payload_cog.tolist(),
        *machine.payload_inertia.tolist(),
    ]
    return _PACKET.pack(SIZE, *values)
