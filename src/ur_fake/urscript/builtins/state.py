"""What a script can read about the arm and the program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.arm import poses
from ur_fake.arm.arm import CYCLE
from ur_fake.arm.readings import HISTORY
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import Pose, numbers, whole


def _six(array: np.ndarray) -> tuple:
    return tuple(array.tolist())


def get_actual_joint_positions(rt: Any) -> tuple:
    return _six(rt.machine.actual_q)


def get_joint_positions(rt: Any) -> tuple:
    return _six(rt.machine.actual_q)


def get_target_joint_positions(rt: Any) -> tuple:
    return _six(rt.machine.target_q)


def get_actual_joint_speeds(rt: Any) -> tuple:
    return _six(rt.machine.actual_qd)


def get_target_joint_speeds(rt: Any) -> tuple:
    return _six(rt.machine.target_qd)


def get_joint_speeds(rt: Any) -> tuple:
    return _six(rt.machine.actual_qd)


def get_target_joint_accelerations(rt: Any) -> tuple:
    return _six(rt.machine.target_qdd)


def get_actual_joint_positions_history(rt: Any, steps: Any = 0) -> tuple:
    """Joint positions that many cycles ago."""
    machine, n = rt.machine, whole(steps)
    if not 0 <= n < HISTORY:
        raise ScriptError(f"get_actual_joint_positions_history: 0 to {HISTORY - 1}, got {n}")
    return _six(machine.joints_before(n))


def get_joint_torques(rt: Any) -> tuple:
    """Torques of the joints less what gravity needs, N m."""
    machine = rt.machine
    return _six(machine.actual_moment - machine.arm.gravity_moments)


def get_joint_temp(rt: Any, j: Any) -> float:
    return 30.0


def get_actual_tcp_pose(rt: Any) -> Pose:
    return Pose(rt.machine.actual_TCP_pose.tolist())


def get_target_tcp_pose(rt: Any) -> Pose:
    return Pose(rt.machine.target_TCP_pose.tolist())


def get_actual_tool_flange_pose(rt: Any) -> Pose:
    machine = rt.machine
    return Pose(machine.inverse.forward(machine.actual_q, (0.0,) * 6))


def get_target_tool_flange_pose(rt: Any) -> Pose:
    machine = rt.machine
    return Pose(machine.inverse.forward(machine.target_q, (0.0,) * 6))


def get_actual_tcp_speed(rt: Any) -> tuple:
    return _six(rt.machine.actual_TCP_speed)


def get_target_tcp_speed(rt: Any) -> tuple:
    return _six(rt.machine.target_TCP_speed)


def get_target_tcp_speed_along_path(rt: Any) -> float:
    return math.hypot(*rt.machine.target_TCP_speed[LINEAR].tolist())


def get_target_waypoint(rt: Any) -> Pose:
    """Where the motion under way ends."""
    return Pose(rt.machine.motion.waypoint())


def get_tcp_force(rt: Any) -> tuple:
    """The wrench at the TCP, in base axes; what the world does to the tool."""
    return _six(rt.machine.actual_TCP_force)


def force(rt: Any) -> float:
    return math.hypot(*rt.machine.actual_TCP_force[LINEAR].tolist())


def get_tcp_offset(rt: Any) -> Pose:
    return Pose(rt.machine.tcp_offset.tolist())


def get_target_payload(rt: Any) -> float:
    return rt.machine.payload


def get_target_payload_cog(rt: Any) -> tuple:
    return _six(rt.machine.payload_cog)


def get_target_payload_inertia(rt: Any) -> tuple:
    return _six(rt.machine.payload_inertia)


def get_steptime(rt: Any) -> float:
    return CYCLE


def get_controller_temp(rt: Any) -> float:
    return 30.0


def get_tool_current(rt: Any) -> float:
    return 0.0


def get_tool_accelerometer_reading(rt: Any) -> tuple:
    g = rt.machine.gravity
    R = poses.rotation(*get_actual_tool_flange_pose(rt)[ANGULAR])
    return poses.turned(poses.transposed(R), g.tolist())


def is_steady(rt: Any) -> bool:
    return rt.machine.steady


def is_within_safety_limits(rt: Any, qX: Any) -> bool:
    """Whether joint positions, or a pose, can be reached within the limits."""
    machine = rt.machine
    q = numbers(qX, 6, "a pose or joint positions")
    if type(qX) is Pose:
        rt.left -= 200
        found = machine.inverse.solve(q, machine.target_q, machine.kinematics.tcp)
        if found is None:
            return False
        q = found
    limits = machine.safety.limits
    return bool(((np.array(q) >= limits.q_min) & (np.array(q) <= limits.q_max)).all())


def powerdown(rt: Any) -> None:
    rt.machine.power_off()


def get_robot_mode(rt: Any) -> int:
    return int(rt.machine.robot_mode)


def get_target_speed_fraction(rt: Any) -> float:
    return rt.machine.target_speed_fraction


def get_jacobian(rt: Any, q: Any = None, tcp: Any = None) -> tuple:
    """Rows of the Jacobian at the TCP: joint rates to its twist in base axes."""
    machine = rt.machine
    joints = machine.target_q if q is None else numbers(q, 6, "q")
    _, _, J = machine.kinematics.update(joints)
    return tuple(tuple(row) for row in J.tolist())


def tool_contact(rt: Any, direction: Any = (0.0,) * 6) -> int:
    """Cycles since the tool touched something against `direction`; 0 if it does not touch."""
    return rt.machine.contact_cycles(numbers(direction, 6, "direction"))


def get_freedrive_status(rt: Any) -> int:
    return 0
