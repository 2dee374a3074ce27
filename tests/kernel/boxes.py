"""The solver of the tick, asked many problems in one call."""

from __future__ import annotations

from ur_admittance.kernel.box import solve_box
from ur_admittance.kernel.compile import jit


@jit(entry=True)
def solve_boxes(state, H, g, low, high, x):
    """Fill `x` (N, 6) with the solutions of N problems. Returns how many have no finite one."""
    s, failed = state[0], 0
    for k in range(H.shape[0]):
        for n in range(6):
            s.g[n], s.low[n], s.high[n] = g[k, n], low[k, n], high[k, n]
            for m in range(6):
                s.H[n, m] = H[k, n, m]
        if not solve_box(s):
            failed += 1
        for n in range(6):
            x[k, n] = s.qd[n]
    return failed
