"""Contact damping: what is touched is felt out every tick, and damped accordingly.

A light tool on something stiff bounces: `D = 80 N s/m` holds what is softer than a few kN/m. So the
stiffness of what is touched is estimated from how force answers motion, as a bound that noise and
an unsteady hand hardly pass, and the damping along the contact's normal n rises with it. Everywhere
else, and in free space, the feel stays.

    K    = -S_xF / e,   e = S_xx - N sx^2      along n, over the last N = 2, 5 and 12 ticks
    K_h  = the best lower bound, at once; falls with the way gone along n, not with time
    D_n  = max(D, 2 sqrt(M K_h), T_c K_h)      along n
    |v_n| <= v,   v T_c + v^2 / (2 a) = F_n / K_h      a: what the joints have

A soft thing is damped critically, a stiff one so that the force settles within T_c, which is well
above what is left of delay and lag. The last line is the one before it, for an arm that cannot
brake at once: the way to where the force is balanced, `F_n / K_h`, is short, and the tool must be
able to stop on it.
"""

from __future__ import annotations

import math

from ur_admittance.kernel.axes import to_law
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    braking_speed,
    dot,
    linear,
    norm,
    scale,
    set_linear,
    sub,
    turn,
)
from ur_admittance.kernel.wrench import deadband

WINDOW = 12  # ticks of motion and force that are kept
_CERTAIN = 5.0  # standard deviations between the estimate and its bounds
_HAND = 50.0  # N/s, how fast a hand changes its force by itself
_OPPOSING = 1.0  # N against the motion, below which nothing counts as touched
_FORGET = 0.5e-3  # m along the normal, over which the stiffness is forgotten
_HELD = 3000.0  # N/m, from which on a normal does not turn round
_SLIDING = 5e-3  # m/s, along what is touched
_ACROSS = 0.35  # cosine of the angle to the normal, below which a motion counts as sliding
_TURN = 0.03  # of that angle, taken off in one tick
_STEADY = 6e-3  # s, the low-pass of the force along the normal
_SHARP = 2000.0  # N/m, from which on that force is felt, and not the one of the law
_AHEAD = 1.5  # of what the low-pass took away, given back where what is touched is soft
_STIFF = 20e3  # N/m, from which on nothing of it is given back
_JOINTS = 0.7  # of the acceleration that the joints have


@jit
def clear_contact(s):
    """Nothing is touched, and nothing was."""
    s.touch_ticks = 0
    s.touch_stiffness = 0.0
    s.touch_damping = 0.0
    for n in range(3):
        s.touch_normal[n] = s.touch_steady[n] = 0.0
        s.lead[n] = s.brake[n] = s.A_brake[n] = 0.0
        s.V_arm[n] = s.V_prev[n]


@jit
def feel(p, s):
    """`touch_stiffness` and `touch_normal`: what is touched, from the last ticks."""
    f = turn(s.R_WP, turn(p.R_PS, linear(s.F_S_comp)))
    x = linear(s.p_WP)
    newest = s.touch_ticks % WINDOW
    before = newest - 1 if newest > 0 else WINDOW - 1
    steady = s.dt / (s.dt + _STEADY)
    if s.touch_ticks == 0:
        steady, before = 1.0, newest
        set_linear(s.touch_x[newest], x)
    moved = sub(x, linear(s.touch_x[before]))
    set_linear(s.touch_x[newest], x)
    set_linear(s.touch_F[newest], f)
    s.touch_ticks += 1
    for n in range(3):
        s.touch_steady[n] += steady * (f[n] - s.touch_steady[n])

    held, stiffness = linear(s.touch_normal), s.touch_stiffness
    if stiffness == 0.0 and norm(f) <= _OPPOSING:
        return
    best, normal, most = estimate(p, s, x, f, newest)
    best = min(best, p.max_touch)
    if best > stiffness:
        s.touch_stiffness = best
        set_linear(s.touch_normal, normal)
    elif most < stiffness:
        s.touch_stiffness = max(stiffness * math.exp(-abs(dot(moved, held)) / _FORGET), most, 0.0)
    if s.touch_stiffness > 0.0 and s.touch_ticks >= WINDOW:
        slide(s, sub(x, linear(s.touch_x[(newest + 1) % WINDOW])))


@jit
def estimate(p, s, x, f, newest):
    """The highest lower bound of the stiffness, N/m, its normal, and the upper bound along the held
    normal (1e300 where nothing can be said).

    The normal is where the force changes as the tool travels, or the one that is held. All sums are
    taken from the newest sample backwards.
    """
    held = linear(s.touch_normal)
    best, normal, most = 0.0, held, 1e300
    zero = (0.0, 0.0, 0.0)
    sx, sF, st, xt = zero, zero, 0.0, zero
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    Fx, Fy, Fz = zero, zero, zero  # sums of F x, F y, F z
    at = newest + 1
    for back in range(min(WINDOW, s.touch_ticks)):
        at -= 1
        if at < 0:
            at += WINDOW
        a, b, t = sub(linear(s.touch_x[at]), x), sub(linear(s.touch_F[at]), f), -s.dt * back
        sx, sF, st, xt = add(sx, a), add(sF, b), st + t, add(xt, scale(a, t))
        xx, yy, zz = xx + a[0] * a[0], yy + a[1] * a[1], zz + a[2] * a[2]
        xy, xz, yz = xy + a[0] * a[1], xz + a[0] * a[2], yz + a[1] * a[2]
        Fx, Fy, Fz = add(Fx, scale(b, a[0])), add(Fy, scale(b, a[1])), add(Fz, scale(b, a[2]))
        count = back + 1
        if count != 2 and count != 5 and count != WINDOW:
            continue
        # about their means
        m = scale(sx, 1.0 / count)
        cx = (xx - sx[0] * m[0], yy - sx[1] * m[1], zz - sx[2] * m[2])
        cross = (xy - sx[0] * m[1], xz - sx[0] * m[2], yz - sx[1] * m[2])
        Gx, Gy, Gz = sub(Fx, scale(sF, m[0])), sub(Fy, scale(sF, m[1])), sub(Fz, scale(sF, m[2]))
        drift = sub(xt, scale(m, st))
        noise = count * p.motion_noise * p.motion_noise
        way = scale(a, -1.0)  # from the oldest to the newest
        for trial in range(2):
            n = held
            if trial == 0:
                n = add(add(scale(Gx, way[0]), scale(Gy, way[1])), scale(Gz, way[2]))
                size = norm(n)
                if not size > 0.0:
                    continue
                n = scale(n, 1.0 / size)
            elif not s.touch_stiffness > 0.0:
                continue
            if dot(n, f) < 0.0:
                n = scale(n, -1.0)
            e = n[0] * n[0] * cx[0] + n[1] * n[1] * cx[1] + n[2] * n[2] * cx[2] - noise
            e += 2.0 * (n[0] * n[1] * cross[0] + n[0] * n[2] * cross[1] + n[1] * n[2] * cross[2])
            if not e > noise:
                continue
            K = -(n[0] * dot(Gx, n) + n[1] * dot(Gy, n) + n[2] * dot(Gz, n)) / e
            by_force, by_motion = p.force_noise, K * p.motion_noise
            width = _CERTAIN * math.sqrt((by_force * by_force + by_motion * by_motion) / e)
            if trial == 1 and count == WINDOW:
                most = K + width
            lower = K - width - _HAND * abs(dot(drift, n)) / e
            opposing = dot(f, n) > _OPPOSING and dot(way, n) < 0.0
            turned = dot(n, held) < 0.0 and s.touch_stiffness > _HELD
            if opposing and not turned and lower > best:
                best, normal = lower, n
    return best, normal, most


@jit
def slide(s, way):
    """While the tool slides along what it touches, the normal is square to its way."""
    length = norm(way)
    if not length > _SLIDING * (WINDOW - 1) * s.dt:
        return
    u, n = scale(way, 1.0 / length), linear(s.touch_normal)
    along = dot(n, u)
    if abs(along) < _ACROSS:
        n = sub(n, scale(u, _TURN * along))
        set_linear(s.touch_normal, scale(n, 1.0 / norm(n)))


@jit
def sharpen(p, s):
    """`F_law`: along the normal the force as it is; a little ahead on what is soft, late by the
    low-pass on what is stiff.

    There the damping brakes, and the force only says where to settle. Late, it does not feed the
    arm's structure, which swings at 10 to 30 Hz on what it touches: a force that moves the arm
    within a quarter of that swing drives it on.
    """
    if not s.touch_stiffness > 0.0:
        return
    n = linear(s.touch_normal)
    steady, f = linear(s.touch_steady), linear(s.touch_F[(s.touch_ticks - 1) % WINDOW])
    back = _AHEAD * (1.0 - min(1.0, s.touch_stiffness / _STIFF))
    f = add(steady, scale(sub(f, steady), back))
    felt = dot(deadband(f, p.deadband_force, p.deadband_hard), n)
    now = dot(turn(s.R_WP, linear(s.F_P)), n)
    share = min(1.0, s.touch_stiffness / _SHARP)
    more = to_law(p, s, scale(n, share * (felt - now)))
    set_linear(s.F_law, add(linear(s.F_law), more))


@jit
def damp(p, s):
    """The law's step, damped further along the normal: implicit, so stable however much.

    `(M + h dD n n^T) v' = M v - h dD n (n . V_WD)`, on enabled axes. The damper holds the tool to
    the world, not to the desired pose: one that moves does not press any harder for it.
    """
    s.touch_damping = 0.0
    if not s.touch_stiffness > 0.0:
        return
    n, V_WD = to_law(p, s, linear(s.touch_normal)), to_law(p, s, linear(s.V_WD))
    # what presses sees to itself
    n = (n[0] * (1 - p.force_axes[0]), n[1] * (1 - p.force_axes[1]), n[2] * (1 - p.force_axes[2]))
    own, give = 0.0, 0.0
    for k in range(3):
        own += s.damping[k] * n[k] * n[k]
        if p.enabled[k]:
            give += n[k] * n[k] / s.mass[k]
    if not give > 0.0:
        return
    critical = 2.0 * math.sqrt(s.touch_stiffness / give)
    more = max(p.damping_time * s.touch_stiffness, critical) - own
    if not more > 0.0:
        return
    s.touch_damping = more
    speed = dot(n, add(linear(s.v), V_WD))
    impulse = s.dt * more * speed / (1.0 + s.dt * more * give)
    speed -= impulse * give
    force = dot(n, linear(s.F_law))
    if speed * force > 0.0:
        way = abs(force) / s.touch_stiffness
        a = _JOINTS * joint_acceleration(p, s, linear(s.touch_normal))
        most = braking_speed(way, a, p.damping_time)
        if abs(speed) > most:
            impulse += (speed - math.copysign(most, speed)) / give
    for k in range(3):
        if p.enabled[k]:
            change = impulse * n[k] / s.mass[k]
            s.v[k] -= change
            s.dx[k] -= change * s.dt


@jit
def joint_acceleration(p, s, n):
    """How hard the joints can brake the tool along a normal without turning it, m/s^2, and no
    harder than they may.
    """
    a = max(p.a_max, p.contact_braking)
    for k in range(6):
        rate = 0.0
        for m in range(3):
            rate += s.J_inverse[k, m] * n[m]
        if abs(rate) * a > p.qdd_max[k]:
            a = p.qdd_max[k] / abs(rate)
    return a
