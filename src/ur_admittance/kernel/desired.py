"""The desired pose D on its way to the goal G that a planner gave: never jumped to, always inside
the limits.

V_WD = V_WG + braking speed towards G,   within the speed limit and the acceleration limit
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    braking_speed,
    exp3,
    inverse,
    linear,
    log3,
    multiply,
    norm,
    normalised,
    quaternion,
    saturate,
    scale,
    set_angular,
    set_linear,
    set_quaternion,
    shortest,
    sub,
)

LONGEST_STEP = 0.05  # m from one goal to the next
STALE_AFTER = 0.1  # s without a new goal, after which a moving one stands still
_ARRIVED = 1e-9  # m, rad


@jit
def take_goal(s, i):
    """Take over a goal that was set since the last tick."""
    if s.goal_count == i.goal_count:
        s.goal_age += s.dt
        return
    s.goal_count = i.goal_count
    s.goal_age = 0.0
    s.goal_step = 0.0 if s.seeding else norm(sub(linear(i.goal_p), linear(s.p_WG)))
    if s.goal_step > LONGEST_STEP:
        s.status |= bits.DESIRED_STEP
    s.at_goal = 0
    set_linear(s.p_WG, linear(i.goal_p))
    set_quaternion(s.wxyz_WG, quaternion(i.goal_wxyz))
    set_linear(s.V_WG, linear(i.goal_V))
    set_angular(s.V_WG, angular(i.goal_V))


@jit
def desired(p, s):
    """Move D (and `V_WD`) by one tick towards where G will be at its end."""
    if s.at_goal:
        return
    v_WG, w_WG = linear(s.V_WG), angular(s.V_WG)
    goal_moves = norm(v_WG) > 0.0 or norm(w_WG) > 0.0
    if goal_moves and s.goal_age > STALE_AFTER:
        s.status |= bits.DESIRED_STALE
        v_WG = w_WG = (0.0, 0.0, 0.0)

    e = sub(linear(s.p_WG), linear(s.p_WD))
    turn = log3(shortest(multiply(quaternion(s.wxyz_WG), inverse(quaternion(s.wxyz_WD)))))
    v = approach(e, v_WG, linear(s.V_WD), p.v_max, p.a_max, s.dt)
    w = approach(turn, w_WG, angular(s.V_WD), p.w_max, p.alpha_max, s.dt)
    set_linear(s.V_WD, v)
    set_angular(s.V_WD, w)
    set_linear(s.p_WD, add(linear(s.p_WD), scale(v, s.dt)))
    step = exp3(scale(w, s.dt))
    set_quaternion(s.wxyz_WD, normalised(multiply(step, quaternion(s.wxyz_WD))))
    if goal_moves:
        set_linear(s.p_WG, add(linear(s.p_WG), scale(v_WG, s.dt)))
        step = exp3(scale(w_WG, s.dt))
        set_quaternion(s.wxyz_WG, normalised(multiply(step, quaternion(s.wxyz_WG))))
    elif norm(e) < _ARRIVED and norm(turn) < _ARRIVED:
        arrive(s)


@jit
def arrive(s):
    """D stands at G."""
    s.at_goal = 1
    set_linear(s.p_WD, linear(s.p_WG))
    set_quaternion(s.wxyz_WD, quaternion(s.wxyz_WG))
    for n in range(6):
        s.V_WD[n] = 0.0
        s.V_WG[n] = 0.0


@jit
def approach(error, v_goal, v_prev, v_max, a_max, dt):
    """The velocity that closes `error` in time to stop there, plus the goal's own, inside the
    limits.
    """
    n = norm(error)
    if n > 0.0:
        v_goal = add(v_goal, scale(error, braking_speed(n, 0.5 * a_max, dt) / n))
    change = sub(saturate(v_goal, v_max), v_prev)
    return add(v_prev, saturate(change, a_max * dt))
