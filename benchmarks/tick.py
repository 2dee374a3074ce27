"""Our own tick: called from Python, inside the kernel, and step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.timing import BLOCK, compiled_clock_overhead, nanoseconds, summary, time_python
from benchmarks.workload import Workload
from ur_admittance.controller import Controller
from ur_admittance.controller.packing import pack
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.tick import tick


@dataclass
class Records:
    """The four records of a tick, and the state right after an activation."""

    params: np.ndarray
    state: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray
    begin: np.ndarray

    @staticmethod
    def of(workload: Workload) -> Records:
        begin, inputs = layout.new_state(), layout.new_inputs()
        begin["mode"], begin["seeding"], begin["q"] = bits.ACTIVE, 1, workload.q[0]
        inputs["stop"] = inputs["goal_count"] = 0
        params = pack(workload.config, workload.model)
        return Records(params, begin.copy(), inputs, layout.new_outputs(), begin)

    def four(self) -> tuple[np.ndarray, ...]:
        return self.params, self.state, self.inputs, self.outputs


@jit
def measured(i, q, wrench, dt, k):
    """Put sample k into the inputs record."""
    for n in range(6):
        i.q[n] = q[k, n]
        i.wrench[n] = wrench[k, n]
    i.dt = dt[k]


@jit(entry=True)
def replay_ticks(params, state, inputs, outputs, begin, q, wrench, dt, passes, qd):
    """All ticks, many times, without a clock; keeps the joint rates of the last pass."""
    for _ in range(passes):
        state[0] = begin[0]
        for k in range(q.shape[0]):
            measured(inputs[0], q, wrench, dt, k)
            tick(params, state, inputs, outputs)
            for n in range(6):
                qd[k, n] = outputs[0].qd[n]


@jit(entry=True)
def time_ticks(params, state, inputs, outputs, begin, q, wrench, dt, every, timespec, spent):
    """One pass with one clock reading around every `every` ticks."""
    state[0] = begin[0]
    for b in range(spent.shape[0]):
        before = nanoseconds(timespec)
        for k in range(b * every, (b + 1) * every):
            measured(inputs[0], q, wrench, dt, k)
            tick(params, state, inputs, outputs)
        spent[b] = nanoseconds(timespec) - before


def replay(workload: Workload, passes: int = 1) -> np.ndarray:
    """(n, 6): the joint rates of every tick of the workload, made inside the kernel."""
    records, qd = Records.of(workload), np.empty_like(workload.q)
    samples = workload.q, workload.wrench, workload.dt
    replay_ticks(*records.four(), records.begin, *samples, passes, qd)
    return qd


def time_in_kernel(workload: Workload, passes: int) -> dict[str, float]:
    """A compiled loop over the tick."""
    records, overhead = Records.of(workload), compiled_clock_overhead()
    samples = workload.q, workload.wrench, workload.dt
    spent: dict[int, list[np.ndarray]] = {BLOCK: [], 1: []}
    for n in range(passes + 1):
        for every, runs in spent.items():
            run = np.empty(len(workload.q) // every, np.int64)
            time_ticks(*records.four(), records.begin, *samples, every, np.zeros(2, np.int64), run)
            if n > 0:  # the first pass warms up
                runs.append(run)
    return summary(np.concatenate(spent[BLOCK]) - overhead, np.concatenate(spent[1]) - overhead)


def time_from_python(workload: Workload, passes: int) -> dict[str, float]:
    """`controller.update`, a call per tick, as a user's loop has it."""
    controller = Controller(workload.model, workload.config)
    calls = list(zip(workload.q, workload.wrench, workload.dt.tolist(), strict=True))
    return time_python(controller.update, lambda: controller.activate(workload.q[0]), calls, passes)
