"""What a chain does every cycle in compiled code: guard the joint command, hand poses over.

The guard stands between the chain and the robot. Whatever links write, raise or leave out, each
joint's speed, its change from one command to the next, and its range stay inside the arm's limits.
Joints that nobody commands slow down together: the arm runs out along a straight line in joint
space, which the admittance law has checked for walls and speed before (see `kernel/viability.py`).
"""

from __future__ import annotations

import functools
import math
from types import SimpleNamespace

import numpy as np

from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.bounds import FARTHEST, NEARLY
from ur_admittance.kernel.compile import announced, entry_point, jit
from ur_admittance.kernel.kinematics import kinematics
from ur_admittance.kernel.spatial import (
    angular,
    braking_speed,
    linear,
    normalised,
    quaternion,
    quaternion_of,
    scale,
    set_angular,
    set_linear,
    set_quaternion,
    shortest,
)
from ur_admittance.motion.straight import along

# Places in the array of interfaces: what the robot says first, then what it is told.
Q, QD, WRENCH, TIMES, SCALING, QD_CMD, Q_CMD, OWN = 0, 6, 12, 18, 22, 23, 29, 35
# Places in the reference of a desired pose: position, orientation, twist, then:
ORIENTATION, TWIST, HAS_POSE, COUNT, DESIRED_SIZE = 3, 7, 13, 14, 15
# Flags of the guard.
AT_REST, TICKS, LIMITED, BY_POSITION, HALTED, BARE, FLAGS = 0, 1, 2, 3, 4, 5, 6

LONGEST_DT = 0.1  # s; a cycle that is longer, or takes no time, counts as one period
_TIE = 1e-9


@jit(entry=True)
def finite(values):
    """Whether there is no NaN and no infinity."""
    total = 0.0
    for n in range(values.shape[0]):
        total += values[n] - values[n]
    return total == 0.0


@jit(entry=True)
def measured(values, q, wrench, dt, wrench_age, joint_age, period):
    """Write down what the robot says. Returns how long the cycle is, s; 0 for a wrong length."""
    if q.shape[0] != 6 or wrench.shape[0] != 6:
        return 0.0
    for n in range(6):
        values[Q + n] = q[n]
        values[WRENCH + n] = wrench[n]
    seconds = dt if dt > 0.0 and dt <= LONGEST_DT else period
    values[TIMES], values[TIMES + 1], values[TIMES + 2] = dt, wrench_age, joint_age
    values[TIMES + 3] += seconds
    return seconds


@jit(entry=True)
def guard(values, limits, claimed, memory, flags, ring, outputs, source, dt):
    """Make the robot's command of what the links wrote, and remember the cycle.

    Args:
        values: all interfaces. Commands are overwritten by what is really sent.
        limits: (4, 6) speed, acceleration, lowest and highest position of each joint.
        claimed: (6,) 1 where a link commands the joint; the others brake.
        memory: (3, 6) rates and positions of the last command, rad/s and rad, and the positions
            that were asked for.
        ring: (n, m) the first m interfaces of the last n cycles.
        outputs: the record to show, made from `source`, the record of the law's tick.
        dt: s, sane.

    Returns:
        0, or n + 1 where the command of joint n is not finite: all joints brake then.
    """
    wrong = 0
    for n in range(6):
        wish = values[Q_CMD + n] if flags[BY_POSITION] else values[QD_CMD + n]
        if claimed[n] and wish - wish != 0.0:
            wrong = n + 1
    time = 0.0
    for n in range(6):
        if wrong or not claimed[n]:
            time = max(time, abs(memory[0, n]) / limits[1, n])
    keep = 1.0 - dt / time if time > dt else 0.0
    flags[AT_REST] = 1
    limited = False
    for n in range(6):
        now = memory[1, n] if flags[BY_POSITION] else values[Q + n]
        low, high = joint_bounds(memory[0, n], now, limits[:, n], dt)
        q = now
        if wrong or not claimed[n]:
            v = min(max(keep * memory[0, n], low), high)
            if flags[BY_POSITION]:
                q += v * dt
            memory[2, n] = q
        elif flags[BY_POSITION]:
            target = values[Q_CMD + n]
            v, q, cut = follow(target, memory[2, n], now, low, high, limits[:, n], dt)
            memory[2, n] = target
            limited = limited or cut
        else:
            wish = values[QD_CMD + n]
            v = min(max(wish, low), high)
            if abs(v - wish) > _TIE * limits[0, n]:
                limited = True
            else:
                v = wish
        memory[0, n] = values[QD_CMD + n] = v
        memory[1, n] = values[Q_CMD + n] = q
        if v != 0.0:
            flags[AT_REST] = 0
    flags[LIMITED] += 1 if limited else 0
    show(values, memory, flags, outputs, source, dt)
    flags[TICKS] += 1
    row = ring[flags[TICKS] % ring.shape[0]]
    for n in range(row.shape[0]):
        row[n] = values[n]
    return wrong


@jit
def joint_bounds(v_prev, q, limit, dt):
    """How fast a joint may go: its speed, its acceleration, and to stop in time at its end."""
    fastest, a, lowest, highest = limit[0], limit[1], limit[2], limit[3]
    low, high = -fastest, fastest
    reach = fastest * dt + fastest * fastest / (2.0 * a)
    if q - lowest < reach:
        low = -min(fastest, braking_speed(q - lowest, a, dt))
    if highest - q < reach:
        high = min(fastest, braking_speed(highest - q, a, dt))
    slower, faster = v_prev - a * dt, v_prev + a * dt
    # A joint too near to its end for its speed brakes as hard as it may.
    return min(max(low, slower), faster), max(min(high, faster), slower)


@jit
def follow(target, before, q, low, high, limit, dt):
    """Rate and position on the way from `q` to `target`, and whether it gets there later only.

    The target moves: it was at `before` one cycle ago. One that is behind catches up at the speed
    from which it can still brake to the target's own.
    """
    v, rate, behind = (target - q) / dt, (target - before) / dt, before - q
    fastest, a = limit[0], limit[1]
    slack = _TIE + _TIE * fastest
    if v <= high + slack and v >= low - slack and abs(v - rate) <= a * dt + slack:
        return v, target, False
    far = min(abs(behind), fastest * dt + fastest * fastest / (2.0 * a))
    v = rate + math.copysign(braking_speed(far, a, dt), behind)
    v = min(max(v, low), high)
    return v, q + v * dt, True


@jit
def show(values, memory, flags, outputs, source, dt):
    """The record for whoever watches: the law's own, with the command that is really sent."""
    s = source[0]
    if flags[BARE]:
        s.tick += 1
        s.time += dt
        s.dt = dt
        s.mode, s.status = bits.ACTIVE, 0
        for n in range(6):
            s.q[n] = values[Q + n]
            s.wrench[n] = values[WRENCH + n]
            s.q_ref[n] = memory[1, n]
    outputs[0] = s
    o = outputs[0]
    for n in range(6):
        o.qd[n] = memory[0, n]
        if flags[BY_POSITION]:
            o.q_ref[n] = memory[1, n]
    if flags[HALTED]:
        o.mode = bits.STOPPED
        o.status |= bits.STOP_REQUESTED


@jit(entry=True)
def take_desired(reference, seen, inputs, state):
    """Make a desired pose, if it is a new one, the goal of the next tick.

    Without a pose the goal is where the desired pose is now, and the twist moves it. Returns False
    where there is no such pose: too far, too fast, or a quaternion of length zero.
    """
    if reference[COUNT] == seen[0]:
        return True
    i, s = inputs[0], state[0]
    for n in range(TWIST, HAS_POSE):
        if not abs(reference[n]) <= FARTHEST:
            return False
    if reference[HAS_POSE] != 0.0:
        wxyz = quaternion(reference[ORIENTATION:TWIST])
        length2 = wxyz[0] ** 2 + wxyz[1] ** 2 + wxyz[2] ** 2 + wxyz[3] ** 2
        for n in range(3):
            if not abs(reference[n]) <= FARTHEST:
                return False
        if not abs(length2 - 1.0) <= 2.0 * NEARLY:
            return False
        set_linear(i.goal_p, linear(reference))
        set_quaternion(i.goal_wxyz, shortest(normalised(wxyz)))
    elif s.seeding:  # the desired pose is seeded by the next tick only
        return True
    else:
        set_linear(i.goal_p, linear(s.p_WD))
        set_quaternion(i.goal_wxyz, shortest(quaternion(s.wxyz_WD)))
    set_linear(i.goal_V, linear(reference[TWIST:HAS_POSE]))
    set_angular(i.goal_V, angular(reference[TWIST:HAS_POSE]))
    i.goal_count += 1
    seen[0] = reference[COUNT]
    return True


@jit(entry=True)
def take_joints(q, qd, params, spare, inputs):
    """Make joint angles [rad] and rates [rad/s] the goal: the pose they lead to, and its twist."""
    p, s, i = params[0], spare[0], inputs[0]
    for n in range(6):
        s.q[n] = q[n]
    kinematics(p, s)
    set_linear(i.goal_p, linear(s.p_WP))
    set_quaternion(i.goal_wxyz, quaternion_of(s.R_WP))
    for n in range(6):
        t = 0.0
        for m in range(6):
            t += s.J[n, m] * qd[m]
        if not abs(t) <= FARTHEST:
            return False
        i.goal_V[n] = t
    i.goal_count += 1
    return True


@jit(entry=True)
def write_desired(X, V, out):
    """A pose (4, 4) and a twist (6,) as a reference. Returns False for what is not a pose."""
    for n in range(3):
        for m in range(3):
            t = -1.0 if n == m else 0.0
            for k in range(3):
                t += X[n, k] * X[m, k]
            if not abs(t) <= NEARLY:
                return False
    volume = X[0, 0] * (X[1, 1] * X[2, 2] - X[1, 2] * X[2, 1])
    volume -= X[0, 1] * (X[1, 0] * X[2, 2] - X[1, 2] * X[2, 0])
    volume += X[0, 2] * (X[1, 0] * X[2, 1] - X[1, 1] * X[2, 0])
    if not volume > 0.0 or X[3, 0] != 0.0 or X[3, 1] != 0.0 or X[3, 2] != 0.0 or X[3, 3] != 1.0:
        return False
    set_linear(out, (X[0, 3], X[1, 3], X[2, 3]))
    set_quaternion(out[ORIENTATION:TWIST], quaternion_of(X))
    for n in range(6):
        out[TWIST + n] = V[n]
    out[HAS_POSE] = 1.0
    out[COUNT] += 1.0
    return True


@jit(entry=True)
def write_along(segment, seconds, t, pace, out):
    """The pose on a straight way, and its twist.

    Args:
        segment, seconds, t: see `motion.straight.along`.
        pace: how fast t goes, 1 for as fast as time.
    """
    p, wxyz, v, w = along(segment, seconds, t)
    set_linear(out, p)
    set_quaternion(out[ORIENTATION:TWIST], wxyz)
    set_linear(out[TWIST:], scale(v, pace))
    set_linear(out[TWIST + 3 :], scale(w, pace))
    out[HAS_POSE] = 1.0
    out[COUNT] += 1.0


@functools.cache
def compiled() -> SimpleNamespace:
    """The functions above, without the dispatcher: compiled or loaded now, not on the robot."""
    values, inputs, state = np.zeros(OWN), layout.new_inputs(), layout.new_state()
    outputs, reference = layout.new_outputs(), np.zeros(DESIRED_SIZE)
    functions = {
        f.__name__: f
        for f in (
            *(finite, measured, guard, take_desired, take_joints),
            *(write_desired, write_along),
        )
    }
    with announced("the chain", *functions.values()):
        finite(values)
        strided = np.zeros((6, 2))[:, 0]  # so that the compiled code takes any stride
        measured(values, strided, strided, 0.002, 0.0, 0.0, 0.002)
        guard(
            values, np.ones((4, 6)), np.zeros(6, np.int64), np.zeros((3, 6)),
            np.zeros(FLAGS, np.int64), np.zeros((2, OWN)), outputs, outputs.copy(), 0.002,
        )  # fmt: skip
        take_desired(reference, np.zeros(1), inputs, state)
        take_joints(np.zeros(6), np.zeros(6), np.zeros(1, layout.PARAMS), state, inputs)
        write_desired(np.eye(4), np.zeros(6), reference)
        write_along(np.ones(13), 1.0, 0.0, 1.0, reference)
    return SimpleNamespace(**{name: entry_point(f) for name, f in functions.items()})
