"""One clock and one way to summarise, the same for all rows; cpp/harness.hpp is its C++ twin."""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import numpy as np
from numba import types

from ur_admittance.kernel.compile import jit

BLOCK = 16  # ticks per clock reading where the mean is measured
_MONOTONIC = 1

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def nanoseconds(timespec):  # type: ignore[no-redef]
        """The monotonic clock, ns."""
        return time.monotonic_ns()

else:
    # The C library's clock by its name, so that compiled code that reads it can be kept on disk.
    _clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))

    @jit
    def nanoseconds(timespec):  # type: ignore[no-redef]
        """The monotonic clock, ns. `timespec`: two int64 to write to."""
        _clock_gettime(_MONOTONIC, timespec.ctypes.data)
        return timespec[0] * 1_000_000_000 + timespec[1]


@jit(entry=True)
def clock_gaps(timespec, gaps):
    for k in range(gaps.shape[0]):
        before = nanoseconds(timespec)
        gaps[k] = nanoseconds(timespec) - before


def compiled_clock_overhead() -> float:
    """What two readings of the clock cost inside compiled code, ns."""
    gaps = np.empty(20001, np.int64)
    clock_gaps(np.zeros(2, np.int64), gaps)
    return float(np.median(gaps))


def python_clock_overhead() -> float:
    """Likewise for Python's `perf_counter_ns`."""
    clock = time.perf_counter_ns
    gaps = []
    for _ in range(20001):
        before = clock()
        gaps.append(clock() - before)
    return float(np.median(gaps))


def summary(blocks: np.ndarray, samples: np.ndarray) -> dict[str, float]:
    """Statistics in ns, of readings from which the clock's own cost has been taken off.

    Args:
        blocks: time of `BLOCK` ticks each. The mean is that of the median block, so that a block
            during which the machine did something else does not count.
        samples: time of single ticks.
    """
    samples = np.maximum(np.asarray(samples, float), 0.0)
    p50, p99, p999 = np.percentile(samples, [50, 99, 99.9])
    return {
        "mean": float(np.median(blocks)) / BLOCK,
        "p50": float(p50),
        "p99": float(p99),
        "p99.9": float(p999),
        "max": float(samples.max()),
    }


def time_python(
    tick: Callable, begin: Callable, calls: list[tuple], passes: int
) -> dict[str, float]:
    """Time a tick that is called from Python, once for each of `calls`; `begin()` starts a pass."""
    clock, overhead = time.perf_counter_ns, python_clock_overhead()
    blocks, samples = [], []
    for _ in range(passes):
        begin()
        for k in range(0, len(calls), BLOCK):
            block = calls[k : k + BLOCK]
            before = clock()
            for arguments in block:
                tick(*arguments)
            blocks.append(clock() - before)
        begin()
        for arguments in calls:
            before = clock()
            tick(*arguments)
            samples.append(clock() - before)
    return summary(np.array(blocks) - overhead, np.array(samples) - overhead)
