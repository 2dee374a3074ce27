"""What a policy streams, 50 to 500 times a second: force, axes of the law, and its gains.

A streamed value is in force at the next tick, without a ramp. A spring that grows while it is tense
gives energy away, and so do axes that turn under it; that much must be in a tank, which is filled
by what the law's damping takes out and by springs that grow weaker, and holds no more than
`admittance.stream_energy`. While it is empty, the springs grow only as it is filled:

    E' <= E + tank,   tank' = min(tank - (E' - E) + dt v^T D v, most)       E = 1/2 x^T s K x

A mass that grows keeps its kinetic energy, and axes that turn between unequal masses add none. So,
whatever is streamed, no more than the tank's size is ever given beyond what came in.
"""

from __future__ import annotations

import math

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.law import turn_axes
from ur_admittance.kernel.spatial import (
    exp3,
    linear,
    log3,
    norm,
    quaternion,
    set_quaternion,
    shortest,
)

TARGET, AXES, MASS, DAMPING, STIFFNESS = 1, 2, 4, 8, 16
GAINS = MASS | DAMPING | STIFFNESS
STREAMED = {  # by name, and what each may be
    TARGET: ("target", "six numbers of at most 500 N and Nm"),
    AXES: ("orientation", "a rotation vector of at most 6.3 rad"),
    MASS: ("mass", "six numbers > 0 and <= 1000 kg and kg m^2"),
    DAMPING: ("damping", "six numbers > 0 and <= 1e5 N s/m and Nm s/rad"),
    STIFFNESS: ("stiffness", "six numbers >= 0 and <= 1e5 N/m and Nm/rad"),
    GAINS: ("gains", "streamed with admittance.integrator: exact only"),
}
MOST_MASS, MOST_GAIN, MOST_TARGET, MOST_TURN = 1e3, 1e5, 500.0, 6.3  # as in the configuration
_EASE = 1.0  # s, over which the force goes to zero and comes back


@jit
def clear_stream(p, s):
    """As configured, with a full tank."""
    s.tank = p.stream_energy
    s.ease = 1.0
    s.short = 0
    set_quaternion(s.wxyz_task, quaternion(p.wxyz_task))


@jit
def take_stream(s, i):
    """Take over what was streamed since the last tick."""
    s.stream_age += s.dt
    if s.target_count != i.target_count:
        s.target_count, s.stream_age = i.target_count, 0.0
    if s.stream_count == i.stream_count:
        return
    s.stream_count, s.streams = i.stream_count, i.streams
    set_quaternion(s.axes_wish, quaternion(i.axes))
    for n in range(6):
        s.target_wish[n], s.mass_wish[n] = i.target[n], i.mass[n]
        s.damping_wish[n], s.stiffness_wish[n] = i.damping[n], i.stiffness[n]


@jit
def spring_energy(s):
    """What the springs hold, J."""
    phi, energy = log3(quaternion(s.wxyz_offset)), 0.0
    for n in range(6):
        x = s.x[n] if n < 3 else phi[n - 3]
        energy += 0.5 * s.engaged * s.stiffness[n] * x * x
    return energy


@jit
def kinetic_energy(s):
    """What the masses hold, J."""
    energy = 0.0
    for n in range(6):
        energy += 0.5 * s.mass[n] * s.v[n] * s.v[n]
    return energy


@jit
def stream(p, s):
    """Force, axes and gains of this tick, from the configuration or from what is streamed."""
    ends = s.streams & TARGET and s.stream_age > p.stream_timeout
    s.ease = min(max(s.ease + (-s.dt if ends else s.dt) / _EASE, 0.0), 1.0)
    if ends and p.pressing:
        s.status |= bits.STREAM_STALE
    for n in range(6):
        s.force_goal[n] = s.ease * (s.target_wish[n] if s.streams & TARGET else p.force_target[n])
    task = quaternion(s.axes_wish) if s.streams & AXES else quaternion(p.wxyz_task)
    turned = task != quaternion(s.wxyz_task)
    changed = turned or s.short != 0
    if not (changed or s.streams & GAINS):
        return
    for n in range(6):
        s.tank += s.dt * s.damping[n] * s.v[n] * s.v[n]
        if s.streams & GAINS:
            changed = changed or s.mass[n] != s.mass_wish[n] or s.damping[n] != s.damping_wish[n]
            changed = changed or s.stiffness[n] != s.stiffness_wish[n]
    s.tank = min(s.tank, p.stream_energy)
    if not changed:
        return
    before = spring_energy(s)
    if turned:
        moved = kinetic_energy(s)
        turn_axes(p, s, task)
        moves = kinetic_energy(s)
        if moves > moved:
            for n in range(6):
                s.v[n] *= math.sqrt(moved / moves)
    for n in range(6):
        if s.streams & GAINS:
            mass = s.mass_wish[n]
            if mass > s.mass[n]:
                s.v[n] *= math.sqrt(s.mass[n] / mass)
            s.mass[n], s.damping[n] = mass, s.damping_wish[n]
            s.stiffness[n] = s.stiffness_wish[n]
            s.ramp = 1.0
        elif s.ramp >= 1.0:
            s.stiffness[n] = p.stiffness[n]
    s.step_dt = 0.0
    after = spring_energy(s)
    s.short = int(after > before + s.tank)
    if s.short:
        share = (before + s.tank) / after
        for n in range(6):
            s.stiffness[n] *= share
        after = before + s.tank
    s.tank = min(s.tank - (after - before), p.stream_energy)


@jit(entry=True)
def write_stream(params, inputs, given, target, axes, mass, damping, stiffness):
    """Write what is given for the next tick: all of it, or nothing if some of it is out of bounds.

    Gains that were never streamed are the configured ones. Damping that is not given follows the
    configured damping ratio, where there is one.

    Returns:
        0, or which is out of bounds: `TARGET`, `AXES`, `MASS`, `DAMPING`, `STIFFNESS`.
    """
    p, i = params[0], inputs[0]
    streams = i.streams | given
    for n in range(6):
        if given & TARGET and not abs(target[n]) <= MOST_TARGET:
            return TARGET
        if given & MASS and not (mass[n] > 0.0 and mass[n] <= MOST_MASS):
            return MASS
        least = 1e-9 if p.enabled[n] else 0.0
        if given & DAMPING and not (damping[n] >= least and damping[n] <= MOST_GAIN):
            return DAMPING
        if given & STIFFNESS and not (stiffness[n] >= 0.0 and stiffness[n] <= MOST_GAIN):
            return STIFFNESS
    if given & AXES:
        if not norm(linear(axes)) <= MOST_TURN:
            return AXES
    if streams & GAINS and p.integrator != bits.EXACT:
        return GAINS
    for n in range(6):
        if given & TARGET:
            i.target[n] = target[n]
        if streams & GAINS:
            M = mass[n] if given & MASS else i.mass[n] if i.streams & GAINS else p.mass[n]
            K = (
                stiffness[n]
                if given & STIFFNESS
                else (i.stiffness[n] if i.streams & GAINS else p.stiffness[n])
            )
            D = i.damping[n] if i.streams & GAINS else p.damping[n]
            if given & DAMPING:
                D = damping[n]
            elif given & GAINS and p.damping_ratio[n] >= 0.0:
                D = (
                    2.0
                    * p.damping_ratio[n]
                    * math.sqrt(M * (K if K > 0.0 else p.virtual_stiffness[n]))
                )
            i.mass[n], i.damping[n], i.stiffness[n] = M, D, K
    if given & AXES:
        set_quaternion(i.axes, shortest(exp3(linear(axes))))
    i.streams = streams
    i.stream_count += 1
    if given & TARGET:
        i.target_count += 1
    return 0
