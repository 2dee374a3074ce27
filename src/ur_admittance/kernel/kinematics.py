"""Step 2: the pose of the probe and its Jacobian, in one pass over the chain.

    X_WP = prod_i ( X_chain[i] Rz(q_i) ) X_chain[6]

Every joint turns about the z axis of its own frame; `model/` writes any serial chain in this
shape.
"""

from __future__ import annotations

import math

from ur_admittance.kernel.compile import jit


@jit
def kinematics(p, s):
    """Fill `s.R_WP`, `s.p_WP` and `s.J` from `s.q`.

    Column n of the Jacobian is `[z_n x (p_WP - o_n); z_n]` (axis z_n through o_n, both in W): it
    maps joint rates [rad/s] to `V_WP` = [velocity of Po; angular velocity], in W axes.
    """
    # The rotation so far, row by row, and the origin so far: scalars, so that they live in
    # registers.
    xx, xy, xz = p.chain_R[0, 0, 0], p.chain_R[0, 0, 1], p.chain_R[0, 0, 2]
    yx, yy, yz = p.chain_R[0, 1, 0], p.chain_R[0, 1, 1], p.chain_R[0, 1, 2]
    zx, zy, zz = p.chain_R[0, 2, 0], p.chain_R[0, 2, 1], p.chain_R[0, 2, 2]
    px, py, pz = p.chain_p[0, 0], p.chain_p[0, 1], p.chain_p[0, 2]
    for n in range(6):
        # Axis and origin of joint n: the angular rows hold the axis already, the linear rows the
        # origin for now.
        s.J[3, n], s.J[4, n], s.J[5, n] = xz, yz, zz
        s.J[0, n], s.J[1, n], s.J[2, n] = px, py, pz
        c = math.cos(s.q[n])
        d = math.sin(s.q[n])
        xx, xy = xx * c + xy * d, xy * c - xx * d
        yx, yy = yx * c + yy * d, yy * c - yx * d
        zx, zy = zx * c + zy * d, zy * c - zx * d
        m = n + 1
        tx, ty, tz = p.chain_p[m, 0], p.chain_p[m, 1], p.chain_p[m, 2]
        px += xx * tx + xy * ty + xz * tz
        py += yx * tx + yy * ty + yz * tz
        pz += zx * tx + zy * ty + zz * tz
        a0, a1, a2 = p.chain_R[m, 0, 0], p.chain_R[m, 0, 1], p.chain_R[m, 0, 2]
        b0, b1, b2 = p.chain_R[m, 1, 0], p.chain_R[m, 1, 1], p.chain_R[m, 1, 2]
        c0, c1, c2 = p.chain_R[m, 2, 0], p.chain_R[m, 2, 1], p.chain_R[m, 2, 2]
        xx, xy, xz = (
            xx * a0 + xy * b0 + xz * c0,
            xx * a1 + xy * b1 + xz * c1,
            xx * a2 + xy * b2 + xz * c2,
        )
        yx, yy, yz = (
            yx * a0 + yy * b0 + yz * c0,
            yx * a1 + yy * b1 + yz * c1,
            yx * a2 + yy * b2 + yz * c2,
        )
        zx, zy, zz = (
            zx * a0 + zy * b0 + zz * c0,
            zx * a1 + zy * b1 + zz * c1,
            zx * a2 + zy * b2 + zz * c2,
        )
    s.p_WP[0], s.p_WP[1], s.p_WP[2] = px, py, pz
    s.R_WP[0, 0], s.R_WP[0, 1], s.R_WP[0, 2] = xx, xy, xz
    s.R_WP[1, 0], s.R_WP[1, 1], s.R_WP[1, 2] = yx, yy, yz
    s.R_WP[2, 0], s.R_WP[2, 1], s.R_WP[2, 2] = zx, zy, zz
    for n in range(6):
        ax, ay, az = s.J[3, n], s.J[4, n], s.J[5, n]
        dx, dy, dz = px - s.J[0, n], py - s.J[1, n], pz - s.J[2, n]
        s.J[0, n] = ay * dz - az * dy
        s.J[1, n] = az * dx - ax * dz
        s.J[2, n] = ax * dy - ay * dx


@jit(entry=True)
def pose_and_jacobian(params, state):
    """`kinematics` of one-record arrays, for callers outside the tick."""
    kinematics(params[0], state[0])
