"""Steps 4 and 5: the admittance law and the pose it commands.

    M a + D v + s K x = F        per axis, for the offset x of the commanded pose C from the desired
    pose D

in the axes of D (`probe`) or of W (`base`), or in axes turned from these (see `axes`). The
translation is a vector; the rotation stays on SO(3): its spring pulls along `Log`, its steps are
taken with `Exp`. `s` grows from 0 to 1 after activation, so no spring starts tense.
"""

from __future__ import annotations

import math

from ur_admittance.kernel import bits
from ur_admittance.kernel.axes import law_axes, to_law, to_world
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    cross,
    exp3,
    inverse,
    linear,
    log3,
    multiply,
    norm,
    normalised,
    quaternion,
    rotate,
    rotate_back,
    set_angular,
    set_linear,
    set_quaternion,
    sub,
)


@jit
def gains(p, s):
    """Move the gains in force towards the parameters: over `ramp_seconds`, rising damping first,
    falling last.
    """
    if s.generation != p.generation:
        s.generation = p.generation
        s.filter_dt = 0.0
        changed = False
        for n in range(6):
            if s.force_phase[n] and not p.force_axes[n]:
                s.stiffness[n] = 0.0  # what pressed has gone from home: its spring rises from 0
            changed = changed or s.mass[n] != p.mass[n] or s.damping[n] != p.damping[n]
            changed = changed or s.stiffness[n] != p.stiffness[n]
            s.mass_from[n] = s.mass[n]
            s.damping_from[n] = s.damping[n]
            s.stiffness_from[n] = s.stiffness[n]
        if changed:
            s.ramp = 0.0
        for n in range(6):
            if not p.enabled[n]:
                fold(p, s, False)
                break
    if s.ramp < 1.0:
        s.ramp = min(1.0, s.ramp + s.dt / p.ramp_seconds) if p.ramp_seconds > 0.0 else 1.0
        early, late = min(1.0, 2.0 * s.ramp), max(0.0, 2.0 * s.ramp - 1.0)
        for n in range(6):
            s.mass[n] = s.mass_from[n] + s.ramp * (p.mass[n] - s.mass_from[n])
            s.stiffness[n] = s.stiffness_from[n] + s.ramp * (p.stiffness[n] - s.stiffness_from[n])
            k = early if p.damping[n] > s.damping_from[n] else late
            s.damping[n] = s.damping_from[n] + k * (p.damping[n] - s.damping_from[n])
        s.step_dt = 0.0
    if s.engaged < 1.0:
        s.engaged = min(1.0, s.engaged + s.dt / p.engage_seconds) if p.engage_seconds > 0.0 else 1.0
        s.step_dt = 0.0


@jit
def law(p, s):
    """One step of the law: the new `v` and the step `dx` of the offset, in the law's axes."""
    phi = (0.0, 0.0, 0.0)
    if s.stiffness[3] > 0.0 or s.stiffness[4] > 0.0 or s.stiffness[5] > 0.0:
        phi = log3(quaternion(s.wxyz_offset))
    if p.integrator == bits.EXACT and s.step_dt != s.dt:
        exact_step(s)
    for n in range(6):
        if not p.enabled[n]:
            s.v[n] = 0.0
            s.dx[n] = 0.0
            continue
        x = s.x[n] if n < 3 else phi[n - 3]
        v, force = s.v[n], s.F_law[n]
        if p.integrator == bits.EXACT:
            s.v[n] = s.step[n, 0] * v + s.step[n, 1] * x + s.step[n, 2] * force
            s.dx[n] = s.step[n, 3] * v + s.step[n, 4] * x + s.step[n, 5] * force
        elif p.integrator == bits.RK4:
            s.v[n], s.dx[n] = rk4_step(
                s.mass[n], s.damping[n], s.engaged * s.stiffness[n], x, v, force, s.dt
            )
        else:
            spring = s.engaged * s.stiffness[n] * x
            s.v[n] = v + s.dt * (force - s.damping[n] * v - spring) / s.mass[n]
            s.dx[n] = s.v[n] * s.dt


@jit
def exact_step(s):
    """The zero-order-hold solution of `m a + d v + k x = F` over dt, as six numbers per axis.

    `v' = vv v + vx x + vF F` and `x' - x = xv v + xx x + xF F`.
    """
    h = s.dt
    s.step_dt = h
    for n in range(6):
        m, d, k = s.mass[n], s.damping[n], s.engaged * s.stiffness[n]
        if k == 0.0:
            z = d * h / m
            if z < 0.02:  # series: the closed form loses digits
                phi2 = 0.5 - z / 6 * (1 - z / 4 * (1 - z / 5 * (1 - z / 6 * (1 - z / 7))))
            else:
                phi2 = (z + math.expm1(-z)) / (z * z)
            phi1 = 1.0 - z * phi2
            s.step[n, 0] = 1.0 - z * phi1
            s.step[n, 1] = 0.0
            s.step[n, 2] = h / m * phi1
            s.step[n, 3] = h * phi1
            s.step[n, 4] = 0.0
            s.step[n, 5] = h * h / m * phi2
            continue
        a, w2 = 0.5 * d / m, k / m
        disc = a * a - w2
        # c = exp(-a h) cosh(b h), sn = exp(-a h) sinh(b h) / b with b^2 = disc (cos and sin where
        # disc < 0)
        if abs(disc) * h * h < 1e-6:
            e, u = math.exp(-a * h), disc * h * h
            c = e * (1.0 + u / 2 * (1.0 + u / 12))
            sn = e * h * (1.0 + u / 6 * (1.0 + u / 20))
        elif disc < 0.0:
            e, b = math.exp(-a * h), math.sqrt(-disc)
            c = e * math.cos(b * h)
            sn = e * math.sin(b * h) / b
        else:
            b = math.sqrt(disc)
            slow, fast = math.exp(-w2 / (a + b) * h), math.exp(-(a + b) * h)
            c = 0.5 * (slow + fast)
            sn = 0.5 * (slow - fast) / b
        s.step[n, 0] = c - a * sn
        s.step[n, 1] = -w2 * sn
        s.step[n, 2] = sn / m
        s.step[n, 3] = sn
        s.step[n, 4] = c + a * sn - 1.0
        s.step[n, 5] = -s.step[n, 4] / k


@jit
def rk4_step(m, d, k, x, v, force, h):
    """The classical fourth-order Runge-Kutta step of both states. Returns the new v and the step of
    x.
    """
    v1, a1 = v, (force - d * v - k * x) / m
    v2 = v + 0.5 * h * a1
    a2 = (force - d * v2 - k * (x + 0.5 * h * v1)) / m
    v3 = v + 0.5 * h * a2
    a3 = (force - d * v3 - k * (x + 0.5 * h * v2)) / m
    v4 = v + h * a3
    a4 = (force - d * v4 - k * (x + h * v3)) / m
    return v + h / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4), h / 6.0 * (v1 + 2 * v2 + 2 * v3 + v4)


@jit
def feed_forward(p, s):
    """`rate`: what the offset adds to the twist of D, so that `V_WD + rate` is the time derivative
    of `X_WC`.
    """
    v, w = linear(s.v), angular(s.v)
    w_WD = angular(s.V_WD)
    wxyz_WL = law_axes(p, s)
    v, w = rotate(wxyz_WL, v), rotate(wxyz_WL, w)
    if p.frame == bits.PROBE:
        v = add(v, cross(w_WD, rotate(wxyz_WL, linear(s.x))))
    elif w_WD[0] != 0.0 or w_WD[1] != 0.0 or w_WD[2] != 0.0:
        turned = rotate(quaternion(s.wxyz_offset), rotate_back(wxyz_WL, w_WD))
        w = add(w, sub(rotate(wxyz_WL, turned), w_WD))
    set_linear(s.rate, v)
    set_angular(s.rate, w)


@jit
def move_offset(s):
    """Apply the step `dx` to the offset."""
    set_linear(s.x, add(linear(s.x), linear(s.dx)))
    step = angular(s.dx)
    if step[0] != 0.0 or step[1] != 0.0 or step[2] != 0.0:
        set_quaternion(s.wxyz_offset, normalised(multiply(exp3(step), quaternion(s.wxyz_offset))))


@jit
def command_pose(p, s):
    """`X_WC`: D moved by the offset."""
    offset, back = quaternion(s.wxyz_offset), inverse(quaternion(s.wxyz_task))
    wxyz_WL = law_axes(p, s)
    set_linear(s.p_WC, add(linear(s.p_WD), rotate(wxyz_WL, linear(s.x))))
    wxyz_WC = multiply(multiply(wxyz_WL, offset), back)
    if p.frame != bits.PROBE:
        wxyz_WC = multiply(wxyz_WC, quaternion(s.wxyz_WD))
    set_quaternion(s.wxyz_WC, wxyz_WC)


@jit
def offset_from(p, s, p_WC, wxyz_WC):
    """Choose the offset so that C is the given pose.

    Of the two quaternions for its rotation, the one nearer to the last: a spring wound past half a
    turn keeps its way back. (Past a whole turn it forgets it: `log3` knows no more.)
    """
    wxyz_WL = law_axes(p, s)
    set_linear(s.x, rotate_back(wxyz_WL, sub(p_WC, linear(s.p_WD))))
    offset = multiply(inverse(wxyz_WL), wxyz_WC)
    if p.frame != bits.PROBE:
        offset = multiply(offset, inverse(quaternion(s.wxyz_WD)))
    offset = multiply(offset, quaternion(s.wxyz_task))
    last = quaternion(s.wxyz_offset)
    along = offset[0] * last[0] + offset[1] * last[1] + offset[2] * last[2] + offset[3] * last[3]
    if along < 0.0:
        offset = (-offset[0], -offset[1], -offset[2], -offset[3])
    set_quaternion(s.wxyz_offset, normalised(offset))


@jit
def fold(p, s, free):
    """Move D so that disabled axes (and free ones, if `free`) have no offset, while C stays where
    it is.
    """
    phi = log3(quaternion(s.wxyz_offset))
    p_WC, wxyz_WC = linear(s.p_WC), quaternion(s.wxyz_WC)
    folds = False
    kept_x, kept_phi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    keep = (
        keeps(p, s, 0, free),
        keeps(p, s, 1, free),
        keeps(p, s, 2, free),
        keeps(p, s, 3, free),
        keeps(p, s, 4, free),
        keeps(p, s, 5, free),
    )
    for n in range(3):
        folds = folds or (not keep[n] and s.x[n] != 0.0) or (not keep[n + 3] and phi[n] != 0.0)
    if not folds:
        return
    kept_phi = (phi[0] * keep[3], phi[1] * keep[4], phi[2] * keep[5])
    offset, task = exp3(kept_phi), quaternion(s.wxyz_task)
    undone = multiply(multiply(task, inverse(offset)), inverse(task))
    if p.frame == bits.PROBE:
        wxyz_WD = normalised(multiply(wxyz_WC, undone))
    else:
        wxyz_WD = normalised(multiply(undone, wxyz_WC))
    set_quaternion(s.wxyz_WD, wxyz_WD)
    x = to_law(p, s, sub(p_WC, linear(s.p_WD)))
    kept_x = (x[0] * keep[0], x[1] * keep[1], x[2] * keep[2])
    p_WD = sub(p_WC, to_world(p, s, kept_x))
    set_linear(s.p_WD, p_WD)
    set_linear(s.x, kept_x)
    set_quaternion(s.wxyz_offset, offset)
    if s.at_goal:
        set_linear(s.p_WG, p_WD)
        set_quaternion(s.wxyz_WG, wxyz_WD)


@jit
def turn_axes(p, s, wxyz_task):
    """Other axes for the law: C, and how fast it moves, stay as they are."""
    v, w = to_world(p, s, linear(s.v)), to_world(p, s, angular(s.v))
    set_quaternion(s.wxyz_task, wxyz_task)
    set_linear(s.v, to_law(p, s, v))
    set_angular(s.v, to_law(p, s, w))
    offset_from(p, s, linear(s.p_WC), quaternion(s.wxyz_WC))
    fold(p, s, False)


@jit
def keeps(p, s, n, free):
    """1 if axis n keeps its offset when D is moved under it."""
    if not p.enabled[n]:
        return 0
    if p.force_axes[n]:
        return 1
    if free and s.stiffness[n] == 0.0 and p.stiffness[n] == 0.0:
        return 0
    return 1


@jit
def re_anchor(p, s):
    """Once at rest with no force, axes without stiffness take the present pose as the desired one.

    Axes with stiffness keep theirs, so that the spring remembers home. A planner's stream is not
    disturbed.
    """
    threshold = p.drift_reset_threshold
    if not threshold > 0.0 or not s.at_goal or s.goal_age < 0.1:
        return
    if norm(linear(s.F_law)) > 0.0 or norm(angular(s.F_law)) > 0.0:
        return
    if norm(linear(s.v)) > threshold or norm(angular(s.v)) > threshold:
        return
    if norm(linear(s.V_cmd)) > threshold or norm(angular(s.V_cmd)) > threshold:
        return
    fold(p, s, True)
    for n in range(6):
        if not keeps(p, s, n, True):
            s.v[n] = 0.0
