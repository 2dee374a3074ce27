"""Hands off, and yet the arm moves: the sensor drifts, or the payload is wrong.

A hand is never as steady as a sensor. While the wrench, through a slow low-pass, stays within the
sensor's noise of a level that follows it no faster than a drift, nobody is there. If the little
that is beyond the deadband then moves the arm for `drift_seconds`, it holds until somebody pushes.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import (
    add,
    angular,
    cross,
    dot,
    linear,
    norm,
    saturate,
    set_angular,
    set_linear,
    sub,
    turn,
)

DRIFT, DRIFT_TURN = 0.25, 0.025  # N/s, Nm/s: faster is a hand
_SLOW = 0.2  # s, of the low-pass
_CREEP, _CREEP_TURN = 2e-4, 1e-3  # m/s, rad/s: slower is at rest
_SAME = 1e-9  # s, slack for sums of dt


@jit
def watch_drift(p, s):
    """Count the time for which the arm moves with nobody there; hold when it is too long."""
    if not p.drift_seconds > 0.0:
        return
    share = 1.0 if s.seeding == bits.SEED_ALL else min(1.0, s.dt / _SLOW)
    for n in range(6):
        s.slow_F[n] += share * (s.F_S_filt[n] - s.slow_F[n])
        if s.seeding == bits.SEED_ALL:
            s.quiet_F[n] = s.slow_F[n]
    f = sub(linear(s.slow_F), linear(s.quiet_F))
    t = sub(angular(s.slow_F), angular(s.quiet_F))
    quiet = norm(f) <= p.quiet_force and norm(t) <= p.quiet_torque
    set_linear(s.quiet_F, add(linear(s.quiet_F), saturate(f, DRIFT * s.dt)))
    set_angular(s.quiet_F, add(angular(s.quiet_F), saturate(t, DRIFT_TURN * s.dt)))

    f = turn(p.R_PS, linear(s.slow_F))
    t = add(turn(p.R_PS, angular(s.slow_F)), cross(linear(p.p_PS), f))
    force, torque = norm(f) - p.deadband_force, norm(t) - p.deadband_torque
    held = s.drift_time >= p.drift_seconds - _SAME
    if s.mode == bits.ACTIVE:
        creeps = norm(linear(s.v)) > _CREEP or norm(angular(s.v)) > _CREEP_TURN
        felt = force > -p.quiet_force or torque > -p.quiet_torque
        little = (
            force <= s.drift_force + p.quiet_force + DRIFT * p.drift_seconds
            and torque <= s.drift_torque + p.quiet_torque + DRIFT_TURN * p.drift_seconds
        )
        f, t = turn(s.R_WP, f), turn(s.R_WP, t)
        pushed = dot(f, linear(s.V_cmd)) + dot(t, angular(s.V_cmd)) > 0.0
        alone = quiet and felt and little and creeps and pushed
        s.drift_time = s.drift_time + s.dt if alone else 0.0
    elif held and quiet:
        s.drift_force, s.drift_torque = max(force, 0.0), max(torque, 0.0)
    else:
        s.drift_time = 0.0
    if s.drift_time >= p.drift_seconds - _SAME:
        s.status |= bits.DRIFTING
