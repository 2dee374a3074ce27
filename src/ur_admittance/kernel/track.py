"""Step 6: the twist that follows the commanded pose.

    V = V_WD + rate + Kp error(X_WC, X_WP)

`X_WC` is the pose commanded for now (by the last tick), so that an arm that follows exactly has no
error.
"""

from __future__ import annotations

import math

from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    braking_speed,
    inverse,
    linear,
    log3,
    multiply,
    norm,
    quaternion,
    saturate,
    set_angular,
    set_linear,
    shortest,
    sub,
)

_FULL = 0.99  # of the lead q_ref may have: where positions are sent it gets there ever more slowly


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
def reference(p, s):
    """`q_ref` integrates its own last value, and stays within `max_joint_lead` of the measured
    joints.

    Where positions are sent (no leak) it is the command: as a joint comes near to the most it may
    lead, all slow down together, so that the tool keeps its way, and get under way again inside
    the joints' accelerations. Nothing is cut off.
    """
    share = together(p, s) if p.leak == 0.0 else 1.0
    for n in range(6):
        lead, rate = s.q_ref[n] - s.q[n], share * s.qd[n]
        if p.leak == 0.0:
            a = p.qdd_max[n]
            rate = min(rate, braking_speed(p.max_joint_lead - lead, a, s.hold))
            rate = max(rate, -braking_speed(p.max_joint_lead + lead, a, s.hold))
            rate = min(max(rate, s.q_ref_rate[n] - a * s.dt), s.q_ref_rate[n] + a * s.dt)
            s.q_ref_rate[n] = rate
        lead = lead * (1.0 - min(1.0, p.leak * s.dt)) + rate * s.dt
        lead = min(max(lead, -p.max_joint_lead), p.max_joint_lead)
        s.q_ref[n] = s.q[n] + lead


@jit
def together(p, s):
    """The share of `qd` at which `q_ref` can move: every joint can stop within the lead it has
    left, when all brake in the same time, and none accelerates too hard for the change of share.
    """
    longest = 0.0  # s, for all to come to rest
    for n in range(6):
        longest = max(longest, abs(s.qd[n]) / p.qdd_max[n])
    share, least, most = 1.0, 0.0, 1.0
    for n in range(6):
        rate, step = abs(s.qd[n]), p.qdd_max[n] * s.dt
        if rate > 0.0:
            way = math.copysign(1.0, s.qd[n])
            left = p.max_joint_lead - way * (s.q_ref[n] - s.q[n])
            share = min(share, braking_speed(left, rate / longest, s.hold) / rate)
            before = way * s.q_ref_rate[n]
            least, most = max(least, (before - step) / rate), min(most, (before + step) / rate)
    return max(min(share, most), least) if least <= most else share


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
    most = p.max_joint_lead * (_FULL if p.leak == 0.0 else 1.0)
    if norm(e) <= p.max_lead and norm(r) <= p.max_lead_angle and behind < most:
        s.lead_time = 0.0
        return False
    s.lead_time += s.dt
    return s.lead_time > p.tracking_timeout
