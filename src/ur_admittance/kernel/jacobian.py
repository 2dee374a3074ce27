"""The inverse of the Jacobian, and how far it is from having none.

By 3 x 3 blocks, `J = [[A, B], [C, D]]` (rows linear, angular; columns joints 1-3, 4-6), with the
Schur complement `S = A - B D^-1 C`. D holds the axes of the wrist: where they are far from lying in
one plane this is accurate, and half the work of elimination, to which it falls back otherwise.
"""

from __future__ import annotations

import math

from ur_admittance.kernel.compile import jit

_FLAT_WRIST = 0.05  # volume spanned by the three wrist axes
_NO_PIVOT = 1e-14


@jit
def invert_jacobian(s):
    """Fill `J_inverse`. Returns 1 / |J^-1| (Frobenius norm), or 0 if J has no inverse.

    The smallest singular value of J lies between this number and sqrt(6) times it.
    """
    D, volume = inverse3(block(s.J, 3, 3))
    if not abs(volume) > _FLAT_WRIST:
        return eliminate(s)
    C = block(s.J, 3, 0)
    BD = multiply3(block(s.J, 0, 3), D)
    S, volume = inverse3(subtract3(block(s.J, 0, 0), multiply3(BD, C)))
    if not abs(volume) > _NO_PIVOT:
        return 0.0
    right = multiply3(S, BD)
    DC = multiply3(D, C)
    left = multiply3(DC, S)
    corner = multiply3(DC, right)
    total = 0.0
    for n in range(3):
        for m in range(3):
            k = 3 * n + m
            s.J_inverse[n, m] = S[k]
            s.J_inverse[n, m + 3] = -right[k]
            s.J_inverse[n + 3, m] = -left[k]
            t = D[k] + corner[k]
            s.J_inverse[n + 3, m + 3] = t
            total += S[k] * S[k] + right[k] * right[k] + left[k] * left[k] + t * t
    return 1.0 / math.sqrt(total)


@jit
def block(J, n, m):
    """Nine numbers, row by row, of the 3 x 3 block at row n, column m."""
    return (
        J[n, m], J[n, m + 1], J[n, m + 2],
        J[n + 1, m], J[n + 1, m + 1], J[n + 1, m + 2],
        J[n + 2, m], J[n + 2, m + 1], J[n + 2, m + 2],
    )  # fmt: skip


@jit
def multiply3(a, b):
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@jit
def subtract3(a, b):
    return (
        a[0] - b[0], a[1] - b[1], a[2] - b[2],
        a[3] - b[3], a[4] - b[4], a[5] - b[5],
        a[6] - b[6], a[7] - b[7], a[8] - b[8],
    )  # fmt: skip


@jit
def inverse3(a):
    """The inverse by cofactors, and the determinant; no inverse where that is zero."""
    c0, c1, c2 = a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6]
    volume = a[0] * c0 + a[1] * c1 + a[2] * c2
    k = 1.0 / volume if volume != 0.0 else 0.0
    return (
        c0 * k, (a[2] * a[7] - a[1] * a[8]) * k, (a[1] * a[5] - a[2] * a[4]) * k,
        c1 * k, (a[0] * a[8] - a[2] * a[6]) * k, (a[2] * a[3] - a[0] * a[5]) * k,
        c2 * k, (a[1] * a[6] - a[0] * a[7]) * k, (a[0] * a[4] - a[1] * a[3]) * k,
    ), volume  # fmt: skip


@jit
def eliminate(s):
    """The same by Gauss-Jordan elimination with row pivoting: for any J."""
    A = s.J_inverse
    for n in range(6):
        for m in range(6):
            A[n, m] = s.J[n, m]
        s.pinned[n] = n
    for k in range(6):
        best, at = abs(A[k, k]), k
        for n in range(k + 1, 6):
            if abs(A[n, k]) > best:
                best, at = abs(A[n, k]), n
        if not best > _NO_PIVOT:
            return 0.0
        if at != k:
            s.pinned[k], s.pinned[at] = s.pinned[at], s.pinned[k]
            for m in range(6):
                A[k, m], A[at, m] = A[at, m], A[k, m]
        pivot = 1.0 / A[k, k]
        A[k, k] = 1.0
        for m in range(6):
            A[k, m] *= pivot
        for n in range(6):
            if n != k:
                t = A[n, k]
                A[n, k] = 0.0
                for m in range(6):
                    A[n, m] -= t * A[k, m]
    # undo the row exchanges: they permuted the columns of the inverse
    total = 0.0
    for n in range(6):
        for m in range(6):
            s.scratch[s.pinned[m]] = A[n, m]
        for m in range(6):
            A[n, m] = s.scratch[m]
            total += s.scratch[m] * s.scratch[m]
    return 1.0 / math.sqrt(total)
