"""What contact damping asks of the arm: to answer sooner, and to brake harder.

An arm makes the velocity it is told with a lag. Told `v + 0.8 lag a`, it makes about `v`. And a
tool that touches something may slow down along the normal beyond the tool's acceleration limit, up
to a limit of its own: every millimetre too many is a hundred newtons on steel.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    dot,
    linear,
    quaternion,
    rotate,
    saturate,
    scale,
    set_linear,
    sub,
)

_SHARE = 0.8  # of the arm's lag: more than all of it would excite the arm's structure
_MOST = 0.3  # m/s


@jit
def lead_lag(p, s, v_before):
    """`V_track`: ahead of the arm's lag by as much as the law accelerates."""
    set_linear(s.lead, (0.0, 0.0, 0.0))
    if not p.arm_lag > 0.0:
        return
    a = scale(sub(linear(s.v), v_before), 1.0 / s.dt)
    if p.frame == bits.PROBE:
        a = rotate(quaternion(s.wxyz_WD), a)
    set_linear(s.lead, saturate(scale(a, _SHARE * p.arm_lag), _MOST))
    set_linear(s.V_track, add(linear(s.V_track), linear(s.lead)))


@jit
def allow_braking(p, s):
    """`brake`: by how much the tool slows down along the normal beyond its acceleration limit, m/s
    in this tick.

    Towards the wish, to rest, and past it only by the lead of the arm's lag.
    """
    set_linear(s.brake, (0.0, 0.0, 0.0))
    most = (p.contact_braking - p.a_max) * s.dt
    if not (s.touch_damping > 0.0 and most > 0.0):
        return
    n = linear(s.touch_normal)
    now, wish = dot(linear(s.V_mem), n), dot(linear(s.V_track), n)
    if now < 0.0:
        rest = max(0.0, dot(linear(s.lead), n)) - now
        change = min(max(0.0, wish - now), rest, most)
    else:
        change = -min(max(0.0, now - wish), now, most)
    set_linear(s.brake, scale(n, change))


@jit
def note_contact(s):
    """The status bits of contact. After the anti-windup, which acts on limits: these are none that
    the law could run into.
    """
    if s.touch_damping > 0.0:
        s.status |= bits.CONTACT_DAMPING
    if s.brake[0] != 0.0 or s.brake[1] != 0.0 or s.brake[2] != 0.0:
        s.status |= bits.CONTACT_BRAKING
    if s.calm > 0.0:
        s.status |= bits.CONTACT_OSCILLATION
