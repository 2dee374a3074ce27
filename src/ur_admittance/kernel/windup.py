"""Anti-windup: while anything holds the arm back, the law does not run ahead of it.

Three things are done, all here. What the limits took from the motion, the law gives up at once
(`hold_back`), and so do the integrals of the axes that press (`hold_back_force`). And however it
came about, the commanded pose stays within a bounded distance of the measured one (`leash`): an arm
that is let go after ten seconds at a wall does not lunge.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.axes import to_law, to_world
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.law import offset_from
from ur_admittance.kernel.spatial import (
    add,
    angular,
    exp3,
    inverse,
    linear,
    log3,
    multiply,
    norm,
    normalised,
    quaternion,
    scale,
    set_linear,
    set_quaternion,
    shortest,
    sub,
)

_BRIEF = (  # limits that end by themselves
    bits.ACCELERATION_LIMIT
    | bits.JERK_LIMIT
    | bits.JOINT_ACCELERATION_LIMIT
    | bits.BEYOND_ACCELERATION
    | bits.CONTACT_BRAKING
    | bits.CONTACT_DAMPING
    | bits.CONTACT_OSCILLATION
    | bits.WRENCH_SATURATED
)


@jit
def hold_back(p, s, V_follow):
    """What the limits took from the motion, `V_track - V_follow`, the law gives up.

    Each axis of `v` is cut by the excess, never past zero and never raised. A limited jerk needs a
    lead to build its acceleration up; that much is left. The offset steps by as much less, and
    while D stands still, on axes without a spring, past zero too, so that C neither runs ahead of
    the arm nor calls it back.
    """
    v = without_lead(linear(s.V_track), linear(V_follow), linear(s.lead))
    w = sub(angular(s.V_track), angular(V_follow))
    v, w = to_law(p, s, v), to_law(p, s, w)
    excess = (v[0], v[1], v[2], w[0], w[1], w[2])
    lead, lead_angle = 0.0, 0.0
    if (s.status & bits.LIMITS) == bits.JERK_LIMIT:
        if p.jerk_max > 0.0:
            lead = p.a_max * (s.dt + 0.5 * p.a_max / p.jerk_max)
        if p.angular_jerk_max > 0.0:
            lead_angle = p.alpha_max * (s.dt + 0.5 * p.alpha_max / p.angular_jerk_max)
    for n in range(6):
        if not p.enabled[n]:
            continue
        more = lead if n < 3 else lead_angle
        s.v[n] = shortened(s.v[n], excess[n] - min(max(excess[n], -more), more))
        if s.stiffness[n] == 0.0 and s.at_goal and not s.status & bits.SINGULARITY:
            s.dx[n] -= excess[n] * s.dt
        else:
            s.dx[n] = shortened(s.dx[n], excess[n] * s.dt)


@jit
def hold_back_force(p, s):
    """What lasting limits took from the velocity of an axis that presses, its integrals give up."""
    if not s.status & bits.LIMITS & ~_BRIEF:
        return
    for n in range(6):
        if p.force_axes[n]:
            cut = s.force_v[n] - s.v[n]
            s.force_I1[n] = shortened(s.force_I1[n], cut)
            if cut != 0.0:
                s.force_I2[n] = 0.0


@jit
def without_lead(wish, follow, lead):
    """`wish - follow`, less what of it is the lead of the arm's lag, which the law does not own."""
    return (
        shortened(wish[0] - follow[0], lead[0]),
        shortened(wish[1] - follow[1], lead[1]),
        shortened(wish[2] - follow[2], lead[2]),
    )


@jit
def shortened(value, excess):
    """`value` less `excess` if that is a step towards zero, and no further than zero."""
    if value > 0.0 and excess > 0.0:
        return max(0.0, value - excess)
    if value < 0.0 and excess < 0.0:
        return min(0.0, value - excess)
    return value


@jit
def leash(p, s):
    """Keep the commanded pose within reach of the arm: pull the offset back (or D, on disabled
    axes).
    """
    lead = sub(linear(s.p_WC), linear(s.p_WP))
    n = norm(lead)
    if n > p.max_lead:
        s.status |= bits.LEAD_LIMIT
        back = scale(lead, p.max_lead / n - 1.0)
        set_linear(s.p_WC, add(linear(s.p_WC), back))
        back = to_law(p, s, back)
        by_offset = (back[0] * p.enabled[0], back[1] * p.enabled[1], back[2] * p.enabled[2])
        by_desired = sub(back, by_offset)
        set_linear(s.x, add(linear(s.x), by_offset))
        if norm(by_desired) > 0.0:
            set_linear(s.p_WD, add(linear(s.p_WD), to_world(p, s, by_desired)))
            s.at_goal = 0
    turn = shortest(multiply(quaternion(s.wxyz_WC), inverse(quaternion(s.wxyz_WP))))
    if turn[0] < p.max_lead_cosine:
        s.status |= bits.LEAD_LIMIT
        lead = log3(turn)
        step = exp3(scale(lead, p.max_lead_angle / norm(lead)))
        wxyz_WC = normalised(multiply(step, quaternion(s.wxyz_WP)))
        set_quaternion(s.wxyz_WC, wxyz_WC)
        if p.enabled[3] or p.enabled[4] or p.enabled[5]:
            offset_from(p, s, linear(s.p_WC), wxyz_WC)
        else:
            p_WC = linear(s.p_WC)
            set_quaternion(s.wxyz_WD, wxyz_WC)
            set_linear(s.p_WD, sub(p_WC, to_world(p, s, linear(s.x))))
            s.at_goal = 0
