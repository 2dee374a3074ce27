"""How often a tick asks for memory. Run as a program, in a process of its own, it prints JSON.

Three counters: the heap of the whole process (a preloaded malloc that counts, with Python's own
pools switched off so that every object goes through it), the memory blocks of Numba's runtime, and
Python's objects before and after.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.runtime.nrt import rtsys

from benchmarks import force
from benchmarks import workload as workloads
from benchmarks.numpy_pinocchio import NumpyPinocchio
from benchmarks.tick import Records, replay_ticks
from ur_admittance.controller import Controller


def count(ticks: int, counter: Path | None) -> dict[str, dict[str, int]]:
    """By implementation: what was allocated in about `ticks` ticks.

    Args:
        counter: the library that counts the heap's allocations, or None to do without.
    """
    environment = os.environ | {"NUMBA_NRT_STATS": "1"}
    command = [sys.executable, "-m", "benchmarks.allocations", str(ticks)]
    results = _run(command, environment)
    if counter is not None:
        environment |= {"LD_PRELOAD": str(counter), "PYTHONMALLOC": "malloc"}
        for name, more in _run(command, environment).items():
            results[name]["heap"] = more["heap"]
    return results


def _run(command: list[str], environment: dict[str, str]) -> dict[str, dict[str, int]]:
    root = Path(__file__).parent.parent
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def main() -> None:
    work = workloads.free()
    passes = max(1, int(sys.argv[1]) // len(work.q))
    records, qd = Records.of(work), np.empty_like(work.q)
    arguments = *records.four(), records.begin, work.q, work.wrench, work.dt, passes, qd
    controller, rival = Controller(work.model, work.config), NumpyPinocchio(work)
    calls = list(zip(work.q, work.wrench, work.dt.tolist(), strict=True))

    def loop(tick: Callable) -> Callable:
        def run() -> None:
            for arguments in calls:
                tick(*arguments)

        return run

    n, q = len(calls), work.q[0]
    pressing = force.records_of(work, 2)
    presses = *pressing.four(), pressing.begin, work.q, work.wrench, work.dt, passes, qd
    z = {"force.enabled_axes": [False, False, True, False, False, False]}
    policy = Controller(work.model, work.config.replace(z))
    target, axes, stiffness = np.eye(6)[2] * 10.0, np.array([0.0, 0.5, 0.0]), np.full(6, 100.0)

    def streamed(*measured: Any) -> None:
        policy.stream(target=target, orientation=axes, stiffness=stiffness)
        policy.update(*measured)

    rows = {
        # one call for all passes, whose own cost is counted too
        "ours, in the kernel": (lambda: None, lambda: replay_ticks(*arguments), 1, n * passes),
        "ours, from Python": (
            lambda: controller.activate(q), loop(controller.update), passes, n * passes
        ),
        "presses and streams, in the kernel": (
            lambda: None, lambda: replay_ticks(*presses), 1, n * passes
        ),
        "presses and streams, from Python": (
            lambda: policy.activate(q), loop(streamed), passes, n * passes
        ),
        "NumPy + Pinocchio": (lambda: rival.activate(q), loop(rival.update), 1, n),
    }  # fmt: skip
    gc.disable()
    json.dump({name: _counted(*row) for name, row in rows.items()}, sys.stdout)


def _counted(begin: Callable, run: Callable, passes: int, ticks: int) -> dict[str, int]:
    begin()
    run()  # once, so that everything is loaded
    nothing = _counters(begin, lambda: None, passes)
    heap, blocks, objects = _counters(begin, run, passes) - nothing
    result = {"ticks": ticks, "numba": int(blocks), "python objects left": int(objects)}
    if "LD_PRELOAD" in os.environ:
        return result | {"heap": int(heap)}
    begin()
    tracemalloc.start()
    run()
    result["python bytes left"], result["python bytes at most"] = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return result


def _counters(begin: Callable, run: Callable, passes: int) -> np.ndarray:
    """Allocations of the heap and of Numba, and objects left, by all calls of `run`."""
    total = np.zeros(3, np.int64)
    for _ in range(passes):
        begin()
        before = _heap(), rtsys.get_allocation_stats().alloc, sys.getallocatedblocks()
        run()
        after = _heap(), rtsys.get_allocation_stats().alloc, sys.getallocatedblocks()
        total += np.subtract(after, before)
    return total


def _heap() -> int:
    if "LD_PRELOAD" not in os.environ:
        return 0
    counter = ctypes.CDLL(None).allocation_count
    counter.restype = ctypes.c_size_t
    return counter()


if __name__ == "__main__":
    main()
