"""Ticks a second of `ua.rollout`, by number of threads."""

from __future__ import annotations

import time

import numba
import numpy as np

import ur_admittance as ua
from benchmarks.workload import DT, SETTINGS, arm, push, start


def measure(runs: int = 64, ticks: int = 1000, rounds: int = 5) -> dict[str, float]:
    """Millions of ticks a second on 1 .. all cores: the best of some rounds, in turn."""
    config, model = ua.Config.from_dict(SETTINGS), arm()
    wrenches = np.array([push(k * DT) for k in range(ticks)])
    q0 = start() + np.random.default_rng(2).uniform(-0.1, 0.1, (runs, 6))
    cores = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    best = dict.fromkeys(range(1, cores + 1), 0.0)
    for n in range(rounds + 1):
        for threads in best:
            begun = time.perf_counter()
            done = ua.rollout(model, config, wrenches, q0=q0, dt=DT, every=ticks, threads=threads)
            rate = done.ticks / (time.perf_counter() - begun) / 1e6
            if n > 0:  # the first round compiles
                best[threads] = max(best[threads], rate)
    return {str(threads): rate for threads, rate in best.items()}
