"""Poses and kinematics."""

from __future__ import annotations

import math
from typing import Any

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.arm import poses
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import Pose, kind, number, numbers, text_of

_IK_COST = 200  # statements


def _pose(value: Any, what: str = "a pose") -> tuple[float, ...]:
    return numbers(value, 6, what)


def pose_trans(rt: Any, p_from: Any, p_from_to: Any) -> Pose:
    return Pose(poses.trans(_pose(p_from), _pose(p_from_to)))


def pose_inv(rt: Any, p_from: Any) -> Pose:
    return Pose(poses.inverse(_pose(p_from)))


def pose_add(rt: Any, p_1: Any, p_2: Any) -> Pose:
    return Pose(poses.add(_pose(p_1), _pose(p_2)))


def pose_sub(rt: Any, p_to: Any, p_from: Any) -> Pose:
    return Pose(poses.sub(_pose(p_to), _pose(p_from)))


def pose_dist(rt: Any, p_from: Any, p_to: Any) -> float:
    """The distance of the positions, m."""
    a, b = _pose(p_from), _pose(p_to)
    return math.dist(a[LINEAR], b[LINEAR])


def point_dist(rt: Any, p_from: Any, p_to: Any) -> float:
    return pose_dist(rt, p_from, p_to)


def interpolate_pose(rt: Any, p_from: Any, p_to: Any, alpha: Any) -> Pose:
    return Pose(poses.interpolate(_pose(p_from), _pose(p_to), number(alpha)))


def wrench_trans(rt: Any, T_from_to: Any, w_from: Any) -> tuple:
    """A wrench in the frame `from`, in the frame `to` whose pose in `from` is T_from_to."""
    T, w = _pose(T_from_to), _pose(w_from, "a wrench")
    R = poses.transposed(poses.rotation(*T[ANGULAR]))
    fx, fy, fz = w[LINEAR]
    x, y, z = T[LINEAR]
    moment = (
        w[3] - (y * fz - z * fy),
        w[4] - (z * fx - x * fz),
        w[5] - (x * fy - y * fx),
    )
    return (*poses.turned(R, w[LINEAR]), *poses.turned(R, moment))


def rotvec2rpy(rt: Any, rotation_vector: Any) -> tuple:
    return poses.rpy_of(numbers(rotation_vector, 3, "a rotation vector"))


def rpy2rotvec(rt: Any, rpy_vector: Any) -> tuple:
    return poses.vector_of_rpy(numbers(rpy_vector, 3, "roll, pitch and yaw"))


def get_forward_kin(rt: Any, q: Any = None, tcp: Any = None) -> Pose:
    """The pose of the TCP, or of another one, at the actual joint positions, or at others."""
    machine = rt.machine
    joints = machine.actual_q if q is None else numbers(q, 6, "q")
    if tcp is None:
        return Pose(machine.kinematics.pose(joints))
    return Pose(machine.inverse.forward(joints, _pose(tcp, "tcp")))


def get_inverse_kin(
    rt: Any,
    x: Any,
    qnear: Any = None,
    maxPositionError: Any = 1e-4,
    maxOrientationError: Any = 1e-4,
    tcp: Any = None,
) -> Any:
    """The joint positions nearest to `qnear` that bring the TCP to `x`; an error if none do."""
    solution = yield from _solve(rt, x, qnear, tcp)
    if solution is None:
        raise ScriptError(f"get_inverse_kin: no solution for {text_of(x):.100}")
    return solution


def get_inverse_kin_has_solution(
    rt: Any,
    pose: Any,
    qnear: Any = None,
    maxPositionError: Any = 1e-4,
    maxOrientationError: Any = 1e-4,
    tcp: Any = None,
) -> Any:
    solution = yield from _solve(rt, pose, qnear, tcp)
    return solution is not None


def _solve(rt: Any, x: Any, qnear: Any, tcp: Any) -> Any:
    rt.left -= _IK_COST
    while rt.left < 0:
        yield
        rt.left -= _IK_COST
    machine = rt.machine
    near = machine.target_q if qnear is None else numbers(qnear, 6, "qnear")
    offset = machine.kinematics.tcp if tcp is None else _pose(tcp, "tcp")
    if type(x) is not Pose and not isinstance(x, tuple):
        raise ScriptError(f"get_inverse_kin: expected a pose, got {kind(x)}")
    return machine.inverse.solve(_pose(x), near, offset)
