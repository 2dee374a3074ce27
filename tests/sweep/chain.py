"""The oracle's own kinematics: 4 x 4 matrices, multiplied along the chain."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit
def jacobian(p, q, J, frames):
    """The tool point and the Jacobian, by multiplying 4 x 4 matrices along the chain."""
    X = np.eye(4)
    for n in range(6):
        X = X @ _matrix(p.chain_R[n], p.chain_p[n])
        frames[n] = X
        turn = np.eye(4)
        turn[0, 0] = turn[1, 1] = math.cos(q[n])
        turn[1, 0] = math.sin(q[n])
        turn[0, 1] = -turn[1, 0]
        X = X @ turn
    X = X @ _matrix(p.chain_R[6], p.chain_p[6])
    frames[6] = X
    for n in range(6):
        z = frames[n, :3, 2]
        J[:3, n] = np.cross(z, X[:3, 3] - frames[n, :3, 3])
        J[3:, n] = z
    return X[0, 3], X[1, 3], X[2, 3]


@njit
def _matrix(R, t):
    X = np.eye(4)
    X[:3, :3] = R
    X[:3, 3] = t
    return X
