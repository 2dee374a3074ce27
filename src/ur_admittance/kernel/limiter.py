"""Step 7: the tool's motion is limited, in W axes: acceleration, workspace wall, speed.

After this step nothing asks for more. Step 8 may only take away, for the joints' sake (`ik`), and
so that the arm can always stop (`viability`).

The allowed linear velocities are a convex set: a box (the speed at which each workspace wall can
still be met at rest), a ball around the last velocity (acceleration) and a ball around zero
(speed). `limit` finds a point that is in all three, then goes from it towards the wish as far as
the set allows. Angular velocities have the two balls.
"""

from __future__ import annotations

import math

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    braking_speed,
    dot,
    last_inside,
    linear,
    norm,
    saturate,
    scale,
    set_angular,
    set_linear,
    sub,
)
from ur_admittance.kernel.viability import WALL_SLACK, bias_acceleration, gentle_stopping_time

UNBOUNDED = 1e9
_SHARE = 0.577  # of the acceleration, per axis: three walls at once then still fit in the limit
_TIE = 1e-12
_ARRIVED = 1e-6  # of the change one tick allows: the wish is taken as it is, so that rest is rest


@jit
def limit(p, s, stopping):
    """`V_lim` from `V_track`, the limiter's memory `V_mem` and the distance to the walls."""
    if stopping:
        for n in range(6):
            s.V_mem[n] = s.V_prev[n]
    walls(p, s)
    wish = linear(s.V_track)
    if p.jerk_max > 0.0:
        slowed = slow_for_walls(p, s, wish)
        if slowed != wish:
            s.status |= bits.WORKSPACE_LIMIT
        wish = slowed
    v, s.v_cap = safe_start(s, linear(s.V_prev), p.v_max, p.a_max * s.dt, True)
    w, s.w_cap = safe_start(s, angular(s.V_prev), p.w_max, p.alpha_max * s.dt, False)
    if stopping:
        v = clip_to_walls(s, sub(v, saturate(v, p.a_max * s.dt)))
        w = sub(w, saturate(w, p.alpha_max * s.dt))
    set_linear(s.V_safe, v)
    set_angular(s.V_safe, w)
    last = add(linear(s.V_mem), linear(s.brake))
    v = step_inside(s, wish, last, linear(s.A_mem), p.v_max, p.a_max, p.jerk_max, True)
    w = step_inside(
        s,
        angular(s.V_track),
        angular(s.V_mem),
        angular(s.A_mem),
        p.w_max,
        p.alpha_max,
        p.angular_jerk_max,
        False,
    )
    set_linear(s.V_lim, v)
    set_angular(s.V_lim, w)


@jit
def safe_start(s, last, v_max, reach, boxed):
    """A velocity inside all limits, whatever is wished: the last one, slowed where walls or speed
    ask for it.

    Returns it and the speed cap: `v_max`, or what is left when a speed above it (the limit was
    lowered) is reduced as fast as the acceleration limit lets us.
    """
    start = last
    if boxed:
        start = clip_to_walls(s, last)
        if start != last:
            s.status |= bits.WORKSPACE_LIMIT
    n = norm(start)
    if n <= v_max:
        return start, v_max
    start = scale(start, first_inside(scale(start, 1.0 / n), last, reach, v_max, n) / n)
    return start, max(v_max, norm(start))


@jit
def step_inside(s, wish, last, accel, v_max, a_max, jerk_max, boxed):
    """The velocity nearest to `wish`, along the way there, that all limits allow."""
    reach = a_max * s.dt
    start, cap = safe_start(s, last, v_max, reach, boxed)
    target = saturate(wish, cap)
    if norm(wish) > v_max:
        s.status |= bits.SPEED_LIMIT
    if jerk_max > 0.0:
        change = sub(target, last)
        size = norm(change)
        if size > _ARRIVED * reach:
            best = scale(change, min(a_max, braking_speed(size, jerk_max, s.dt)) / size)
            turn = sub(best, accel)
            if norm(turn) > jerk_max * s.dt * (1.0 + _TIE):
                s.status |= bits.JERK_LIMIT
            target = add(last, scale(add(accel, saturate(turn, jerk_max * s.dt)), s.dt))
            target = saturate(target, cap)
    if boxed:
        clipped = clip_to_walls(s, target)
        if clipped != target:
            s.status |= bits.WORKSPACE_LIMIT
        target = clipped
    along = sub(target, start)
    k = last_inside(start, along, last, reach)
    if k < 1.0:
        s.status |= bits.ACCELERATION_LIMIT
    return add(start, scale(along, k))


@jit
def first_inside(direction, centre, radius, smallest, largest):
    """The smallest length between the two with `|length direction - centre| <= radius`; else the
    largest.
    """
    b, c = dot(direction, centre), dot(centre, centre) - radius * radius
    root = b * b - c
    if root <= 0.0:
        return largest
    return min(largest, max(smallest, b - math.sqrt(root)))


@jit
def clip_to_walls(s, v):
    return (
        min(max(v[0], s.wall_low[0]), s.wall_high[0]),
        min(max(v[1], s.wall_low[1]), s.wall_high[1]),
        min(max(v[2], s.wall_low[2]), s.wall_high[2]),
    )


@jit
def walls(p, s):
    """Bounds on each component of the tool's velocity, such that it meets every wall at rest.

    At rest by braking the tool (at its share of the acceleration limit), and also if all joints had
    to slow down together, along their curved way (see `viability`).
    """
    s.near_wall = 0
    fastest = max(p.v_max, norm(linear(s.V_prev)))
    a = _SHARE * p.a_max
    time = gentle_stopping_time(p, s.qd_prev, linear(s.V_prev), angular(s.V_prev))
    tau = s.hold + 0.5 * time
    far = 2.0 * fastest * (tau + fastest / (2.0 * a)) + 2.0 * WALL_SLACK
    for n in range(3):
        s.wall_low[n], s.wall_high[n] = -UNBOUNDED, UNBOUNDED
        below, above = s.p_WP[n] - p.workspace_min[n], p.workspace_max[n] - s.p_WP[n]
        if below < -2.0 * WALL_SLACK or above < -2.0 * WALL_SLACK:
            s.status |= bits.OUTSIDE_WORKSPACE
        if below < far or above < far:
            s.near_wall = 1
    if not s.near_wall:
        return
    c, _ = bias_acceleration(s, s.qd_prev)
    for n in range(3):
        below, above = s.p_WP[n] - p.workspace_min[n], p.workspace_max[n] - s.p_WP[n]
        if below < far:
            s.wall_low[n] = -wall_speed(below, -s.V_prev[n], -c[n], a, tau, s.hold, s.dt)
        if above < far:
            s.wall_high[n] = wall_speed(above, s.V_prev[n], c[n], a, tau, s.hold, s.dt)
        if s.wall_low[n] > s.wall_high[n]:
            s.wall_low[n] = s.wall_high[n] = 0.5 * (s.wall_low[n] + s.wall_high[n])


@jit
def wall_speed(distance, speed, bend, a, tau, hold, dt):
    """How fast the tool may go towards a wall. A tool that is too near for its speed brakes as hard
    as it must.
    """
    if not distance > 0.0:
        return max(0.0, speed - a * dt)
    harder = a
    if speed > 0.0:
        harder = max(a, speed * speed / (2.0 * distance))
    by_joints = (distance + 0.4 * WALL_SLACK) / tau - 0.5 * bend * tau
    return min(braking_speed(distance, harder, hold), max(by_joints, speed - a * dt))


@jit
def slow_for_walls(p, s, wish):
    """Ahead of the hard bounds, ask for a gentler approach that a limited jerk can follow."""
    delay = s.hold + 2.0 * p.a_max / p.jerk_max
    a = 0.5 * _SHARE * p.a_max
    x, y, z = wish
    out = (x, y, z)
    for n in range(3):
        v = out[n]
        if v > 0.0:
            v = min(v, braking_speed(p.workspace_max[n] - s.p_WP[n], a, delay))
        elif v < 0.0:
            v = -min(-v, braking_speed(s.p_WP[n] - p.workspace_min[n], a, delay))
        out = (
            (v, out[1], out[2])
            if n == 0
            else (out[0], v, out[2])
            if n == 1
            else (out[0], out[1], v)
        )
    return out
