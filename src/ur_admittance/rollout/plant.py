"""Many closed loops at once: the tick, and an arm and a surface simple enough to live beside it.

The arm makes the joint velocities it is told: at once (ideal), or after a delay and through a
first-order lag; the tool may hang on it by a spring, which is its first structural mode. The
surface is a plane or a ball with a spring and a damper that only pushes, and friction that sticks
before it slides; a strip of it may be deeper or stiffer. The sensor feels the given wrench, the
surface, its own noise, and the tool's weight and its own bias if the configuration names them.

A rigid arm moves the same whatever it touches, so its surface is felt once a tick. The structural
mode is integrated in steps of 50 us.
"""

from __future__ import annotations

import math

from numba import prange

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.kinematics import kinematics
from ur_admittance.kernel.layout import INPUTS, OUTPUTS
from ur_admittance.kernel.spatial import (
    add,
    angular,
    cross,
    dot,
    linear,
    norm,
    quaternion,
    scale,
    set_angular,
    set_linear,
    set_quaternion,
    sub,
    turn,
    turn_back,
)
from ur_admittance.kernel.state import FLOAT, INT, STATE, record
from ur_admittance.kernel.tick import step

LONGEST_DELAY = 64  # ticks
_GRIP = 0.7  # of the surface's stiffness, along it, until friction slips
_STEP = 50e-6  # s

ARM = record(
    [
        ("lag", FLOAT),  # s, of every joint; 0 = none
        ("delay", FLOAT),  # ticks between a command and its effect
        ("mode", FLOAT),  # rad/s, of the first structural mode; 0 = rigid
        ("mode_damping", FLOAT),  # its ratio
        ("mode_mass", FLOAT),  # kg, what swings with the tool
    ]
)
SURFACE = record(
    [
        ("present", INT),  # whether there is one
        ("point", FLOAT, (3,)),  # m in W
        ("normal", FLOAT, (3,)),  # out of the material there, in W, of length 1
        ("stiffness", FLOAT),  # N/m
        ("damping", FLOAT),  # N s/m
        ("friction", FLOAT),  # coefficient
        ("curvature", FLOAT),  # 1/m, of a ball; below 0: a hollow one; 0: a plane
        # the strip that is another one
        ("strip_along", FLOAT, (3,)),  # across it, in W, of length 1
        ("strip_start", FLOAT),  # m along that from the point
        ("strip_end", FLOAT),  # m
        ("strip_drop", FLOAT),  # m, how much deeper it is
        ("strip_flank", FLOAT),  # m, over which it gets so
        ("strip_stiffer", FLOAT),  # its stiffness, in that of the surface
    ]
)
NOISE = record(
    [
        ("force", FLOAT),  # N, standard deviation
        ("torque", FLOAT),  # Nm
        ("joints", FLOAT),  # rad
        ("seed", INT),
    ]
)
GOAL = record(
    [
        ("p", FLOAT, (3,)),  # m in W
        ("wxyz", FLOAT, (4,)),
        ("V", FLOAT, (6,)),  # m/s, rad/s
    ]
)
# what one run is about
RUN = record(
    [
        ("params", INT),  # index of its parameters
        ("q0", FLOAT, (6,)),  # rad
        ("arm", ARM),
        ("surface", SURFACE),
        ("noise", NOISE),
    ]
)
# what a run remembers of the world
PLANT = record(
    [
        ("q", FLOAT, (6,)),  # rad, where the arm is, without the encoders' noise
        ("qd", FLOAT, (6,)),  # rad/s
        ("queue", FLOAT, (LONGEST_DELAY, 6)),  # rad/s, the last commands, by tick
        ("bend", FLOAT, (3,)),  # m in W, of the tool on its structural mode
        ("bend_rate", FLOAT, (3,)),  # m/s
        ("stuck", FLOAT, (3,)),  # m in W, where friction holds the tool
        ("force", FLOAT, (3,)),  # N in W, of the surface on the tool
        ("dice", INT),  # the state of the random numbers
    ]
)
# the memory of the runs that follow one another in a thread
LANE = record([("state", STATE), ("inputs", INPUTS), ("outputs", OUTPUTS), ("plant", PLANT)])


@jit
def touch(surface, plant, p, v):
    """The force of the surface on a tool at `p` with velocity `v`, N in W, kept in `plant`."""
    force = (0.0, 0.0, 0.0)
    if surface.present:
        normal = linear(surface.normal)
        off = sub(p, linear(surface.point))
        depth, stiffness = -dot(normal, off), surface.stiffness
        if (
            surface.curvature != 0.0
        ):  # about the centre of the ball; hollow if it is on the other side
            radius = 1.0 / surface.curvature
            out = add(off, scale(normal, radius))
            far = norm(out)
            depth = radius - math.copysign(far, radius)
            normal = scale(out, math.copysign(1.0, radius) / far)
        along = dot(linear(surface.strip_along), off)
        if along > surface.strip_start and along < surface.strip_end:
            edge = min(
                1.0,
                min(along - surface.strip_start, surface.strip_end - along) / surface.strip_flank,
            )
            stiffness *= 1.0 + edge * (surface.strip_stiffer - 1.0)
            depth -= edge * surface.strip_drop
        push = 0.0
        if depth > 0.0:
            push = max(0.0, stiffness * depth - surface.damping * dot(normal, v))
            force = scale(normal, push)
        grip = _GRIP * stiffness
        if push > 0.0 and surface.friction > 0.0 and grip > 0.0:
            # a spring along the surface, whose end slips when it pulls more than friction holds
            bent = sub(p, linear(plant.stuck))
            bent = sub(bent, scale(normal, dot(bent, normal)))
            most, size = surface.friction * push / grip, norm(bent)
            if size > most:
                bent = scale(bent, most / size)
            set_linear(plant.stuck, sub(p, bent))
            force = sub(force, scale(bent, grip))
        else:
            set_linear(plant.stuck, p)
    set_linear(plant.force, force)
    return force


@jit
def random(plant):
    """An even number in (0, 1), from a generator of 31 bits (Park and Miller)."""
    plant.dice = (plant.dice * 48271) % 2147483647
    return plant.dice / 2147483647.0


@jit
def normal_noise(plant, size):
    """One sample of normal noise."""
    if not size > 0.0:
        return 0.0
    return size * math.sqrt(-2.0 * math.log(random(plant))) * math.cos(math.tau * random(plant))


@jit
def sense(p, s, i, wrench, in_world, noise, plant):
    """Write the sensor's reading: the wrench at P moved to S, plus weight, bias and noise."""
    f, t = linear(wrench), angular(wrench)
    if in_world:
        f, t = turn_back(s.R_WP, f), turn_back(s.R_WP, t)
    f = add(f, turn_back(s.R_WP, linear(plant.force)))
    # from P to S: the same wrench seen from the sensor's origin and axes
    t = sub(t, cross(linear(p.p_PS), f))
    f, t = turn_back(p.R_PS, f), turn_back(p.R_PS, t)
    weight = scale(turn_back(p.R_PS, turn_back(s.R_WP, linear(p.gravity))), p.payload_mass)
    f = add(f, add(weight, linear(p.bias)))
    t = add(t, add(cross(linear(p.payload_com), weight), angular(p.bias)))
    set_linear(i.wrench, f)
    set_angular(i.wrench, t)
    if noise.force > 0.0 or noise.torque > 0.0:
        for n in range(6):
            i.wrench[n] += normal_noise(plant, noise.force if n < 3 else noise.torque)


@jit
def tool_motion(s, q, qd):
    """Where P is, m, and how fast, m/s, with the joints at `q`, near `s.q`."""
    p, v = linear(s.p_WP), (0.0, 0.0, 0.0)
    for n in range(6):
        column = (s.J[0, n], s.J[1, n], s.J[2, n])
        p = add(p, scale(column, q[n] - s.q[n]))
        v = add(v, scale(column, qd[n]))
    return p, v


@jit
def bend(arm, surface, plant, p, v, told, push, seconds):
    """The structural mode for a while: the tool on a spring, on an arm at `p` with velocity `v`."""
    steps = max(1, math.ceil(seconds / _STEP - 1e-9))
    h = seconds / steps
    w, zeta = arm.mode, arm.mode_damping
    keep = math.exp(-h / arm.lag) if arm.lag > 0.0 else 0.0
    for _ in range(steps):
        v_new = add(told, scale(sub(v, told), keep))
        a = scale(sub(v_new, v), 1.0 / h)
        p = add(p, scale(add(v, v_new), 0.5 * h))
        v = v_new
        d, rate = linear(plant.bend), linear(plant.bend_rate)
        force = touch(surface, plant, add(p, d), add(v, rate))
        pull = add(scale(d, -w * w), scale(rate, -2.0 * zeta * w))
        pull = add(sub(pull, a), scale(add(force, push), 1.0 / arm.mode_mass))
        rate = add(rate, scale(pull, h))
        set_linear(plant.bend_rate, rate)
        set_linear(plant.bend, add(d, scale(rate, h)))


@jit
def begin(p, s, i, plant, q0, seed):
    """An arm at rest at q0, and a controller that is activated there."""
    for n in range(6):
        i.q[n] = q0[n]
        s.q[n] = q0[n]
        plant.q[n] = q0[n]
        plant.qd[n] = 0.0
        for k in range(LONGEST_DELAY):
            plant.queue[k, n] = 0.0
    s.mode = bits.ACTIVE
    s.seeding = bits.SEED_ALL
    i.stop = 0
    i.goal_count = 0
    i.wrench_age = 0.0
    i.joint_age = 0.0
    kinematics(p, s)
    nothing = (0.0, 0.0, 0.0)
    set_linear(plant.bend, nothing)
    set_linear(plant.bend_rate, nothing)
    set_linear(plant.force, nothing)
    set_linear(plant.stuck, linear(s.p_WP))
    plant.dice = seed


@jit
def run(p, about, lane, wrenches, goals, dts, in_world, every, history, felt):
    """One closed loop from rest.

    `history[k]` receives every `every`-th output, the last one included; `felt[k]` the force of the
    surface then.
    """
    s, i, o, plant = lane.state, lane.inputs, lane.outputs, lane.plant
    arm, surface, noise = about.arm, about.surface, about.noise
    begin(p, s, i, plant, about.q0, noise.seed)
    q, rates, queue = plant.q, plant.qd, plant.queue
    delay = int(arm.delay)
    part = arm.delay - delay  # of a tick, for which the command before still rules
    flexible = arm.mode > 0.0
    ticks, kept = wrenches.shape[0], 0
    for k in range(ticks):
        i.dt = dts[k % dts.shape[0]]
        # where the arm is now: the sensor feels the surface there
        for n in range(6):
            s.q[n] = q[n]
        kinematics(p, s)
        if not flexible:
            p_WP, v_WP = tool_motion(s, q, rates)
            touch(surface, plant, p_WP, v_WP)
        sense(p, s, i, wrenches[k], in_world, noise, plant)
        for n in range(6):
            i.q[n] = q[n] + normal_noise(plant, noise.joints)
        force = linear(plant.force)
        if goals.shape[0] > 0:
            goal = goals[k]
            i.goal_count += 1
            set_linear(i.goal_p, linear(goal.p))
            set_quaternion(i.goal_wxyz, quaternion(goal.wxyz))
            set_linear(i.goal_V, linear(goal.V))
            set_angular(i.goal_V, angular(goal.V))
        step(p, s, i, o)
        for n in range(6):
            queue[k % LONGEST_DELAY, n] = o.qd[n]
        push = linear(wrenches[k])
        if not in_world:
            push = turn(s.R_WP, push)
        for piece in range(2):
            seconds = s.dt * (part if piece == 0 else 1.0 - part)
            if not seconds > 0.0:
                continue
            told_qd = queue[(k - delay - (1 if piece == 0 else 0)) % LONGEST_DELAY]
            if flexible:
                p_WP, v_WP = tool_motion(s, q, rates)
                _, told = tool_motion(s, q, told_qd)
                bend(arm, surface, plant, p_WP, v_WP, told, push, seconds)
            for n in range(6):
                if arm.lag > 0.0:
                    lag = math.exp(-seconds / arm.lag)
                    q[n] += told_qd[n] * seconds + (rates[n] - told_qd[n]) * arm.lag * (1.0 - lag)
                    rates[n] = told_qd[n] + (rates[n] - told_qd[n]) * lag
                else:
                    rates[n] = told_qd[n]
                    q[n] += told_qd[n] * seconds
        if (k + 1) % every == 0 or k + 1 == ticks:
            if kept < history.shape[0]:
                history[kept] = o
                set_linear(felt[kept], force)
                kept += 1


@jit
def run_lane(
    number, lanes, params, runs, blank, wrenches, goals, dts, in_world, every, history, felt
):
    """The runs of one lane, one after another."""
    lane = lanes[number]
    for r in range(number, runs.shape[0], lanes.shape[0]):
        lane.state = blank
        run(
            params[runs[r].params], runs[r], lane, wrenches[r % wrenches.shape[0]],
            goals[r % goals.shape[0]], dts, in_world, every, history[r], felt[r],
        )  # fmt: skip


@jit(entry=True, parallel=True)
def run_all(params, runs, lanes, blank, wrenches, goals, dts, in_world, every, history, felt):
    """All runs, spread over the threads in as many lanes as there is memory for.

    Args:
        params: PARAMS records, of which each run names one.
        runs: RUN records.
        lanes: LANE records, memory to work with.
        blank: one STATE record that every run begins with.
        wrenches: (1 or runs, ticks, 6), N and Nm.
        goals: GOAL records (1 or runs, ticks or 0).
        dts: (1 or ticks,), s.
        in_world: whether the axes of the wrenches are those of W, else of P.
        every: how many ticks from one that is kept to the next.
        history: OUTPUTS records (runs, kept), written.
        felt: (runs, kept, 3), N in W, written.
    """
    for number in prange(lanes.shape[0]):
        run_lane(
            number, lanes, params, runs, blank[0], wrenches, goals, dts, in_world, every, history,
            felt,
        )  # fmt: skip
