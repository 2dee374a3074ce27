"""What contact damping asks of the arm: to answer sooner, and to brake harder.

An arm makes the velocity it is told with a lag. Told `v + 0.8 lag a`, it makes about `v`. And a
tool that touches something may slow down along the normal beyond the tool's acceleration limit, up
to a limit of its own: every millimetre too many is a hundred newtons on steel.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.axes import to_world
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.contact import joint_acceleration
from ur_admittance.kernel.spatial import (
    add,
    dot,
    linear,
    saturate,
    scale,
    set_linear,
    sub,
)

_SHARE = 0.8  # of the arm's lag: more than all of it would excite the arm's structure
_BACK = 1.5  # times what the joints can accelerate: a lead beyond it could not be taken back
_BEND = 1.3  # times what the joints can do without turning the tool; far more, and they do less


@jit
def lead_lag(p, s, v_before):
    """`V_track`: ahead of the arm's lag by as much as the law accelerates.

    Along what is touched, by what the arm is still to change: `V_arm` is what it makes, so what a
    limit has taken from the lead in one tick comes in the next.
    """
    set_linear(s.lead, (0.0, 0.0, 0.0))
    if not p.arm_lag > 0.0:
        set_linear(s.V_arm, linear(s.V_prev))
        return
    lag = _SHARE * p.arm_lag
    made = add(linear(s.V_arm), scale(sub(linear(s.V_prev), linear(s.V_arm)), s.dt / (lag + s.dt)))
    set_linear(s.V_arm, made)
    change = to_world(p, s, sub(linear(s.v), v_before))
    most = p.a_max
    n = braked_normal(s)
    if dot(n, n) > 0.0:
        most = _BACK * joint_acceleration(p, s, n)
        to_come = dot(sub(linear(s.V_track), made), n)
        change = add(change, scale(n, to_come - dot(change, n)))
    set_linear(s.lead, saturate(scale(change, lag / s.dt), most * lag))
    if dot(s.force_normal, s.force_normal) > 0.0:
        step = _BEND * joint_acceleration(p, s, n) * s.dt
        wish = dot(sub(add(linear(s.V_track), linear(s.lead)), linear(s.V_prev)), n)
        over = wish - min(max(wish, -step), step)
        set_linear(s.lead, sub(linear(s.lead), scale(n, over)))
    set_linear(s.V_track, add(linear(s.V_track), linear(s.lead)))


@jit
def braked_normal(s):
    """Out of what is touched, in W: against what presses, or as it is felt; zero without either."""
    n = linear(s.force_normal)
    if dot(n, n) > 0.0 or not s.touch_damping > 0.0:
        return n
    return linear(s.touch_normal)


@jit
def allow_braking(p, s):
    """`brake`: by how much the tool slows down along the normal beyond its acceleration limit, m/s
    in this tick.

    Towards the wish, to rest, and past it only by the lead of the arm's lag. The limit is that of
    the arm: its command may be ahead of it by the lag.
    """
    set_linear(s.brake, (0.0, 0.0, 0.0))
    n = braked_normal(s)
    if not (dot(n, n) > 0.0 and p.contact_braking > p.a_max):
        return
    most = p.contact_braking * (s.dt + _SHARE * p.arm_lag) - p.a_max * s.dt
    now, wish, made = dot(linear(s.V_mem), n), dot(linear(s.V_track), n), dot(linear(s.V_arm), n)
    change = 0.0
    if wish < now and now > 0.0:
        change = -min(now - wish, now, most)
    elif wish > now and min(now, made) < 0.0:
        rest = max(0.0, dot(linear(s.lead), n)) - now
        change = max(0.0, min(wish - now, rest, most, most + made - now))
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
