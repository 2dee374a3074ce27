"""Many closed loops at once: the tick, and an arm and a surface simple enough to live beside it.

The arm makes the joint velocities it is told: at once (ideal), or after a delay and through a
first-order lag. The surface is a plane with a spring and a damper that only pushes. The sensor
feels the given wrench, the surface, and the tool's weight and its own bias if the configuration
names them.
"""

from __future__ import annotations

import math

from numba import prange

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.kinematics import kinematics
from ur_admittance.kernel.spatial import (
    add,
    angular,
    cross,
    dot,
    linear,
    scale,
    set_angular,
    set_linear,
    sub,
    turn_back,
)
from ur_admittance.kernel.tick import step

LONGEST_DELAY = 64  # ticks


@jit
def sense(p, s, i, wrench, in_world, surface, qd):
    """Write the sensor's reading: the wrench on the tool at P, moved to S, plus weight and bias.

    `surface`: on, point (3), unit normal (3), stiffness N/m, damping N s/m.
    """
    f, t = linear(wrench), angular(wrench)
    if in_world:
        f, t = turn_back(s.R_WP, f), turn_back(s.R_WP, t)
    if surface[0] > 0.0:
        normal = (surface[4], surface[5], surface[6])
        depth = -dot(normal, sub(linear(s.p_WP), (surface[1], surface[2], surface[3])))
        if depth > 0.0:
            v = (0.0, 0.0, 0.0)
            for n in range(6):
                v = add(v, scale((s.J[0, n], s.J[1, n], s.J[2, n]), qd[n]))
            push = max(0.0, surface[7] * depth - surface[8] * dot(normal, v))
            f = add(f, turn_back(s.R_WP, scale(normal, push)))
    # from P to S: the same wrench seen from the sensor's origin and axes
    t = sub(t, cross(linear(p.p_PS), f))
    f, t = turn_back(p.R_PS, f), turn_back(p.R_PS, t)
    weight = scale(turn_back(p.R_PS, turn_back(s.R_WP, linear(p.gravity))), p.payload_mass)
    f = add(f, add(weight, linear(p.bias)))
    t = add(t, add(cross(linear(p.payload_com), weight), angular(p.bias)))
    set_linear(i.wrench, f)
    set_angular(i.wrench, t)


@jit
def run(p, s, i, o, q0, wrenches, dts, arm, surface, in_world, every, history, queue, rates):
    """One closed loop from rest at q0.

    `arm`: time constant s, delay ticks. `history[k]` receives every `every`-th output, the last one
    included.
    """
    for n in range(6):
        i.q[n] = q0[n]
        s.q[n] = q0[n]
        rates[n] = 0.0
        for k in range(LONGEST_DELAY):
            queue[k, n] = 0.0
    s.mode = bits.ACTIVE
    s.fresh = 1
    i.stop = 0
    i.goal_count = 0
    i.wrench_age = 0.0
    i.joint_age = 0.0
    kinematics(p, s)
    delay = int(arm[1])
    ticks, kept = wrenches.shape[0], 0
    for k in range(ticks):
        i.dt = dts[k % dts.shape[0]]
        # where the arm is now: the sensor feels the surface there
        for n in range(6):
            s.q[n] = i.q[n]
        kinematics(p, s)
        sense(p, s, i, wrenches[k], in_world, surface, rates)
        step(p, s, i, o)
        for n in range(6):
            queue[k % LONGEST_DELAY, n] = o.qd[n]
            told = queue[(k - delay) % LONGEST_DELAY, n]
            if arm[0] > 0.0:
                lag = math.exp(-s.dt / arm[0])
                i.q[n] += told * s.dt + (rates[n] - told) * arm[0] * (1.0 - lag)
                rates[n] = told + (rates[n] - told) * lag
            else:
                rates[n] = told
                i.q[n] += told * s.dt
        if (k + 1) % every == 0 or k + 1 == ticks:
            if kept < history.shape[0]:
                history[kept] = o
                kept += 1
    return kept


@jit(entry=True, parallel=True)
def run_all(
    params,
    which,
    states,
    blank,
    inputs,
    outputs,
    q0,
    wrenches,
    dts,
    arm,
    surface,
    in_world,
    every,
    history,
    queues,
    rates,
):
    """All runs, spread over the threads in as many lanes as there are states."""
    lanes = states.shape[0]
    for lane in prange(lanes):
        run_lane(
            lane, lanes, params, which, states, blank, inputs, outputs, q0, wrenches, dts, arm,
            surface, in_world, every, history, queues, rates,
        )  # fmt: skip


@jit
def run_lane(
    lane, lanes, params, which, states, blank, inputs, outputs, q0, wrenches, dts, arm, surface,
    in_world, every, history, queues, rates,
):  # fmt: skip
    runs = which.shape[0]
    for r in range(lane, runs, lanes):
        states[lane] = blank[0]
        run(
            params[which[r]], states[lane], inputs[lane], outputs[lane], q0[r % q0.shape[0]],
            wrenches[r % wrenches.shape[0]], dts, arm, surface, in_world, every, history[r],
            queues[lane], rates[lane],
        )  # fmt: skip
