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
from ur_admittance.kernel.tick import step

LONGEST_DELAY = 64  # ticks
ARM = 5  # numbers of an arm: lag s, delay in ticks, and of the mode: rad/s, damping ratio, mass kg
# numbers of a surface: on, point (3), normal (3), N/m, N s/m, friction, curvature 1/m, and of its
# strip: direction (3), from and to m, drop m, flank m, times stiffer
SURFACE = 19
GOAL = 13  # numbers of a goal: position m, wxyz, twist m/s and rad/s
NOISE = 4  # numbers of the noise: N, Nm, rad, seed
WORLD = 15  # what a run remembers: bend (3), its rate (3), stuck at (3), force (3), tool's v (3)
_BEND, _RATE, _STUCK, _FORCE, _VELOCITY = 0, 3, 6, 9, 12
_GRIP = 0.7  # of the surface's stiffness, along it, until friction slips
_STEP = 50e-6  # s


@jit
def vector(world, at):
    return world[at], world[at + 1], world[at + 2]


@jit
def set_vector(world, at, a):
    world[at], world[at + 1], world[at + 2] = a


@jit
def touch(surface, world, p, v):
    """The force of the surface on a tool at `p` with velocity `v`, N in W, kept in `world`."""
    force = (0.0, 0.0, 0.0)
    if surface[0] > 0.0:
        normal = (surface[4], surface[5], surface[6])
        off = sub(p, (surface[1], surface[2], surface[3]))
        depth, stiffness = -dot(normal, off), surface[7]
        if surface[10] != 0.0:  # about the centre of the ball; hollow if it is on the other side
            radius = 1.0 / surface[10]
            out = add(off, scale(normal, radius))
            far = norm(out)
            depth = radius - math.copysign(far, radius)
            normal = scale(out, math.copysign(1.0, radius) / far)
        along = surface[11] * off[0] + surface[12] * off[1] + surface[13] * off[2]
        if along > surface[14] and along < surface[15]:
            edge = min(1.0, min(along - surface[14], surface[15] - along) / surface[17])
            stiffness *= 1.0 + edge * (surface[18] - 1.0)
            depth -= edge * surface[16]
        push = 0.0
        if depth > 0.0:
            push = max(0.0, stiffness * depth - surface[8] * dot(normal, v))
            force = scale(normal, push)
        grip = _GRIP * stiffness
        if push > 0.0 and surface[9] > 0.0 and grip > 0.0:
            # a spring along the surface, whose end slips when it pulls more than friction holds
            bent = sub(p, vector(world, _STUCK))
            bent = sub(bent, scale(normal, dot(bent, normal)))
            most, size = surface[9] * push / grip, norm(bent)
            if size > most:
                bent = scale(bent, most / size)
            set_vector(world, _STUCK, sub(p, bent))
            force = sub(force, scale(bent, grip))
        else:
            set_vector(world, _STUCK, p)
    set_vector(world, _FORCE, force)
    return force


@jit
def random(dice):
    """An even number in (0, 1), from a generator of 31 bits (Park and Miller)."""
    dice[0] = (dice[0] * 48271) % 2147483647
    return dice[0] / 2147483647.0


@jit
def normal_noise(dice, size):
    """One sample of normal noise."""
    if not size > 0.0:
        return 0.0
    return size * math.sqrt(-2.0 * math.log(random(dice))) * math.cos(math.tau * random(dice))


@jit
def sense(p, s, i, wrench, in_world, world, noise, dice):
    """Write the sensor's reading: the wrench on the tool at P, moved to S, plus weight, bias and
    noise.
    """
    f, t = linear(wrench), angular(wrench)
    if in_world:
        f, t = turn_back(s.R_WP, f), turn_back(s.R_WP, t)
    f = add(f, turn_back(s.R_WP, vector(world, _FORCE)))
    # from P to S: the same wrench seen from the sensor's origin and axes
    t = sub(t, cross(linear(p.p_PS), f))
    f, t = turn_back(p.R_PS, f), turn_back(p.R_PS, t)
    weight = scale(turn_back(p.R_PS, turn_back(s.R_WP, linear(p.gravity))), p.payload_mass)
    f = add(f, add(weight, linear(p.bias)))
    t = add(t, add(cross(linear(p.payload_com), weight), angular(p.bias)))
    set_linear(i.wrench, f)
    set_angular(i.wrench, t)
    if noise[0] > 0.0 or noise[1] > 0.0:
        for n in range(6):
            i.wrench[n] += normal_noise(dice, noise[0] if n < 3 else noise[1])


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
def bend(s, arm, surface, world, p, v, told, push, seconds):
    """The structural mode for a while: the tool on a spring, on an arm at `p` with velocity `v`."""
    steps = max(1, math.ceil(seconds / _STEP - 1e-9))
    h = seconds / steps
    lag, w, zeta, mass = arm[0], arm[2], arm[3], arm[4]
    keep = math.exp(-h / lag) if lag > 0.0 else 0.0
    for _ in range(steps):
        v_new = add(told, scale(sub(v, told), keep))
        a = scale(sub(v_new, v), 1.0 / h)
        p = add(p, scale(add(v, v_new), 0.5 * h))
        v = v_new
        d, rate = vector(world, _BEND), vector(world, _RATE)
        force = touch(surface, world, add(p, d), add(v, rate))
        pull = add(scale(d, -w * w), scale(rate, -2.0 * zeta * w))
        pull = add(sub(pull, a), scale(add(force, push), 1.0 / mass))
        rate = add(rate, scale(pull, h))
        set_vector(world, _RATE, rate)
        set_vector(world, _BEND, add(d, scale(rate, h)))
    set_vector(world, _VELOCITY, v)


@jit
def run(
    p, s, i, o, q0, wrenches, goals, dts, arm, surface, noise, in_world, every, history, felt,
    queue, rates, world, dice,
):  # fmt: skip
    """One closed loop from rest at q0.

    `history[k]` receives every `every`-th output, the last one included; `felt[k]` the force of the
    surface then.
    """
    for n in range(6):
        i.q[n] = q0[n]
        s.q[n] = q0[n]
        rates[n] = 0.0
        queue[LONGEST_DELAY, n] = q0[n]  # where the arm is, without the encoders' noise
        for k in range(LONGEST_DELAY):
            queue[k, n] = 0.0
    for k in range(WORLD):
        world[k] = 0.0
    q = queue[LONGEST_DELAY]
    s.mode = bits.ACTIVE
    s.seeding = bits.SEED_ALL
    i.stop = 0
    i.goal_count = 0
    i.wrench_age = 0.0
    i.joint_age = 0.0
    kinematics(p, s)
    set_vector(world, _STUCK, linear(s.p_WP))
    delay = int(arm[1])
    part = arm[1] - delay  # of a tick, for which the command before still rules
    flexible = arm[2] > 0.0
    ticks, kept = wrenches.shape[0], 0
    for k in range(ticks):
        i.dt = dts[k % dts.shape[0]]
        # where the arm is now: the sensor feels the surface there
        for n in range(6):
            s.q[n] = q[n]
        kinematics(p, s)
        if not flexible:
            p_WP, v_WP = tool_motion(s, q, rates)
            touch(surface, world, p_WP, v_WP)
        sense(p, s, i, wrenches[k], in_world, world, noise, dice)
        for n in range(6):
            i.q[n] = q[n] + normal_noise(dice, noise[2])
        force = vector(world, _FORCE)
        if goals.shape[0] > 0:
            i.goal_count += 1
            set_linear(i.goal_p, linear(goals[k]))
            set_quaternion(i.goal_wxyz, quaternion(goals[k, 3:7]))
            set_linear(i.goal_V, linear(goals[k, 7:10]))
            set_angular(i.goal_V, linear(goals[k, 10:13]))
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
            at = (k - delay - (1 if piece == 0 else 0)) % LONGEST_DELAY
            if flexible:
                p_WP, v_WP = tool_motion(s, q, rates)
                _, told = tool_motion(s, q, queue[at])
                bend(s, arm, surface, world, p_WP, v_WP, told, push, seconds)
            for n in range(6):
                told_n = queue[at, n]
                if arm[0] > 0.0:
                    lag = math.exp(-seconds / arm[0])
                    q[n] += told_n * seconds + (rates[n] - told_n) * arm[0] * (1.0 - lag)
                    rates[n] = told_n + (rates[n] - told_n) * lag
                else:
                    rates[n] = told_n
                    q[n] += told_n * seconds
        if (k + 1) % every == 0 or k + 1 == ticks:
            if kept < history.shape[0]:
                history[kept] = o
                set_vector(felt[kept], 0, force)
                kept += 1
    return kept


@jit(entry=True, parallel=True)
def run_all(
    params, which, states, blank, inputs, outputs, q0, wrenches, goals, dts, arms, surfaces, noises,
    seeds, in_world, every, history, felt, queues, rates, worlds, dice,
):  # fmt: skip
    """All runs, spread over the threads in as many lanes as there are states."""
    lanes = states.shape[0]
    for lane in prange(lanes):
        run_lane(
            lane, lanes, params, which, states, blank, inputs, outputs, q0, wrenches, goals, dts,
            arms, surfaces, noises, seeds, in_world, every, history, felt, queues, rates, worlds,
            dice,
        )  # fmt: skip


@jit
def run_lane(
    lane, lanes, params, which, states, blank, inputs, outputs, q0, wrenches, goals, dts, arms,
    surfaces, noises, seeds, in_world, every, history, felt, queues, rates, worlds, dice,
):  # fmt: skip
    runs = which.shape[0]
    for r in range(lane, runs, lanes):
        states[lane] = blank[0]
        dice[lane, 0] = seeds[r]
        run(
            params[which[r]], states[lane], inputs[lane], outputs[lane], q0[r % q0.shape[0]],
            wrenches[r % wrenches.shape[0]], goals[r % goals.shape[0]], dts,
            arms[r % arms.shape[0]], surfaces[r % surfaces.shape[0]], noises[r % noises.shape[0]],
            in_world, every, history[r], felt[r], queues[lane], rates[lane], worlds[lane],
            dice[lane],
        )  # fmt: skip
