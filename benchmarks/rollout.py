"""Ticks a second of `ua.rollout`, by number of threads."""

from __future__ import annotations

import time

import numba
import numpy as np

import ur_admittance as ua
from benchmarks.workload import DT, SETTINGS, arm, push, start


class Rollouts:
    """Closed loops from many starts, pushed alike."""

    def __init__(self, runs: int = 64, ticks: int = 1000) -> None:
        self.config, self.model = ua.Config.from_dict(SETTINGS), arm()
        self.wrenches = np.array([push(k * DT) for k in range(ticks)])
        self.q0 = start() + np.random.default_rng(2).uniform(-0.1, 0.1, (runs, 6))
        self.rates(1)  # compiles

    def rates(self, most: int | None = None) -> dict[str, float]:
        """Millions of ticks a second on 1, 2 .. `most` threads; by default as many as cores."""
        most = most or numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        return {str(threads): self._rate(threads) for threads in range(1, most + 1)}

    def _rate(self, threads: int) -> float:
        ticks = len(self.wrenches)
        begun = time.perf_counter()
        done = ua.rollout(
            self.model, self.config, self.wrenches, q0=self.q0, dt=DT, every=ticks, threads=threads
        )
        return done.ticks / (time.perf_counter() - begun) / 1e6
