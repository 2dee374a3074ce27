"""Step 6: the twist that follows the commanded pose, and how far that pose may lead the arm.

    V = V_WD + rate + Kp error(X_WC, X_WP)

`X_WC` is the pose commanded for now (by the last tick), so that an arm that follows exactly has no
error.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.law import offset_from
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
    rotate,
    rotate_back,
    saturate,
    scale,
    set_angular,
    set_linear,
    set_quaternion,
    shortest,
    sub,
)


@jit
def pose_error(s):
    """`error`: from the measured to the commanded pose, in W axes."""
    set_linear(s.error, sub(linear(s.p_WC), linear(s.p_WP)))
    turn = multiply(quaternion(s.wxyz_WC), inverse(quaternion(s.wxyz_WP)))
    set_angular(s.error, log3(shortest(turn)))


@jit
def track(p, s):
    """`V_track`: planner, admittance and correction. The correction is never too fast to stop at
    its target.
    """
    e, r = linear(s.error), angular(s.error)
    k, kr = linear(p.velocity_gain), angular(p.velocity_gain)
    v = saturate((k[0] * e[0], k[1] * e[1], k[2] * e[2]), braking_speed(norm(e), p.a_max, s.dt))
    w = saturate(
        (kr[0] * r[0], kr[1] * r[1], kr[2] * r[2]), braking_speed(norm(r), p.alpha_max, s.dt)
    )
    set_linear(s.V_track, add(add(linear(s.V_WD), linear(s.rate)), v))
    set_angular(s.V_track, add(add(angular(s.V_WD), angular(s.rate)), w))


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
        wxyz_WD = quaternion(s.wxyz_WD)
        if p.frame == bits.PROBE:
            back = rotate_back(wxyz_WD, back)
        by_offset = (back[0] * p.enabled[0], back[1] * p.enabled[1], back[2] * p.enabled[2])
        by_desired = sub(back, by_offset)
        set_linear(s.x, add(linear(s.x), by_offset))
        if norm(by_desired) > 0.0:
            if p.frame == bits.PROBE:
                by_desired = rotate(wxyz_WD, by_desired)
            set_linear(s.p_WD, add(linear(s.p_WD), by_desired))
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
            x = linear(s.x)
            if p.frame == bits.PROBE:
                x = rotate(wxyz_WC, x)
            set_linear(s.p_WD, sub(p_WC, x))
            s.at_goal = 0


@jit
def reference(p, s):
    """`q_ref` integrates its own last value, and stays within `max_joint_lead` of the measured
    joints.
    """
    for n in range(6):
        lead = (s.q_ref[n] - s.q[n]) * (1.0 - min(1.0, p.leak * s.dt)) + s.qd[n] * s.dt
        lead = min(max(lead, -p.max_joint_lead), p.max_joint_lead)
        s.q_ref[n] = s.q[n] + lead


@jit
def not_following(p, s):
    """True when the arm has stayed behind its reference by more than it may, for longer than it
    may.
    """
    behind = 0.0
    for n in range(6):
        behind = max(behind, abs(s.q_ref[n] - s.q[n]))
    if behind < 1e-3:
        s.lead_time = 0.0
        return False
    e = (0.0, 0.0, 0.0)
    r = (0.0, 0.0, 0.0)
    for n in range(6):
        d = s.q_ref[n] - s.q[n]
        e = add(e, (s.J[0, n] * d, s.J[1, n] * d, s.J[2, n] * d))
        r = add(r, (s.J[3, n] * d, s.J[4, n] * d, s.J[5, n] * d))
    if norm(e) <= p.max_lead and norm(r) <= p.max_lead_angle and behind < p.max_joint_lead:
        s.lead_time = 0.0
        return False
    s.lead_time += s.dt
    return s.lead_time > p.tracking_timeout
