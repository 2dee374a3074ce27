"""The port watched: energy through it, and whether what is touched and the arm shake each other.

The energy account is `E = int F . V dt` with the measured force and the measured motion: what the
world put in. A passive arm never gives back more, so E does not fall below zero (but for what was
stored at the start).

An oscillation is a force that swings to and fro within the band of contact instabilities, 1 to 33
Hz, while no work is put in along it: a hand that shakes the tool works all the time, a surface or a
hand that is shaken by the arm does not. It is damped further; if it goes on all the same, the arm
stops.
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
    scale,
    set_linear,
    sub,
    turn,
)

SWING = 4.0  # N, from the mean; less is no oscillation
_MEAN = 0.15  # s, over which the mean is taken
_SHORTEST, _LONGEST = 0.015, 0.4  # s, a half-wave
_SEEN = 2  # half-waves
_GOES_ON = 4  # half-waves that hardly abate; three may be an impact and a hand that leans in
_TOO_LONG = 0.33  # s since the first
_UNABATED = 0.9  # of the half-wave two before
_WORKED = 0.25  # share of the flow of energy that a hand puts in, and a shaken thing does not
_CALM = 1.0  # s, over which the further damping fades


@jit
def account(p, s):
    """Energy that came in through the port since the last tick, by the mean force on the way."""
    f = turn(s.R_WP, turn(p.R_PS, linear(s.F_S_comp)))
    t = turn(s.R_WP, turn(p.R_PS, angular(s.F_S_comp)))
    if s.seeding == bits.SEED_ALL:
        s.energy = s.energy_given = 0.0
    way, angle = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if s.port_known and not s.seeding:
        for n in range(6):
            dq = s.q[n] - s.port_q[n]
            way = add(way, scale((s.J[0, n], s.J[1, n], s.J[2, n]), dq))
            angle = add(angle, scale((s.J[3, n], s.J[4, n], s.J[5, n]), dq))
    # force and torque act at S, and so must the way
    at_S = add(way, cross(angle, turn(s.R_WP, linear(p.p_PS))))
    mean = scale(add(f, linear(s.port_F)), 0.5)
    mean_t = scale(add(t, angular(s.port_F)), 0.5)
    s.energy += dot(mean, at_S) + dot(mean_t, angle)
    s.energy_given = max(s.energy_given, -s.energy)
    for n in range(3):
        s.port_F[n], s.port_F[n + 3] = f[n], t[n]
        s.port_way[n] = at_S[n]
        s.port_mean[n] += min(1.0, s.dt / _MEAN) * (f[n] - s.port_mean[n])
    for n in range(6):
        s.port_q[n] = s.q[n]
    if not s.port_known or s.seeding:
        set_linear(s.port_mean, f)
    s.port_known = 1


@jit
def forget_swings(s):
    s.swings = s.shaken = 0
    s.swing_age = s.swing_work = s.swing_flow = 0.0
    s.wave_last = s.wave_before = s.wave_third = 0.0


@jit
def watch(p, s):
    """Count half-waves of the force; say when they are too many, and when they do not end."""
    s.calm = max(0.0, s.calm - s.dt / _CALM)
    if not p.monitor or s.mode != bits.ACTIVE or s.seeding:
        s.calm = 0.0
        set_linear(s.wave, (0.0, 0.0, 0.0))
        forget_swings(s)
        return
    off, wave = sub(linear(s.port_F), linear(s.port_mean)), linear(s.wave)
    size, now, along = norm(wave), norm(off), dot(off, wave)
    s.wave_age += s.dt
    s.swing_age += s.dt
    if size > 0.0:
        way = dot(linear(s.port_way), wave) / (size * size)
        work = way * dot(linear(s.port_F), wave)
        s.swing_work += work
        s.swing_flow += abs(work)
    if not size > SWING:
        if now > size or not along > 0.0:
            set_linear(s.wave, off)
            s.wave_age = 0.0
    elif along > size * size:
        set_linear(s.wave, off)
    elif along < 0.0 and now > SWING:
        if s.wave_age < _SHORTEST or s.wave_age > _LONGEST:
            forget_swings(s)
        s.swings += 1
        s.wave_third, s.wave_before, s.wave_last = s.wave_before, s.wave_last, size
        s.shaken = int(s.swing_work <= _WORKED * s.swing_flow)  # by whole half-waves
        set_linear(s.wave, off)
        s.wave_age = 0.0
    if s.wave_age > _LONGEST:
        forget_swings(s)
        set_linear(s.wave, (0.0, 0.0, 0.0))
        s.wave_age = 0.0
    if s.swings == 0:
        s.swing_age = s.swing_work = s.swing_flow = 0.0
    if s.swings < _SEEN or not s.shaken:
        return
    s.calm = 1.0
    unabated = s.wave_last >= _UNABATED * s.wave_third
    if s.swings >= _GOES_ON and s.swing_age >= _TOO_LONG and unabated:
        s.status |= bits.CONTACT_UNSTABLE


@jit
def calm_down(p, s):
    """The law's step, damped once more: up to twice the damping of every translation."""
    if not s.calm > 0.0:
        return
    for k in range(3):
        if p.enabled[k]:
            z = s.calm * s.dt * s.damping[k] / s.mass[k]
            change = s.v[k] * z / (1.0 + z)
            s.v[k] -= change
            s.dx[k] -= change * s.dt
