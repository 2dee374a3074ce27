"""`python -m benchmarks.precomputed`: what it saves to compute and to look up before the loop.

Each row does the same thing twice: anew every cycle, and with what was made before. The rows take
turns, and the median of the rounds is shown, so that a busy machine counts for both sides alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.timing import nanoseconds
from ur_admittance import Config
from ur_admittance.controller.packing import pack
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.law import exact_step, law
from ur_admittance.model import RobotModel

ROUNDS, TIMES = 41, 2000


@jit(entry=True)
def laws(params, state, anew, times, timespec):
    """ns for each of `times` steps of the law; `anew`: with its six numbers an axis made again."""
    p, s = params[0], state[0]
    begun = nanoseconds(timespec)
    for _ in range(times):
        if anew:
            exact_step(s)
        law(p, s)
    return (nanoseconds(timespec) - begun) / times


def law_row(anew: bool) -> Callable[[], float]:
    """The law with springs on all axes, as `pose-law` has it."""
    config = Config.preset("pose-law").replace({"admittance.stiffness": [100] * 3 + [10] * 3})
    params, state = pack(config, RobotModel.ur("ur5e")), layout.new_state()
    s, p = state[0], params[0]
    s.dt, s.engaged, s.wxyz_offset[:] = p.period, 1.0, (1.0, 0.0, 0.0, 0.0)
    s.mass[:], s.damping[:], s.stiffness[:] = p.mass, p.damping, p.stiffness
    for name in ("v", "x", "dx", "F_law"):
        s[name] = 0.0
    s.step_dt = 0.0
    timespec = np.zeros(2, np.int64)
    return lambda: laws(params, state, anew, TIMES, timespec)


def python_row(work: Callable[[], object]) -> Callable[[], float]:
    """ns for each call."""

    def measure() -> float:
        begun = time.perf_counter_ns()
        for _ in range(TIMES):
            work()
        return (time.perf_counter_ns() - begun) / TIMES

    return measure


def rows() -> dict[str, tuple[Callable[[], float], Callable[[], float]]]:
    """What is done, anew and with what was made before."""
    M, force = np.diag([8.0, 8, 8, 0.8, 0.8, 0.8]), np.ones(6)
    inverse = np.linalg.inv(M)
    joints = list(RobotModel.ur("ur5e").joint_names)
    names = sorted(joints)  # the order in which the driver sends them
    position, index = np.arange(6.0), np.array([names.index(joint) for joint in joints])
    return {
        "one step of the law, all six axes, compiled": (law_row(True), law_row(False)),
        "inverse of a full 6 x 6 mass, NumPy": (
            python_row(lambda: np.linalg.inv(M) @ force),
            python_row(lambda: inverse @ force),
        ),
        "six joints out of a message by name": (
            python_row(lambda: position[[names.index(joint) for joint in joints]]),
            python_row(lambda: position[index]),
        ),
    }


def main() -> None:
    """Measure and print."""
    table = Table("every cycle", "anew, ns", "made before, ns")
    pairs = rows()
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    for _ in range(ROUNDS):
        for name, (anew, before) in pairs.items():
            seen[name].append((anew(), before()))
    for name, times in seen.items():
        anew, before = np.median(times, axis=0)
        table.add_row(name, f"{anew:.0f}", f"{before:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
