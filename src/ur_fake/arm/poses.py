"""Poses as URScript writes them: six numbers [x, y, z, rx, ry, rz], m and a rotation vector, rad.

Plain tuples of floats: for single poses this is several times faster than arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ur_admittance.kernel.spatial import ANGULAR, LINEAR

Vector = tuple[float, float, float]
Rotation = tuple[float, ...]  # nine numbers, row by row
Pose6 = tuple[float, ...]

_SMALL = 1e-9


def rotation(rx: float, ry: float, rz: float) -> Rotation:
    """The rotation by |r| rad about r (Rodrigues)."""
    angle = math.sqrt(rx * rx + ry * ry + rz * rz)
    if angle < _SMALL:
        return (1.0, -rz, ry, rz, 1.0, -rx, -ry, rx, 1.0)
    x, y, z = rx / angle, ry / angle, rz / angle
    c, s = math.cos(angle), math.sin(angle)
    t = 1.0 - c
    return (
        t * x * x + c, t * x * y - s * z, t * x * z + s * y,
        t * x * y + s * z, t * y * y + c, t * y * z - s * x,
        t * x * z - s * y, t * y * z + s * x, t * z * z + c,
    )  # fmt: skip


def rotation_vector(R: Sequence[float]) -> Vector:
    """The rotation vector of R, of length 0 to pi rad; by way of the quaternion."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
    trace = xx + yy + zz
    if trace > 0.0:
        w, x, y, z = 1.0 + trace, zy - yz, xz - zx, yx - xy
    elif xx >= yy and xx >= zz:
        w, x, y, z = zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx
    elif yy >= zz:
        w, x, y, z = xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy
    else:
        w, x, y, z = yx - xy, xz + zx, yz + zy, 1.0 - xx - yy + zz
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    length = math.sqrt(x * x + y * y + z * z)
    if length < _SMALL * w:
        return (2.0 * x / w, 2.0 * y / w, 2.0 * z / w)
    k = 2.0 * math.atan2(length, w) / length
    return (k * x, k * y, k * z)


def multiply(A: Sequence[float], B: Sequence[float]) -> Rotation:
    """A B."""
    a, b, c, d, e, f, g, h, i = A
    j, k, m, n, o, p, q, r, s = B
    return (
        a * j + b * n + c * q, a * k + b * o + c * r, a * m + b * p + c * s,
        d * j + e * n + f * q, d * k + e * o + f * r, d * m + e * p + f * s,
        g * j + h * n + i * q, g * k + h * o + i * r, g * m + h * p + i * s,
    )  # fmt: skip


def transposed(R: Sequence[float]) -> Rotation:
    a, b, c, d, e, f, g, h, i = R
    return (a, d, g, b, e, h, c, f, i)


def turned(R: Sequence[float], v: Sequence[float]) -> Vector:
    """R v."""
    x, y, z = v
    return (
        R[0] * x + R[1] * y + R[2] * z,
        R[3] * x + R[4] * y + R[5] * z,
        R[6] * x + R[7] * y + R[8] * z,
    )


def trans(A: Sequence[float], B: Sequence[float]) -> Pose6:
    """The pose B, given in the frame A, in A's parent: X_A X_B (`pose_trans`)."""
    R = rotation(A[3], A[4], A[5])
    x, y, z = turned(R, B[LINEAR])
    turn = rotation_vector(multiply(R, rotation(B[3], B[4], B[5])))
    return (A[0] + x, A[1] + y, A[2] + z, *turn)


def inverse(A: Sequence[float]) -> Pose6:
    """X_A^-1 (`pose_inv`)."""
    x, y, z = turned(rotation(-A[3], -A[4], -A[5]), A[LINEAR])
    return (-x, -y, -z, -A[3], -A[4], -A[5])


def add(A: Sequence[float], B: Sequence[float]) -> Pose6:
    """Positions added, rotations composed: R_A R_B (`pose_add`)."""
    turn = rotation_vector(multiply(rotation(*A[ANGULAR]), rotation(*B[ANGULAR])))
    return (A[0] + B[0], A[1] + B[1], A[2] + B[2], *turn)


def sub(A: Sequence[float], B: Sequence[float]) -> Pose6:
    """Positions subtracted; the rotation R_A R_B^-1 (`pose_sub`)."""
    turn = rotation_vector(multiply(rotation(*A[ANGULAR]), rotation(-B[3], -B[4], -B[5])))
    return (A[0] - B[0], A[1] - B[1], A[2] - B[2], *turn)


def interpolate(A: Sequence[float], B: Sequence[float], s: float) -> Pose6:
    """From A (s = 0) to B (s = 1), straight and about one axis (`interpolate_pose`)."""
    R = rotation(*A[ANGULAR])
    way = rotation_vector(multiply(transposed(R), rotation(*B[ANGULAR])))
    turn = rotation_vector(multiply(R, rotation(s * way[0], s * way[1], s * way[2])))
    return (
        A[0] + s * (B[0] - A[0]),
        A[1] + s * (B[1] - A[1]),
        A[2] + s * (B[2] - A[2]),
        *turn,
    )


def rpy_of(v: Sequence[float]) -> Vector:
    """Roll, pitch and yaw (turns about the fixed x, y, z) of a rotation vector (`rotvec2rpy`)."""
    R = rotation(*v)
    pitch = math.atan2(-R[6], math.hypot(R[0], R[3]))
    if math.hypot(R[0], R[3]) < 1e-9:
        return (0.0, pitch, math.atan2(-R[1], R[4]))
    return (math.atan2(R[7], R[8]), pitch, math.atan2(R[3], R[0]))


def vector_of_rpy(v: Sequence[float]) -> Vector:
    """The rotation vector of roll, pitch and yaw (`rpy2rotvec`)."""
    roll, pitch, yaw = v
    R = multiply(rotation(0.0, 0.0, yaw), rotation(0.0, pitch, 0.0))
    return rotation_vector(multiply(R, rotation(roll, 0.0, 0.0)))
