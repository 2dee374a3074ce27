"""Vectors, rotations and the named parts of 6-vectors. Everything here is scalars and tuples: no
memory is touched.

A 6-vector is `[linear; angular]` (`[force; torque]`, `[translation; rotation]`). Rotations are unit
quaternions `(w, x, y, z)`; `wxyz_AB` turns a vector in B axes into the same vector in A axes.
"""

from __future__ import annotations

import math

from ur_admittance.kernel.compile import jit

LINEAR = slice(0, 3)
ANGULAR = slice(3, 6)

_SMALL_ANGLE = 1e-4  # below it the series of sin(a)/a and its kin are exact to rounding


@jit
def linear(v):
    """The linear part of a 6-vector (or a 3-vector) as a tuple."""
    return v[0], v[1], v[2]


@jit
def angular(v):
    """The angular part of a 6-vector as a tuple."""
    return v[3], v[4], v[5]


@jit
def set_linear(v, a):
    v[0], v[1], v[2] = a


@jit
def set_angular(v, a):
    v[3], v[4], v[5] = a


@jit
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@jit
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@jit
def scale(a, k):
    return a[0] * k, a[1] * k, a[2] * k


@jit
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def norm(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@jit
def cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@jit
def saturate(a, largest):
    """`a`, shortened to the length `largest` if it is longer."""
    n = norm(a)
    if n > largest:
        return scale(a, largest / n)
    return a


@jit
def finite3(a):
    """False for a NaN or an infinity in any place (their difference with themselves is NaN)."""
    t = (a[0] - a[0]) + (a[1] - a[1]) + (a[2] - a[2])
    return t == 0.0


@jit
def turn(R, a):
    """R a, for a 3x3 array."""
    return (
        R[0, 0] * a[0] + R[0, 1] * a[1] + R[0, 2] * a[2],
        R[1, 0] * a[0] + R[1, 1] * a[1] + R[1, 2] * a[2],
        R[2, 0] * a[0] + R[2, 1] * a[1] + R[2, 2] * a[2],
    )


@jit
def turn_back(R, a):
    """R^T a, for a 3x3 array."""
    return (
        R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2],
        R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2],
        R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2],
    )


@jit
def quaternion(a):
    """The four numbers of a record's field as a tuple."""
    return a[0], a[1], a[2], a[3]


@jit
def set_quaternion(a, wxyz):
    a[0], a[1], a[2], a[3] = wxyz


@jit
def multiply(a, b):
    """wxyz_AC = wxyz_AB wxyz_BC."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@jit
def inverse(a):
    """wxyz_BA of wxyz_AB."""
    return a[0], -a[1], -a[2], -a[3]


@jit
def normalised(a):
    k = 1.0 / math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return a[0] * k, a[1] * k, a[2] * k, a[3] * k


@jit
def rotate(wxyz, a):
    """R a."""
    u = (wxyz[1], wxyz[2], wxyz[3])
    t = scale(cross(u, a), 2.0)
    return add(add(a, scale(t, wxyz[0])), cross(u, t))


@jit
def rotate_back(wxyz, a):
    """R^T a."""
    return rotate(inverse(wxyz), a)


@jit
def exp3(a):
    """The rotation by the vector `a` [rad]."""
    angle = norm(a)
    if angle < _SMALL_ANGLE:
        k = 0.5 - angle * angle / 48.0
        w = 1.0 - angle * angle / 8.0
    else:
        k = math.sin(0.5 * angle) / angle
        w = math.cos(0.5 * angle)
    return w, a[0] * k, a[1] * k, a[2] * k


@jit
def log3(wxyz):
    """The rotation vector [rad] of a quaternion, of length 0 to 2 pi: `w < 0` is more than half a
    turn.

    So a rotation that is integrated past half a turn keeps its way back; see `shortest`.
    """
    n = math.sqrt(wxyz[1] * wxyz[1] + wxyz[2] * wxyz[2] + wxyz[3] * wxyz[3])
    if n < 0.5 * _SMALL_ANGLE and wxyz[0] > 0.0:
        k = 2.0 + n * n / 3.0
    elif n < 1e-300:
        return 2.0 * math.pi, 0.0, 0.0
    else:
        k = 2.0 * math.atan2(n, wxyz[0]) / n
    return wxyz[1] * k, wxyz[2] * k, wxyz[3] * k


@jit
def shortest(wxyz):
    """The same rotation with `w >= 0`, whose logarithm is at most half a turn long."""
    if wxyz[0] < 0.0:
        return -wxyz[0], -wxyz[1], -wxyz[2], -wxyz[3]
    return wxyz


@jit
def quaternion_of(R):
    """The unit quaternion, `w >= 0`, of a 3x3 rotation (Shepperd's choice of the largest part)."""
    t = R[0, 0] + R[1, 1] + R[2, 2]
    if t > 0.0:
        r = math.sqrt(1.0 + t)
        k = 0.5 / r
        wxyz = (0.5 * r, (R[2, 1] - R[1, 2]) * k, (R[0, 2] - R[2, 0]) * k, (R[1, 0] - R[0, 1]) * k)
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        r = math.sqrt(1.0 + R[0, 0] - R[1, 1] - R[2, 2])
        k = 0.5 / r
        wxyz = ((R[2, 1] - R[1, 2]) * k, 0.5 * r, (R[0, 1] + R[1, 0]) * k, (R[0, 2] + R[2, 0]) * k)
    elif R[1, 1] >= R[2, 2]:
        r = math.sqrt(1.0 - R[0, 0] + R[1, 1] - R[2, 2])
        k = 0.5 / r
        wxyz = ((R[0, 2] - R[2, 0]) * k, (R[0, 1] + R[1, 0]) * k, 0.5 * r, (R[1, 2] + R[2, 1]) * k)
    else:
        r = math.sqrt(1.0 - R[0, 0] - R[1, 1] + R[2, 2])
        k = 0.5 / r
        wxyz = ((R[1, 0] - R[0, 1]) * k, (R[0, 2] + R[2, 0]) * k, (R[1, 2] + R[2, 1]) * k, 0.5 * r)
    return normalised(shortest(wxyz))


@jit
def write_pose(X, p, wxyz):
    """Fill a 4x4 pose."""
    w, x, y, z = wxyz
    X[0, 0], X[0, 1], X[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    X[1, 0], X[1, 1], X[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    X[2, 0], X[2, 1], X[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    X[0, 3], X[1, 3], X[2, 3] = p
    X[3, 0], X[3, 1], X[3, 2], X[3, 3] = 0.0, 0.0, 0.0, 1.0


@jit
def braking_speed(distance, deceleration, dt):
    """The highest speed that still comes to rest within `distance`, if `dt` more passes before
    braking starts.

    Solves `v dt + v^2 / (2 a) = d`. Braking by `a dt` at the start of every later tick covers at
    most `v^2 / (2 a)` whatever the lengths of those ticks, so a speed chosen by this rule can
    always be followed by another.
    """
    if not distance > 0.0:
        return 0.0
    return 2.0 * distance / (dt + math.sqrt(dt * dt + 2.0 * distance / deceleration))


@jit
def last_inside(start, along, centre, radius):
    """The largest k in 0 .. 1 with `|start + k along - centre| <= radius`; 0 if even the start is
    outside.
    """
    u = sub(start, centre)
    a, b, c = dot(along, along), dot(u, along), dot(u, u) - radius * radius
    if a + 2.0 * b + c <= 0.0 or a == 0.0:
        return 1.0
    if c >= 0.0 and b >= 0.0:
        return 0.0
    root = b * b - a * c
    if root <= 0.0:
        return 0.0
    return min(1.0, max(0.0, (math.sqrt(root) - b) / a))
