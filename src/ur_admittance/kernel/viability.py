"""The last line of the workspace and the speed limit: the arm must always be able to stop in time.

If all joints slow down together, the arm runs out along a straight line in joint space: `q + qd
tau`, for tau up to `hold + T/2`, where T is the time the slowest joint needs to brake. Joint rates
are accepted only if the joints, the tool point and the tool's speed stay inside their limits along
that line. Slowing down together keeps the arm on the line, so whatever happens next, a way to stop
that was found good one tick ago is still there to fall back on.

That stop may be far harder than the tool's acceleration limits. So that it is hardly ever needed,
the arm is held back earlier, while a gentle stop, inside those limits, can still end in time.

Along the line the tool moves by `v tau + c tau^2 / 2`, give or take `b tau^3 / 6`: v = J qd and c =
dJ/dt qd are exact, b bounds the third derivative.
"""

from __future__ import annotations

from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    cross,
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

WALL_SLACK = 5e-5  # m, how far beyond a wall the line may end
_JOINT_SLACK = 1e-9  # rad
_TRIALS = 5
_SLACK = 1.0 + 1e-6
_GENTLE = 0.7  # of the acceleration limits; the rest is for the curve of the way


@jit
def keep_able_to_stop(p, s):
    """Hold `qd` back until the arm can stop in time. Returns whether it had to.

    First towards slowing down inside the tool's acceleration limits, as long as a stop inside them
    is possible; when it is not, towards slowing down as hard as the joints can.
    """
    if can_stop(p, s, True):
        return False
    for n in range(6):
        s.scratch[n] = s.qd[n]
    if slow_inside_limits(p, s, True):
        as_near_as_possible(p, s, True)
        return True
    if slow_inside_limits(p, s, False):
        return True
    for n in range(6):
        s.qd[n] = s.scratch[n]
    real_motion(s)
    if can_stop(p, s, False):
        return False
    slow_together(p, s)
    as_near_as_possible(p, s, False)
    return True


@jit
def slow_inside_limits(p, s, gently):
    """`qd`: slower, inside the acceleration limits, and able to stop in time. Returns whether there
    is such a thing.
    """
    if s.sigma >= p.singularity_threshold and slow_straight(p, s) and can_stop(p, s, gently):
        return True
    slow_gently(p, s)
    return not too_hard(p, s, linear(s.V_cmd), angular(s.V_cmd)) and can_stop(p, s, gently)


@jit
def as_near_as_possible(p, s, gently):
    """From `qd`, a way of slowing down, towards the wish in `row` as far as the arm can still stop
    in time.
    """
    for n in range(6):
        s.scratch[n] -= s.qd[n]
    part = 0.5
    for _ in range(_TRIALS):
        for n in range(6):
            s.qd[n] += part * s.scratch[n]
        real_motion(s)
        if not can_stop(p, s, gently):
            for n in range(6):
                s.qd[n] -= part * s.scratch[n]
        part *= 0.5
    real_motion(s)


@jit
def slow_straight(p, s):
    """`qd`: the tool brakes as hard as its acceleration limits allow, without changing direction.
    Returns whether the joints can do that.
    """
    v, w = linear(s.V_prev), angular(s.V_prev)
    v = sub(v, saturate(v, p.a_max * s.dt))
    w = sub(w, saturate(w, p.alpha_max * s.dt))
    inside = True
    for n in range(6):
        t = s.J_inverse[n, 0] * v[0] + s.J_inverse[n, 1] * v[1] + s.J_inverse[n, 2] * v[2]
        t += s.J_inverse[n, 3] * w[0] + s.J_inverse[n, 4] * w[1] + s.J_inverse[n, 5] * w[2]
        s.qd[n] = t
        inside = inside and s.low[n] <= t and t <= s.high[n]
    set_linear(s.V_cmd, v)
    set_angular(s.V_cmd, w)
    return inside


@jit
def slow_gently(p, s):
    """`qd`: all joints brake together, as hard as the tool's acceleration limits and the first of
    the joints allow.
    """
    for n in range(6):
        s.qd[n] = s.qd_prev[n]
    real_motion(s)
    v, w = linear(s.V_cmd), angular(s.V_cmd)
    time = stopping_time(p, s.qd_prev)
    k = min(1.0, s.dt / time) if time > 0.0 else 1.0
    k = min(k, last_inside(v, scale(v, -1.0), linear(s.V_prev), p.a_max * s.dt))
    k = min(k, last_inside(w, scale(w, -1.0), angular(s.V_prev), p.alpha_max * s.dt))
    for n in range(6):
        s.qd[n] = min(max((1.0 - k) * s.qd_prev[n], s.low[n]), s.high[n])
    real_motion(s)


@jit
def slow_together(p, s):
    """`qd`: all joints brake together, as hard as the first of them may."""
    time = stopping_time(p, s.qd_prev)
    k = max(0.0, 1.0 - s.dt / time) if time > 0.0 else 0.0
    for n in range(6):
        s.qd[n] = k * s.qd_prev[n]
    real_motion(s)


@jit
def real_motion(s):
    """`V_cmd` = J qd."""
    for n in range(6):
        t = 0.0
        for m in range(6):
            t += s.J[n, m] * s.qd[m]
        s.V_cmd[n] = t


@jit
def stopping_time(p, qd):
    """How long the joints need to come to rest together, s."""
    time = 0.0
    for n in range(6):
        time = max(time, abs(qd[n]) / p.qdd_max[n])
    return time


@jit
def gentle_stopping_time(p, qd, v, w):
    """The same, if the tool's acceleration limits are to be kept too, s."""
    time = stopping_time(p, qd)
    return max(time, norm(v) / (_GENTLE * p.a_max), norm(w) / (_GENTLE * p.alpha_max))


@jit
def can_stop(p, s, gently):
    """Whether the joints, the walls and the speed limits are kept while slowing down together from
    `qd`: as hard as the joints can or, gently, inside the tool's acceleration limits.
    """
    time = stopping_time(p, s.qd)
    speed, turning = norm(linear(s.V_cmd)), norm(angular(s.V_cmd))
    tau = s.hold + 0.5 * time
    if gently:
        tau = s.hold + 0.5 * gentle_stopping_time(p, s.qd, linear(s.V_cmd), angular(s.V_cmd))
    total = 0.0
    for n in range(6):
        total += abs(s.qd[n])
        end = s.q[n] + s.qd[n] * tau
        if (
            end > max(p.q_max[n], s.q[n]) + _JOINT_SLACK
            or end < min(p.q_min[n], s.q[n]) - _JOINT_SLACK
        ):
            return False
    if total == 0.0:
        return True
    bend, twist = total * total * p.reach, total * total
    third = total * bend
    plainly_slow = (
        speed <= s.v_cap
        and turning <= s.w_cap
        and bend * time <= s.v_cap
        and twist * time <= s.w_cap
        and third * time * time <= 2.0 * s.v_cap
        and total * twist * time * time <= 2.0 * s.w_cap
    )
    if plainly_slow and not s.near_wall:
        return True
    c, cw = bias_acceleration(s, s.qd)
    if not plainly_slow:
        if not stays_slow(speed, norm(c), third, time, s.v_cap):
            return False
        if not stays_slow(turning, norm(cw), total * twist, time, s.w_cap):
            return False
    if s.near_wall:
        for n in range(3):
            above = max(0.0, p.workspace_max[n] - s.p_WP[n] + WALL_SLACK)
            below = max(0.0, s.p_WP[n] - p.workspace_min[n] + WALL_SLACK)
            if farthest(s.V_cmd[n], c[n], third, tau) > above:
                return False
            if farthest(-s.V_cmd[n], -c[n], third, tau) > below:
                return False
    return True


@jit
def farthest(v, c, b, tau):
    """The most that `v t + c t^2 / 2 + b t^3 / 6` can be for t in 0 .. tau (from above)."""
    end = v * tau + 0.5 * c * tau * tau
    third = b * tau * tau * tau / 6.0
    if c >= 0.0:
        return max(0.0, end + third)
    if v <= 0.0:
        return max(0.0, v * tau + third)
    if v < -c * tau:
        end = -0.5 * v * v / c
    return end + third


@jit
def stays_slow(v, c, b, time, cap):
    """Whether `(v + c t + b t^2 / 2) (1 - t/T) <= cap` for all t in 0 .. T.

    Sufficient, by `1 / (1 - x) >= 1 + x + x^2`: the parabola
    `(cap - v) + (cap/T - c) t + (cap/T^2 - b/2) t^2` is never negative.
    """
    cap = cap * (1.0 + 1e-6) + 1e-12
    k0 = cap - v
    if k0 < 0.0:
        return False
    if time == 0.0:
        return True
    k1, k2 = cap / time - c, cap / (time * time) - 0.5 * b
    if k0 + (k1 + k2 * time) * time < 0.0:
        return False
    if k1 < 0.0 and k2 > 0.0 and -k1 < 2.0 * k2 * time:
        return k0 >= k1 * k1 / (4.0 * k2)
    return True


@jit
def bias_acceleration(s, qd):
    """`dJ/dt qd`: the linear and angular acceleration of P while the joint rates are constant.

    From `dJ_n/dq_m = z_m x J_n` for m <= n (and `z_n x J_m` beyond), with running sums.
    """
    turn, move = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    c, cw = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(6):
        n = 5 - k
        z = (s.J[3, n], s.J[4, n], s.J[5, n])
        c = add(c, scale(cross(z, move), qd[n]))
        move = add(move, scale((s.J[0, n], s.J[1, n], s.J[2, n]), qd[n]))
    for n in range(6):
        z = (s.J[3, n], s.J[4, n], s.J[5, n])
        cw = add(cw, scale(cross(turn, z), qd[n]))
        turn = add(turn, scale(z, qd[n]))
        c = add(c, scale(cross(turn, (s.J[0, n], s.J[1, n], s.J[2, n])), qd[n]))
    return c, cw


@jit
def last_motion(s, v):
    """The velocity from which the tool's acceleration to `v` counts: the last one or, where what is
    touched asks for harder braking, as much of that as brings it nearer to `v`.
    """
    last, brake = linear(s.V_prev), linear(s.brake)
    size = dot(brake, brake)
    if not size > 0.0:
        return last
    return add(last, scale(brake, min(max(dot(sub(v, last), brake) / size, 0.0), 1.0)))


@jit
def too_hard(p, s, v, w):
    """Whether v and w are further from the last motion than the acceleration limits allow."""
    dv = norm(sub(v, last_motion(s, v)))
    dw = norm(sub(w, angular(s.V_prev)))
    return not (dv <= p.a_max * s.dt * _SLACK and dw <= p.alpha_max * s.dt * _SLACK)
