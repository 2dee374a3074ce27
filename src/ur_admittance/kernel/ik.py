"""Step 8: joint rates for the limited twist.

    min |J qd - V|^2 + lambda^2 |qd|^2    subject to   low <= qd <= high

`low` and `high` come from the joints' speed, acceleration and position limits. Away from
singularities lambda is zero and, while no bound is met, `qd = J^-1 V` exactly. Where a bound or the
damping bends the answer, the motion the joints would really make, `J qd`, is held against the
Cartesian limits again and brought back inside them if any joint rates within the bounds can do
that. Last, the arm must be able to stop in time (`viability`). Hence the order of importance: joint
bounds, workspace, speed, acceleration, the law.
"""

from __future__ import annotations

import math

from ur_admittance.kernel import bits
from ur_admittance.kernel.box import solve_box
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.jacobian import invert_jacobian
from ur_admittance.kernel.limiter import clip_to_walls
from ur_admittance.kernel.spatial import (
    add,
    angular,
    braking_speed,
    last_inside,
    linear,
    norm,
    saturate,
    scale,
    set_angular,
    set_linear,
    sub,
)
from ur_admittance.kernel.viability import (
    gentle_stopping_time,
    keep_able_to_stop,
    last_motion,
    real_motion,
    too_hard,
)

_ROUNDS = 12
_SPARE = 0.9  # of the acceleration limits
_TIE = 1e-9
_WALL_TIE = 1e-6  # m/s; else rounding, at a wall, would keep a motion along it from ever ending


@jit
def inverse_kinematics(p, s):
    """Fill `qd` and `V_cmd` = J qd. Returns False if there is no finite answer."""
    joint_bounds(p, s)
    s.sigma = invert_jacobian(s)
    singular = not s.sigma >= p.singularity_threshold
    if not singular:
        inside = True
        for n in range(6):
            t = 0.0
            for m in range(6):
                t += s.J_inverse[n, m] * s.V_lim[m]
            s.qd[n] = t
            inside = inside and s.low[n] <= t and t <= s.high[n]
        if inside and not too_hard(p, s, linear(s.V_lim), angular(s.V_lim)):
            for n in range(6):
                s.V_cmd[n] = s.V_lim[n]
            if s.near_wall and meets_wall(p, s):
                s.status |= bits.WORKSPACE_LIMIT
            else:
                if keep_able_to_stop(p, s):
                    s.status |= bits.STOPPING_DISTANCE
                    report_bounds(p, s)
                return True
    damping = 0.0
    if singular:
        s.status |= bits.SINGULARITY
        near = s.sigma / p.singularity_threshold
        damping = p.ik_damping * (1.0 - near * near)
    normal_matrix(s, damping * damping)
    for n in range(6):
        s.V_aim[n] = s.V_lim[n]
    for k in range(_ROUNDS):
        aim(s)
        if not solve_box(s):
            return False
        real_motion(s)
        if keeps_limits(p, s):
            break
        if k == 0:
            if back_inside(p, s, singular):
                break
            s.status |= bits.JOINT_ACCELERATION_LIMIT  # nothing the joints can do is gentle enough
    slow_down(s)
    if keep_able_to_stop(p, s):
        s.status |= bits.STOPPING_DISTANCE
    report_bounds(p, s)
    return True


@jit
def joint_bounds(p, s):
    """How fast each joint may go: its speed, its acceleration, and to stop in time at its end."""
    for n in range(6):
        fastest, a = p.qd_max[n], p.qdd_max[n]
        low, high = -fastest, fastest
        below, above = s.q[n] - p.q_min[n], p.q_max[n] - s.q[n]
        if not (below >= 0.0 and above >= 0.0):
            s.status |= bits.JOINT_OUTSIDE
        reach = fastest * s.hold + fastest * fastest / (2.0 * a)
        if below < reach:
            low = -min(fastest, braking_speed(below, a, s.hold))
        if above < reach:
            high = min(fastest, braking_speed(above, a, s.hold))
        slower, faster = s.qd_prev[n] - a * s.dt, s.qd_prev[n] + a * s.dt
        # A joint too near to its end for its speed brakes as hard as it may.
        s.low[n] = min(max(low, slower), faster)
        s.high[n] = max(min(high, faster), slower)


@jit
def normal_matrix(s, damping2):
    """`H = J^T J + lambda^2`."""
    for n in range(6):
        for m in range(n + 1):
            t = 0.0
            for k in range(6):
                t += s.J[k, n] * s.J[k, m]
            s.H[n, m] = t
            s.H[m, n] = t
        s.H[n, n] += damping2 + 1e-12


@jit
def aim(s):
    """`g = -J^T V`, for V = `V_aim`."""
    for n in range(6):
        t = 0.0
        for k in range(6):
            t -= s.J[k, n] * s.V_aim[k]
        s.g[n] = t


@jit
def keeps_limits(p, s):
    """Whether `V_cmd` is inside the Cartesian limits; if not, `V_aim` becomes the nearest motion
    that is, and where it was too hard, with something to spare: on the limit itself, round after
    round would come nearer to it and none would arrive.
    """
    v, w = linear(s.V_cmd), angular(s.V_cmd)
    last = last_motion(s, v)
    inside = add(last, saturate(sub(v, last), p.a_max * s.dt))
    inside = saturate(inside, s.v_cap)
    if s.near_wall:
        sag = wall_sag(p, s)
        inside = sub(clip_to_walls(s, add(inside, sag)), sag)
    turned = add(angular(s.V_prev), saturate(sub(w, angular(s.V_prev)), p.alpha_max * s.dt))
    turned = saturate(turned, s.w_cap)
    kept = norm(sub(inside, v)) <= _TIE and norm(sub(turned, w)) <= _TIE
    set_linear(s.V_aim, add(last, saturate(sub(inside, last), _SPARE * p.a_max * s.dt)))
    last = angular(s.V_prev)
    set_angular(s.V_aim, add(last, saturate(sub(turned, last), _SPARE * p.alpha_max * s.dt)))
    return kept


@jit
def back_inside(p, s, singular):
    """Go back from `qd` towards joint rates that keep the acceleration limits, as far as needed.
    Returns False, with nothing changed, if none were found.
    """
    if not singular and braked_rates(s):
        k = share_inside(p, s)
        if k >= 0.0:
            straight = share_of_wish(p, s)
            if straight > k:  # without a bend, the joints can do more of the wish
                k = straight
                for n in range(6):
                    s.qd[n] = s.scratch[n]
            blend(s, k)
            return True
    steady_rates(p, s, True)
    k = share_inside(p, s)
    if k < 0.0:
        steady_rates(p, s, False)
        k = share_inside(p, s)
    if k < 0.0 and steadiest_rates(s):
        k = share_inside(p, s)
    if k >= 0.0:
        blend(s, k)
    return k >= 0.0


@jit
def braked_rates(s):
    """`start`: joint rates for `V_safe`, the last motion as far as walls and speed allow. Returns
    whether the joints can do that.
    """
    for n in range(6):
        t = 0.0
        for m in range(6):
            t += s.J_inverse[n, m] * s.V_safe[m]
        if not (t >= s.low[n] and t <= s.high[n]):
            return False
        s.start[n] = t
    return True


@jit
def steady_rates(p, s, slower):
    """`start`: the joint rates of the last tick, slowed together where the speed limits ask for it
    (or the wish is slower, too), inside the joint bounds.
    """
    v, w = motion_of(s, s.qd_prev)
    k = 1.0
    if slower and norm(linear(s.V_lim)) <= norm(v) and norm(angular(s.V_lim)) <= norm(w):
        k = max(0.0, 1.0 - s.dt / max(s.dt, gentle_stopping_time(p, s.qd_prev, v, w)))
    if norm(v) > s.v_cap:
        k = s.v_cap / norm(v)
    if norm(w) > s.w_cap:
        k = min(k, s.w_cap / norm(w))
    for n in range(6):
        s.start[n] = min(max(k * s.qd_prev[n], s.low[n]), s.high[n])


@jit
def steadiest_rates(s):
    """`start`: the joint rates inside the bounds that change the tool's motion least."""
    for n in range(6):
        s.start[n] = s.qd[n]
        s.V_aim[n] = s.V_safe[n]
    normal_matrix(s, 0.0)
    aim(s)
    found = solve_box(s)
    for n in range(6):
        t = s.start[n]
        s.start[n] = s.qd[n]
        s.qd[n] = t
    return found


@jit
def share_of_wish(p, s):
    """How much of the way from `start` to the joint rates for `V_lim`, in `scratch`, is inside the
    joint bounds, 0 .. 1. The Cartesian limits are kept at both ends, so also between; else 0.
    """
    v, w = linear(s.V_lim), angular(s.V_lim)
    if too_hard(p, s, v, w) or too_fast(s, v, w):
        return 0.0
    k = 1.0
    for n in range(6):
        t = 0.0
        for m in range(6):
            t += s.J_inverse[n, m] * s.V_lim[m]
        s.scratch[n] = t
        change = t - s.start[n]
        if t > s.high[n]:
            k = min(k, (s.high[n] - s.start[n]) / change)
        elif t < s.low[n]:
            k = min(k, (s.low[n] - s.start[n]) / change)
    return k


@jit
def share_inside(p, s):
    """How much of the way from `start` to `qd` keeps the Cartesian limits, 0 .. 1; -1 if `start`
    itself is too hard or too fast.
    """
    v, w = motion_of(s, s.start)
    if too_hard(p, s, v, w) or too_fast(s, v, w):
        return -1.0
    dv, dw = sub(linear(s.V_cmd), v), sub(angular(s.V_cmd), w)
    k = last_inside(v, dv, linear(s.V_prev), p.a_max * s.dt)
    k = max(k, last_inside(v, dv, last_motion(s, linear(s.V_cmd)), p.a_max * s.dt))
    k = min(k, last_inside(v, dv, (0.0, 0.0, 0.0), s.v_cap))
    k = min(k, last_inside(w, dw, angular(s.V_prev), p.alpha_max * s.dt))
    k = min(k, last_inside(w, dw, (0.0, 0.0, 0.0), s.w_cap))
    if s.near_wall:
        for n in range(3):
            if dv[n] > 0.0:
                k = min(k, max(0.0, (s.wall_high[n] + _WALL_TIE - v[n]) / dv[n]))
            elif dv[n] < 0.0:
                k = min(k, max(0.0, (s.wall_low[n] - _WALL_TIE - v[n]) / dv[n]))
    return k


@jit
def too_fast(s, v, w):
    """Whether v or w is faster than this tick allows."""
    return norm(v) > s.v_cap + _TIE or norm(w) > s.w_cap + _TIE


@jit
def blend(s, k):
    """`qd`: from `start` that share of the way on."""
    for n in range(6):
        t = s.start[n] + k * (s.qd[n] - s.start[n])
        s.qd[n] = min(max(t, s.low[n]), s.high[n])
    real_motion(s)


@jit
def motion_of(s, qd):
    """J qd, linear and angular."""
    v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for n in range(6):
        v = add(v, scale((s.J[0, n], s.J[1, n], s.J[2, n]), qd[n]))
        w = add(w, scale((s.J[3, n], s.J[4, n], s.J[5, n]), qd[n]))
    return v, w


@jit
def meets_wall(p, s):
    """Whether the tool, on the arc this command makes, is too fast towards a wall."""
    sag = wall_sag(p, s)
    for n in range(3):
        v = s.V_cmd[n] + sag[n]
        if v > s.wall_high[n] + _TIE or v < s.wall_low[n] - _TIE:
            return True
    return False


@jit
def wall_sag(p, s):
    """Mean velocity along the arc the joints make, less the velocity at its start, m/s."""
    end = tool_after(p, s)
    k = 1.0 / s.hold
    return sub(scale(sub(end, linear(s.p_WP)), k), linear(s.V_cmd))


@jit
def tool_after(p, s):
    """Where the tool point will be when `qd` has lasted for `hold`, m.

    The chain once more, from the tool to the base, for the position alone.
    """
    x, y, z = linear(p.chain_p[6])
    for k in range(6):
        n = 5 - k
        q = s.q[n] + s.qd[n] * s.hold
        c, d = math.cos(q), math.sin(q)
        x, y = c * x - d * y, d * x + c * y
        R, t = p.chain_R[n], p.chain_p[n]
        x, y, z = (
            R[0, 0] * x + R[0, 1] * y + R[0, 2] * z + t[0],
            R[1, 0] * x + R[1, 1] * y + R[1, 2] * z + t[1],
            R[2, 0] * x + R[2, 1] * y + R[2, 2] * z + t[2],
        )
    return x, y, z


@jit
def slow_down(s):
    """The last line for speed: shrink all joint rates together, as far as their bounds let us."""
    v, w = norm(linear(s.V_cmd)), norm(angular(s.V_cmd))
    k = 1.0
    if v > s.v_cap:
        k = s.v_cap / v
    if w > s.w_cap:
        k = min(k, s.w_cap / w)
    if k < 1.0:
        for n in range(6):
            s.qd[n] = min(max(k * s.qd[n], s.low[n]), s.high[n])
        real_motion(s)


@jit
def report_bounds(p, s):
    """Set the status bits of the joint bounds that hold, and of an acceleration that had to be
    exceeded.
    """
    for n in range(6):
        tie = _TIE * (1.0 + abs(s.qd[n]))
        at_low, at_high = s.qd[n] <= s.low[n] + tie, s.qd[n] >= s.high[n] - tie
        if not (at_low or at_high):
            continue
        change = p.qdd_max[n] * s.dt
        if abs(s.qd[n] - s.qd_prev[n]) >= change - tie:
            s.status |= bits.JOINT_ACCELERATION_LIMIT
        elif abs(s.qd[n]) >= p.qd_max[n] - tie:
            s.status |= bits.JOINT_VELOCITY_LIMIT
        else:
            s.status |= bits.JOINT_POSITION_LIMIT
    if too_hard(p, s, linear(s.V_cmd), angular(s.V_cmd)):
        s.status |= bits.BEYOND_ACCELERATION
