"""Step 3: from what the sensor reports to the force the law feels.

F_comp = F_sensor - bias - tool gravity (+ tool inertia)  ->  low-pass  ->  at P  ->  deadband
"""

from __future__ import annotations

import math

from ur_admittance.kernel import bits
from ur_admittance.kernel.axes import law_axes
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    cross,
    finite3,
    linear,
    norm,
    rotate_back,
    scale,
    set_angular,
    set_linear,
    sub,
    turn,
    turn_back,
)

SPIKES_DROPPED = 3  # a jump that lasts longer is real
FULL = 0.95  # of its range: beyond it a sensor says little
_FALLS = 0.01  # of the range, by which a load must fall
_FALLS_WITHIN = 1.0  # s
_SAME = 1e-9  # s, slack for differences of times


@jit
def accept_wrench(p, s, i):
    """Keep the sample as the last good one, or say why not and keep the one before."""
    f, t = linear(i.wrench), angular(i.wrench)
    if not (finite3(f) and finite3(t) and i.wrench_age >= -_SAME):
        s.status |= bits.WRENCH_NOT_FINITE
        s.wrench_silence += s.dt
        return
    judge(p, s, f, t)
    check_range(p, s, i)
    if s.wrench_seen and not s.seeding and s.spikes < SPIKES_DROPPED:
        jump_f = norm(sub(f, linear(s.wrench_good)))
        jump_t = norm(sub(t, angular(s.wrench_good)))
        if (p.spike_force > 0.0 and jump_f > p.spike_force) or (
            p.spike_torque > 0.0 and jump_t > p.spike_torque
        ):
            s.status |= bits.WRENCH_SPIKE
            s.spikes += 1
            s.jump, s.jump_limit = jump_f, p.spike_force
            if not (p.spike_force > 0.0 and jump_f > p.spike_force):
                s.jump, s.jump_limit = jump_t, p.spike_torque
            return
    same = True
    for n in range(6):
        same = same and i.wrench[n] == s.wrench_good[n]
        s.wrench_good[n] = i.wrench[n]
    s.frozen = s.frozen + 1 if same else 0
    s.spikes = 0
    s.wrench_seen = 1
    s.wrench_silence = 0.0


@jit
def compensated(p, s, f, t):
    """What is left of a reading without the sensor's bias, the tool's weight and its inertia."""
    f = sub(f, linear(p.bias))
    t = sub(t, angular(p.bias))
    if p.payload_mass > 0.0:
        com = linear(p.payload_com)
        g_S = turn_back(p.R_PS, turn_back(s.R_WP, linear(p.gravity)))
        weight = scale(g_S, p.payload_mass)
        f = sub(f, weight)
        t = sub(t, cross(com, weight))
        if p.compensate_inertia:
            inertial_f, inertial_t = tool_inertia(p, s)
            f = add(f, inertial_f)
            t = add(t, inertial_t)
    return f, t


@jit
def judge(p, s, f, t):
    """Over-force, by the sample as it came: before the spike gate, which costs time, and also
    without what was tared since the start, which may have been a contact.
    """
    f, t = compensated(p, s, f, t)
    f_start = add(f, sub(linear(p.bias), linear(p.start_bias)))
    t_start = add(t, sub(angular(p.bias), angular(p.start_bias)))
    s.force, s.force_limit = max(norm(f), norm(f_start)), p.max_force
    s.torque, s.torque_limit = max(norm(t), norm(t_start)), p.max_torque
    for n in range(3):
        if not abs(f[n]) <= p.max_wrench[n]:
            s.status |= bits.OVER_FORCE
            s.force, s.force_limit = abs(f[n]), p.max_wrench[n]
        if not abs(t[n]) <= p.max_wrench[n + 3]:
            s.status |= bits.OVER_TORQUE
            s.torque, s.torque_limit = abs(t[n]), p.max_wrench[n + 3]
    if not s.force <= s.force_limit:
        s.status |= bits.OVER_FORCE
    if not s.torque <= s.torque_limit:
        s.status |= bits.OVER_TORQUE


@jit
def check_range(p, s, i):
    """Stop where a reading nears the end of the sensor's range, whatever bias and payload explain.

    An arm that is activated there may unload: it goes on as long as the load falls.
    """
    share = 0.0
    for n in range(6):
        share = max(share, abs(i.wrench[n]) * p.per_range[n])
    s.range_share = share
    s.range_time += s.dt
    if share < FULL:
        s.range_least = FULL - _FALLS
        s.range_time = 0.0
    elif s.seeding == bits.SEED_ALL or share <= s.range_least - _FALLS:
        s.range_least = share
        s.range_time = 0.0
    elif share >= s.range_least + _FALLS or s.range_time > _FALLS_WITHIN:
        s.status |= bits.SENSOR_SATURATED


@jit
def wrench(p, s):
    """Fill `F_S_comp`, `F_S_filt`, `F_S`, `F_P` from the last good sample."""
    f, t = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if s.wrench_seen:
        f, t = compensated(p, s, linear(s.wrench_good), angular(s.wrench_good))
    force, torque = norm(f), norm(t)
    if not force <= p.max_force:
        s.status |= bits.WRENCH_SATURATED
        f = scale(f, p.max_force / force)
    if not torque <= p.max_torque:
        s.status |= bits.WRENCH_SATURATED
        t = scale(t, p.max_torque / torque)
    set_linear(s.F_S_comp, f)
    set_angular(s.F_S_comp, t)

    if s.seeding:
        s.filter_gain = 1.0
        s.filter_dt = 0.0
    elif s.filter_dt != s.dt or s.generation != p.generation:
        s.filter_dt = s.dt
        s.filter_gain = 1.0
        if p.filter_time_constant > 0.0:
            s.filter_gain = -math.expm1(-s.dt / p.filter_time_constant)
    for n in range(6):
        s.F_S_filt[n] += s.filter_gain * (s.F_S_comp[n] - s.F_S_filt[n])

    # The deadband acts at P. At S, a pure force at P is a force and a torque; each would lose
    # another share of itself, and what is left would turn the tool.
    lever = linear(p.p_PS)
    f = turn(p.R_PS, linear(s.F_S_filt))
    t = add(turn(p.R_PS, angular(s.F_S_filt)), cross(lever, f))
    f = deadband(f, p.deadband_force, p.deadband_hard)
    t = deadband(t, p.deadband_torque, p.deadband_hard)
    set_linear(s.F_P, f)
    set_angular(s.F_P, t)
    set_linear(s.F_S, turn_back(p.R_PS, f))
    set_angular(s.F_S, turn_back(p.R_PS, sub(t, cross(lever, f))))


@jit
def to_law_axes(p, s):
    """`F_law`: the wrench at P, turned from P's axes into those of the law."""
    f, t = turn(s.R_WP, linear(s.F_P)), turn(s.R_WP, angular(s.F_P))
    wxyz_WL = law_axes(p, s)
    set_linear(s.F_law, rotate_back(wxyz_WL, f))
    set_angular(s.F_law, rotate_back(wxyz_WL, t))


@jit
def deadband(a, threshold, hard):
    """Zero inside the threshold; outside shortened by it (soft) or unchanged (hard)."""
    n = norm(a)
    if not n > threshold:
        return 0.0, 0.0, 0.0
    if hard:
        return a
    return scale(a, 1.0 - threshold / n)


@jit
def tool_inertia(p, s):
    """The wrench, in S, that moves the tool's mass along with the last commanded motion.

    `m a_com` and `I alpha + omega x I omega + com x m a_com`, from the twist and acceleration
    commanded last.
    """
    w = turn_back(p.R_PS, turn_back(s.R_WP, angular(s.V_prev)))
    alpha = turn_back(p.R_PS, turn_back(s.R_WP, angular(s.A_mem)))
    a_P = add(linear(s.A_mem), linear(s.A_brake))
    a_P = turn_back(p.R_PS, turn_back(s.R_WP, a_P))
    com = linear(p.payload_com)
    # from P to the centre of mass, in S axes
    arm = add(turn_back(p.R_PS, linear(p.p_PS)), com)
    a_com = add(a_P, add(cross(alpha, arm), cross(w, cross(w, arm))))
    f = scale(a_com, p.payload_mass)
    t = add(cross(com, f), add(inertia_times(p, alpha), cross(w, inertia_times(p, w))))
    return f, t


@jit
def inertia_times(p, a):
    xx, yy, zz, xy, xz, yz = (
        p.payload_inertia[0],
        p.payload_inertia[1],
        p.payload_inertia[2],
        p.payload_inertia[3],
        p.payload_inertia[4],
        p.payload_inertia[5],
    )
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )
