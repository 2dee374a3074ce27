"""What is computed in every cycle, compiled: the tool point, the wrench, and the speed limits."""

from __future__ import annotations

import math

from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.kinematics import kinematics
from ur_admittance.kernel.spatial import log3, quaternion_of


@jit(entry=True)
def tool_point(params, state, q, qd, pose, speed):
    """Fill `pose` and `speed` (6,) of the tool point, W axes, for joints `q`, `qd`.

    The state keeps R_WP and J for who comes next.
    """
    p, s = params[0], state[0]
    for n in range(6):
        s.q[n] = q[n]
    kinematics(p, s)
    turn = log3(quaternion_of(s.R_WP))
    for n in range(3):
        pose[n], pose[n + 3] = s.p_WP[n], turn[n]
    for n in range(6):
        total = 0.0
        for m in range(6):
            total += s.J[n, m] * qd[m]
        speed[n] = total


@jit(entry=True)
def felt_wrench(state, R_EP, p_EP, raw, zero, payload, cog, gravity, flange, tcp):
    """Fill `flange` (6,), the wrench at the flange in its axes less weight and zero, and `tcp`
    (6,), the same at the tool point in W axes.

    The weight of the payload is m g, against `gravity` (3,), which holds the arm up; at the centre
    of gravity `cog` (3,) in the flange.
    """
    s = state[0]
    R_WE = (
        (_row(s.R_WP, R_EP, 0, 0), _row(s.R_WP, R_EP, 0, 1), _row(s.R_WP, R_EP, 0, 2)),
        (_row(s.R_WP, R_EP, 1, 0), _row(s.R_WP, R_EP, 1, 1), _row(s.R_WP, R_EP, 1, 2)),
        (_row(s.R_WP, R_EP, 2, 0), _row(s.R_WP, R_EP, 2, 1), _row(s.R_WP, R_EP, 2, 2)),
    )
    wx = -payload * (R_WE[0][0] * gravity[0] + R_WE[1][0] * gravity[1] + R_WE[2][0] * gravity[2])
    wy = -payload * (R_WE[0][1] * gravity[0] + R_WE[1][1] * gravity[1] + R_WE[2][1] * gravity[2])
    wz = -payload * (R_WE[0][2] * gravity[0] + R_WE[1][2] * gravity[1] + R_WE[2][2] * gravity[2])
    flange[0] = raw[0] - zero[0] - wx
    flange[1] = raw[1] - zero[1] - wy
    flange[2] = raw[2] - zero[2] - wz
    flange[3] = raw[3] - zero[3] - (cog[1] * wz - cog[2] * wy)
    flange[4] = raw[4] - zero[4] - (cog[2] * wx - cog[0] * wz)
    flange[5] = raw[5] - zero[5] - (cog[0] * wy - cog[1] * wx)
    tx = flange[3] - (p_EP[1] * flange[2] - p_EP[2] * flange[1])
    ty = flange[4] - (p_EP[2] * flange[0] - p_EP[0] * flange[2])
    tz = flange[5] - (p_EP[0] * flange[1] - p_EP[1] * flange[0])
    for n in range(3):
        r = R_WE[n]
        tcp[n] = r[0] * flange[0] + r[1] * flange[1] + r[2] * flange[2]
        tcp[n + 3] = r[0] * tx + r[1] * ty + r[2] * tz


@jit
def _row(A, B, n, m):
    """Element n, m of A B^T."""
    return A[n, 0] * B[m, 0] + A[n, 1] * B[m, 1] + A[n, 2] * B[m, 2]


@jit(entry=True)
def within(q, qd, speed, actual, joint_speed, tcp_speed, q_min, q_max, brake, deviation):
    """Whether targets `q`, `qd` and the twist `speed` are inside every limit, and `brake` rad/s^2
    stop each joint inside its range. NaN is not inside.
    """
    fine = math.sqrt(speed[0] ** 2 + speed[1] ** 2 + speed[2] ** 2) <= tcp_speed
    for n in range(6):
        rest = q[n] + 0.5 * qd[n] * abs(qd[n]) / brake
        fine = fine and abs(qd[n]) <= joint_speed[n] and q_min[n] <= q[n] and q[n] <= q_max[n]
        fine = fine and q_min[n] <= rest and rest <= q_max[n]
        fine = fine and abs(q[n] - actual[n]) <= deviation
    return fine


@jit(entry=True)
def approach_pose(params, state, q, p, R, steps, close, longest, A, y):
    """Newton's method from `q` (6,) towards the pose `p` (3,), `R` (9,) of the tool point.

        dq = J^T (J J^T + k I)^-1 error,   at most `longest` rad a step

    k fades with the error, so that far away the way is safe and near the end it is fast. `A` (6, 6)
    and `y` (6,) are scratch. Returns the largest error left, m or rad.
    """
    s = state[0]
    worst = math.inf
    for _ in range(steps):
        for n in range(6):
            s.q[n] = q[n]
        kinematics(params[0], s)
        for n in range(3):
            y[n] = p[n] - s.p_WP[n]
            for m in range(3):
                A[n, m] = R[3 * n] * s.R_WP[m, 0] + R[3 * n + 1] * s.R_WP[m, 1]
                A[n, m] += R[3 * n + 2] * s.R_WP[m, 2]
        turn = log3(quaternion_of(A))
        y[3], y[4], y[5] = turn[0], turn[1], turn[2]
        worst = 0.0
        for n in range(6):
            worst = max(worst, abs(y[n]))
        if not worst >= close:
            return worst
        k = 1e-10 + 1e-3 * min(1.0, worst) ** 2
        _solve_normal(s.J, A, y, k)
        largest = 0.0
        for n in range(6):
            total = 0.0
            for m in range(6):
                total += s.J[m, n] * y[m]
            s.scratch[n] = total
            largest = max(largest, abs(total))
        share = longest / largest if largest > longest else 1.0
        for n in range(6):
            q[n] += share * s.scratch[n]
    return worst


@jit
def _solve_normal(J, A, y, k):
    """y = (J J^T + k I)^-1 y, by Cholesky's factors in A."""
    for n in range(6):
        for m in range(n + 1):
            total = k if n == m else 0.0
            for i in range(6):
                total += J[n, i] * J[m, i]
            for i in range(m):
                total -= A[n, i] * A[m, i]
            A[n, m] = math.sqrt(max(total, 1e-300)) if n == m else total / A[m, m]
    for n in range(6):
        for m in range(n):
            y[n] -= A[n, m] * y[m]
        y[n] /= A[n, n]
    for n in range(5, -1, -1):
        for m in range(n + 1, 6):
            y[n] -= A[m, n] * y[m]
        y[n] /= A[n, n]
