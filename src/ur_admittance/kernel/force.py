"""Constant force: along axes of its own the tool presses, instead of giving way.

Each axis approaches slowly until it touches, and no faster than the joints can brake on the
stiffest that is expected (`approach_speed`). Then it holds its force with a loop whose gain is
divided by the stiffness K of what is touched, so that it closes as fast on foam as on steel:

    e = F_ref - F,   g = w / K
    v = g e + I1,    I1' = w1 g e + I2,    I2' = 0.4 w1^2 g e

Two integrals: a curved surface that passes under the tool asks for a velocity that grows. K begins
at the stiffest that is expected, is fitted to the first 80 ms of the touch, rises with the estimate
of contact damping, and by half whenever the force swings. Contact that is lost is searched for at a
third of the approach speed. The velocity is a wish like every other: all limits come after it, and
what they take, the integrals give up.
"""

from __future__ import annotations

import math

from ur_admittance.kernel import bits
from ur_admittance.kernel.axes import law_axes
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.contact import joint_acceleration
from ur_admittance.kernel.spatial import (
    add,
    angular,
    braking_speed,
    cross,
    linear,
    norm,
    rotate,
    rotate_back,
    scale,
    set_linear,
    sub,
    turn,
)

OFF, APPROACH, SEARCH, HOLD = 0, 1, 2, 3
_FILTER = 1.2e-3  # s, the low-pass of the felt force
_RISE = 60.0  # 1/s, how fast the reference goes to the target
_CLOSE = 70.0  # 1/s, w
_INTEGRAL = 24.0  # 1/s, w1
_TOUCHED = 1.0  # N, from which on a force is a touch, or half the target
_TORQUE = 0.1  # Nm for each N of these thresholds
_LOST = 0.5  # N, below which nothing is touched ...
_LOST_TIME = 0.02  # s, after that long
_SEARCH = 1.0 / 3.0  # of the approach speed
_OVER = 5.0  # N beyond the target that a touch may reach
_JOINTS = 0.5  # of what the joints can brake with: the law bends their way
_LATE = 0.002  # s until they brake, and ...
_LAG = 0.3  # of the arm's lag, what the lead leaves of it
_GENTLY = 0.1  # m/s^2, how the approach begins; rad/s^2 / 10
_FALL = 0.1  # s, over which K falls to what was fitted
_SETTLE = 0.05  # s after the touch, while the arm still brakes: nothing is integrated
_FIT = 0.08  # s after the touch, over which the stiffness is fitted
_SOFTEST = 2000.0  # N/m, the least K
_NOTHING = 500.0  # N/m: a light force that answers no more than this is not a touch
_LIGHT = 3.0  # N
_SWING = 1.5  # N, of a half-wave
_SWING_TIME = 0.1  # s, the longest half-wave that counts
_GROW = 1.5  # times K, after three of them


@jit
def clear_force(s):
    """Nothing is pressed, and nothing was."""
    set_linear(s.force_normal, (0.0, 0.0, 0.0))
    for n in range(6):
        s.force_phase[n] = OFF
        s.force_ref[n] = 0.0


@jit
def press(p, s):
    """`v` and `dx` of the axes that press."""
    wxyz_WL = law_axes(p, s)
    f = turn(p.R_PS, linear(s.F_S_comp))
    t = turn(s.R_WP, add(turn(p.R_PS, angular(s.F_S_comp)), cross(linear(p.p_PS), f)))
    f, x = turn(s.R_WP, f), linear(s.p_WP)
    offset = sub(add(x, scale(linear(s.V_WD), s.dt)), linear(s.p_WD))
    normal, K_normal = linear(s.touch_normal), s.touch_stiffness
    f, t, x = rotate_back(wxyz_WL, f), rotate_back(wxyz_WL, t), rotate_back(wxyz_WL, x)
    offset, normal = rotate_back(wxyz_WL, offset), rotate_back(wxyz_WL, normal)
    out = (0.0, 0.0, 0.0)
    for n in range(6):
        if not p.force_axes[n]:
            s.force_phase[n] = OFF
            continue
        if n < 3:  # the offset along it is what the arm really went
            s.x[n] = offset[n]
        stiffest = 0.0 if n > 2 else K_normal * normal[n] * normal[n]
        pressed = -f[n] if n < 3 else -t[n - 3]
        v = press_axis(p, s, n, wxyz_WL, pressed, 0.0 if n > 2 else x[n], stiffest)
        gone = s.x[n] if n < 3 else s.force_way[n]
        furthest, a = p.force_travel[n], 0.5 * (p.a_max if n < 3 else p.alpha_max)
        high = min(p.force_speed[n], braking_speed(furthest - gone, a, s.dt))
        low = -min(p.force_speed[n], braking_speed(furthest + gone, a, s.dt))
        if v > high or v < low:
            if abs(gone) > 0.9 * furthest and v * gone > 0.0:
                s.status |= bits.FORCE_TRAVEL
            v = min(max(v, low), high)
            s.force_I1[n] = min(max(s.force_I1[n], low), high)
            s.force_I2[n] = 0.0
        s.v[n] = s.force_v[n] = v
        s.dx[n] = v * s.dt
        s.force_way[n] += s.dx[n]
        if s.force_phase[n] == SEARCH:
            s.status |= bits.FORCE_LOST
        if s.force_phase[n] == HOLD and n < 3:
            side = -math.copysign(1.0, s.force_goal[n])
            out = (
                side if n == 0 else out[0],
                side if n == 1 else out[1],
                side if n == 2 else out[2],
            )
    size = norm(out)
    if size > 0.0:
        out = rotate(wxyz_WL, scale(out, 1.0 / size))
    set_linear(s.force_normal, out)


@jit
def press_axis(p, s, n, wxyz_WL, pressed, x, stiffest):
    """The velocity of one axis: m/s, rad/s.

    Args:
        pressed: what the tool does to the world along it, N or Nm.
        x: where the tool is along it, m.
        stiffest: what contact damping says of it, N/m.
    """
    target, unit = s.force_goal[n], 1.0 if n < 3 else _TORQUE
    side = -1.0 if target < 0.0 else 1.0
    if s.force_phase[n] == OFF:
        s.force_phase[n] = APPROACH if target != 0.0 else HOLD
        s.force_felt[n], s.force_way[n], s.force_K[n] = pressed, 0.0, p.force_stiffness[n]
        s.force_v[n] = 0.0
        begin_hold(s, n, x)
    if target == 0.0 and s.force_phase[n] != HOLD:
        s.force_phase[n] = HOLD  # gives way to any force, and goes nowhere by itself
        begin_hold(s, n, x)
    s.force_felt[n] += s.dt / (s.dt + _FILTER) * (pressed - s.force_felt[n])
    felt = side * s.force_felt[n]
    touched = min(_TOUCHED * unit, 0.5 * abs(target))
    if s.force_phase[n] != HOLD:
        s.force_ref[n] = 0.0
        if not felt > touched:
            # gently, so that the tool's own inertia is not taken for a touch
            most = approach_speed(p, s, n, wxyz_WL)
            most *= 1.0 if s.force_phase[n] == APPROACH else _SEARCH
            gained = max(0.0, side * s.force_v[n]) + s.dt * _GENTLY / unit
            return side * min(most, gained)
        s.force_phase[n] = HOLD
        s.force_K[n] = max(s.force_K[n], p.force_stiffness[n])
        begin_hold(s, n, x)
    s.force_time[n] += s.dt
    fit(p, s, n, pressed, x)
    if s.force_phase[n] == APPROACH:
        return s.force_v[n]
    s.force_K[n] += min(1.0, s.dt / _FALL) * (s.force_K_fit[n] - s.force_K[n])
    s.force_ref[n] += min(1.0, _RISE * s.dt) * (target - s.force_ref[n])
    e = s.force_ref[n] - s.force_felt[n]
    swing(s, n, e, unit)
    g = _CLOSE / max(s.force_K[n], stiffest)
    v = g * e + s.force_I1[n]
    capped = False
    low = target != 0.0 and felt < min(_LOST * unit, 0.5 * touched)
    s.force_low[n] = s.force_low[n] + s.dt if low else 0.0
    if low or s.force_time[n] < _FIT:  # nothing under the tool yet: no faster than to search
        most = max(p.force_approach[n] * (_SEARCH if low else 1.0), side * s.force_I1[n])
        capped = side * v > most
        v = side * min(side * v, most)
    if s.force_low[n] > _LOST_TIME:
        s.force_phase[n] = SEARCH
        return side * _SEARCH * p.force_approach[n]
    if target == 0.0:
        s.force_I1[n] = s.force_I2[n] = 0.0
    elif not capped and not low and s.force_time[n] > _SETTLE:
        s.force_I1[n] += s.dt * (_INTEGRAL * g * e + s.force_I2[n])
        s.force_I2[n] += s.dt * 0.4 * _INTEGRAL * _INTEGRAL * g * e
    return v


@jit
def approach_speed(p, s, n, wxyz_WL):
    """How fast an axis goes until it touches: as configured, and no faster than that the joints can
    brake before the stiffest surface presses with 5 N more than the target; m/s, rad/s.
    """
    most = p.force_approach[n]
    if n > 2:
        return most
    axis = (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0)
    a = _JOINTS * joint_acceleration(p, s, rotate(wxyz_WL, axis))
    depth = (abs(s.force_goal[n]) + _OVER) / p.force_stiffness[n]
    return min(most, braking_speed(depth, a, _LATE + _LAG * p.arm_lag))


@jit
def begin_hold(s, n, x):
    """The first tick of a touch."""
    s.force_ref[n] = s.force_felt[n]
    s.force_I1[n] = s.force_I2[n] = s.force_low[n] = s.force_time[n] = 0.0
    s.force_K_fit[n] = s.force_K[n]
    s.force_from[n] = x
    s.force_swings[n], s.force_wave[n], s.force_wave_age[n] = 0, 0.0, 0.0
    for k in range(5):
        s.force_fit[n, k] = 0.0


@jit
def fit(p, s, n, pressed, x):
    """The stiffness from the first of the touch: least squares, plus a standard error."""
    if n > 2 or s.force_time[n] > _FIT + s.dt:
        return
    x -= s.force_from[n]
    sums = s.force_fit[n]
    sums[0] += 1.0
    sums[1] += x
    sums[2] += pressed
    sums[3] += x * x
    sums[4] += x * pressed
    if s.force_time[n] < _FIT:
        return
    noise = sums[0] * p.motion_noise * p.motion_noise
    e = sums[3] - sums[1] * sums[1] / sums[0] - noise
    if not e > noise:
        return
    K = (sums[4] - sums[1] * sums[2] / sums[0]) / e
    K += math.sqrt((p.force_noise * p.force_noise + K * K * p.motion_noise * p.motion_noise) / e)
    s.force_K_fit[n] = min(max(K, _SOFTEST), p.max_touch)
    s.force_K[n] = max(s.force_K[n], s.force_K_fit[n])
    if K < _NOTHING and abs(s.force_felt[n]) < min(_LIGHT, 0.5 * abs(s.force_goal[n])):
        s.force_phase[n] = APPROACH  # a bias, or what was never there


@jit
def swing(s, n, e, unit):
    """K rises when the error swings through three half-waves."""
    s.force_wave_age[n] += s.dt
    if not abs(e) > _SWING * unit or e * s.force_wave[n] > 0.0:
        return
    quick = s.force_wave[n] != 0.0 and s.force_wave_age[n] < _SWING_TIME
    s.force_swings[n] = s.force_swings[n] + 1 if quick else 0
    s.force_wave[n], s.force_wave_age[n] = e, 0.0
    if s.force_swings[n] >= 3:
        s.force_K[n] *= _GROW
        s.force_K_fit[n] = s.force_K[n]
        s.force_swings[n] = 0
