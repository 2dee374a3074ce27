"""Random closed loops with an oracle beside them: any wrench, any legal configuration, any timing.

The oracle knows nothing of the kernel's kinematics: it multiplies 4 x 4 matrices and differentiates
the chain itself. What counts is the motion the joints make: `J qd`.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from tests.sweep.chain import jacobian
from tests.sweep.disturbances import (
    STEADY,
    Scene,
    change,
    move_walls,
    random_inputs,
    random_time,
    start,
    touch,
)
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.tick import step

JOINT_BITS = bits.JOINT_POSITION_LIMIT | bits.JOINT_VELOCITY_LIMIT | bits.JOINT_ACCELERATION_LIMIT
FORCED = JOINT_BITS | bits.SINGULARITY | bits.STOPPING_DISTANCE
BEYOND = bits.BEYOND_ACCELERATION
HELD = FORCED | BEYOND | bits.WORKSPACE_LIMIT | bits.OUTSIDE_WORKSPACE
CONTACT_BRAKING = bits.CONTACT_BRAKING
STOPPED, ACTIVE = bits.STOPPED, bits.ACTIVE

# columns of the result
COLUMNS = 18
NOT_FINITE, QD, QDD, Q, SPEED, TURN, FREE, FORCED_TICKS = range(8)
FORCED_MOST, FORCED_SPEED, WALL, TICKS, LATCHED, MOVED, SILENT, JERK, JERKY, BRAKED = range(
    8, COLUMNS
)

# the first tick of a run that left the acceleration limit: enough to ask whether it had to
CASE = np.dtype(
    [
        ("J", float, (6, 6)),
        ("low", float, (6,)),
        ("high", float, (6,)),
        ("V_prev", float, (6,)),
        ("reach", float, (2,)),  # m/s and rad/s that the limits allow in this tick
        ("caps", float, (2,)),  # m/s, rad/s
        ("status", np.int64),
        ("hard", float),
    ]
)


def random_runs(
    params: np.ndarray, scene: Scene, runs: int, ticks: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """One row of peaks for each run (see the columns above), and its case."""
    peaks, cases = np.zeros((runs, COLUMNS)), np.zeros(runs, CASE)
    lanes = [range(k, min(runs, k + 200)) for k in range(0, runs, 200)]

    def lane(part: range, ticks: int = ticks) -> None:
        records = (layout.new_state(), layout.new_inputs(), layout.new_outputs())
        _lane(params, scene, part[0], part[-1] + 1, ticks, seed, peaks, cases,
              np.zeros(1, layout.PARAMS), *records, layout.new_state())  # fmt: skip

    lane(range(1), 0)  # compile before the threads start
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lane, lanes))
    return peaks, cases


@jit(entry=True)
def _lane(params, scene, first, last, ticks, seed, peaks, cases, P, S, inputs, outputs, blank):
    for r in range(first, last):
        np.random.seed(seed + r)
        row = params[np.random.randint(params.shape[0])]
        P[0] = row[np.random.randint(row.shape[0])]
        S[0] = blank[0]
        _run(row, scene, ticks, peaks[r], cases[r], P, S, inputs, outputs)


@njit(nogil=True)
def _run(row, scene, ticks, peak, case, P, S, inputs, outputs):
    p, s, i, o = P[0], S[0], inputs[0], outputs[0]
    p.period = scene.period
    q, qd, V, J, frames = (
        np.empty(6),
        np.zeros(6),
        np.zeros(6),
        np.zeros((6, 6)),
        np.empty((8, 4, 4)),
    )
    start(p, q)
    p_WP = jacobian(p, q, J, frames)
    room = math.exp(np.random.uniform(math.log(0.005), 0.0))
    for n in range(3):
        if np.random.random() < 0.7:
            p.workspace_min[n] = p_WP[n] - np.random.random() * room
        if np.random.random() < 0.7:
            p.workspace_max[n] = p_WP[n] + np.random.random() * room
    s.mode, s.seeding = ACTIVE, 1
    s.q[:] = q
    i.stop, i.goal_count, i.stream_count, i.target_count, i.streams = 0, 0, 0, 0, 0
    push, strength = np.zeros(6), math.exp(np.random.uniform(0.0, math.log(3000.0)))
    A = np.zeros(6)
    latched = free = False
    # half of the runs meet a surface on their way
    normal = np.random.normal(0.0, 1.0, 3)
    normal /= np.sqrt((normal * normal).sum())
    gap = 0.01 * np.random.random() if np.random.random() < 0.5 else 1e9
    there = np.array(p_WP) - gap * normal
    stiff = math.exp(np.random.uniform(math.log(1e3), math.log(1e5)))
    for _ in range(ticks):
        # an arm that follows its commands, while dt passes
        dt = random_time(i, scene)
        for n in range(6):
            q[n] += qd[n] * dt
            peak[Q] = max(peak[Q], q[n] - p.q_max[n], p.q_min[n] - q[n])
        before = p_WP
        p_WP = jacobian(p, q, J, frames)
        for n in range(3):
            beyond = max(p_WP[n] - p.workspace_max[n], p.workspace_min[n] - p_WP[n])
            peak[WALL] = max(peak[WALL], beyond)
            peak[MOVED] += abs(p_WP[n] - before[n])
        random_inputs(s, i, q, push, strength, p_WP)
        touch(p, i, frames[6], normal, there, stiff)
        changed = scene.changes and np.random.random() < 0.01
        if changed:
            change(p, row[np.random.randint(row.shape[0])])
            move_walls(p, p_WP, qd, V)
        step(p, s, i, o)
        # what the oracle sees
        peak[TICKS] += 1
        for n in range(6):
            if not abs(o.qd[n]) < 1e9 or not abs(o.q_ref[n]) < 1e9:
                peak[NOT_FINITE] += 1
                return
            peak[QD] = max(peak[QD], abs(o.qd[n]) / p.qd_max[n])
            peak[QDD] = max(peak[QDD], abs(o.qd[n] - qd[n]) / (p.qdd_max[n] * dt))
        latched = latched and s.mode == STOPPED
        if latched:
            for n in range(6):
                peak[LATCHED] = max(peak[LATCHED], abs(o.qd[n]))
        latched = s.mode == STOPPED and s.at_rest == 1
        dv = dw = speed = turn = speed_prev = turn_prev = jerk = angular_jerk = 0.0
        V_prev = V.copy()
        for n in range(6):
            t = 0.0
            for m in range(6):
                t += J[n, m] * o.qd[m]
            a = (t - V[n]) / dt
            if n < 3:
                dv += (t - V[n]) ** 2
                speed += t * t
                speed_prev += V[n] * V[n]
                jerk += (a - A[n]) ** 2
            else:
                dw += (t - V[n]) ** 2
                turn += t * t
                turn_prev += V[n] * V[n]
                angular_jerk += (a - A[n]) ** 2
            V[n], A[n] = t, a
        fast = math.sqrt(speed) / max(p.v_max, math.sqrt(speed_prev))
        spin = math.sqrt(turn) / max(p.w_max, math.sqrt(turn_prev))
        forced = o.status & FORCED
        if scene.changes and forced:
            peak[FORCED_SPEED] = max(peak[FORCED_SPEED], fast, spin)
        else:
            peak[SPEED], peak[TURN] = max(peak[SPEED], fast), max(peak[TURN], spin)
        a_max = p.a_max
        if o.status & CONTACT_BRAKING:
            # the limit is the arm's, and the command may lead it by its lag
            a_max = max(a_max, p.contact_braking * (dt + 0.8 * p.arm_lag) / dt)
            peak[BRAKED] += 1
        hard = max(math.sqrt(dv) / (a_max * dt), math.sqrt(dw) / (p.alpha_max * dt))
        if hard > 1.0 + 1e-5:
            peak[FORCED_TICKS] += 1
            peak[FORCED_MOST] = max(peak[FORCED_MOST], hard)
            if not (o.status & BEYOND and o.status & HELD & ~BEYOND):
                peak[SILENT] += 1
            if case.hard == 0.0:
                case.J[:], case.low[:], case.high[:], case.V_prev[:] = J, s.low, s.high, V_prev
                case.reach[0], case.reach[1] = a_max * dt, p.alpha_max * dt
                case.caps[0], case.caps[1] = s.v_cap, s.w_cap
                case.status, case.hard = o.status, hard
        elif not forced:
            peak[FREE] = max(peak[FREE], hard)
        # the jerk limit is kept where nothing more important interferes, in steady time
        was_free, free = free, not (o.status & (HELD | CONTACT_BRAKING) or changed)
        if p.jerk_max > 0.0 and was_free and free and scene.timing == STEADY:
            rough = max(
                math.sqrt(jerk) / (p.jerk_max * dt),
                math.sqrt(angular_jerk) / (p.angular_jerk_max * dt),
            )
            peak[JERK] = max(peak[JERK], rough)
            peak[JERKY] += rough > 1.0 + 1e-6
        qd[:] = o.qd
