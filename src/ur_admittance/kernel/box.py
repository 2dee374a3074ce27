"""Least squares inside a box, solved to its optimality conditions:

    min  1/2 x^T H x + g^T x    subject to   low <= x <= high        (H symmetric, positive
    definite, 6 x 6)

Active sets by block principal pivoting, one variable at a time when a block exchange does not help,
which ends for every positive definite H. Six unknowns, no memory but the state record's.
"""

from __future__ import annotations

import math

from ur_admittance.kernel.compile import jit

_ROUNDS = 80
_TIE = 1e-13


@jit
def solve_box(s):
    """Solve for `s.qd` with `s.H`, `s.g`, `s.low`, `s.high`. Returns False if no finite solution
    was found.

    `s.pinned[n]` is -1 or 1 where the solution is held by the lower or upper bound with a
    multiplier.
    """
    fewest, chances = 7, 3
    for n in range(6):
        s.pinned[n] = 0
    for _ in range(_ROUNDS):
        if not solve_free(s):
            return False
        wrong, last = 0, -1
        for n in range(6):
            if misplaced(s, n) != s.pinned[n]:
                wrong += 1
                last = n
        if wrong == 0:
            break
        if wrong < fewest:
            fewest, chances = wrong, 3
        elif chances > 0:
            chances -= 1
        one_by_one = wrong >= fewest and chances == 0
        for n in range(6):
            if one_by_one and n != last:
                continue
            s.scratch[n] = misplaced(s, n)
        for n in range(6):
            if not one_by_one or n == last:
                s.pinned[n] = int(s.scratch[n])
    for n in range(6):
        s.qd[n] = min(max(s.qd[n], s.low[n]), s.high[n])
        if s.qd[n] - s.qd[n] != 0.0:  # NaN or infinite
            return False
    return True


@jit
def misplaced(s, n):
    """Where variable n belongs, given the present solution: -1, 0 or 1."""
    if s.pinned[n] == 0:
        slack = _TIE * (1.0 + abs(s.qd[n]))
        if s.qd[n] < s.low[n] - slack:
            return -1
        if s.qd[n] > s.high[n] + slack:
            return 1
        return 0
    gradient, size = s.g[n], abs(s.g[n])
    for m in range(6):
        term = s.H[n, m] * s.qd[m]
        gradient += term
        size += abs(term)
    # At the upper bound the objective must still fall outwards, at the lower bound likewise.
    if s.pinned[n] * gradient > _TIE * size and s.low[n] < s.high[n]:
        return 0
    return s.pinned[n]


@jit
def solve_free(s):
    """Put pinned variables on their bounds and solve for the others by Cholesky."""
    for n in range(6):
        if s.pinned[n] < 0:
            s.qd[n] = s.low[n]
        elif s.pinned[n] > 0:
            s.qd[n] = s.high[n]
    for n in range(6):
        if s.pinned[n] != 0:
            continue
        t = -s.g[n]
        for m in range(6):
            if s.pinned[m] != 0:
                t -= s.H[n, m] * s.qd[m]
        d = s.H[n, n]
        for m in range(n):
            if s.pinned[m] != 0:
                continue
            a = s.H[n, m]
            for k in range(m):
                if s.pinned[k] == 0:
                    a -= s.factor[n, k] * s.factor[m, k]
            a *= s.factor[m, m]
            s.factor[n, m] = a
            d -= a * a
            t -= a * s.qd[m]
        if not d > 0.0:
            return False
        # the diagonal holds reciprocals
        s.factor[n, n] = 1.0 / math.sqrt(d)
        s.qd[n] = t * s.factor[n, n]
    for i in range(6):
        n = 5 - i
        if s.pinned[n] != 0:
            continue
        t = s.qd[n]
        for m in range(n + 1, 6):
            if s.pinned[m] == 0:
                t -= s.factor[m, n] * s.qd[m]
        s.qd[n] = t * s.factor[n, n]
    return True
