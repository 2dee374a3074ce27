"""What comes at a random closed loop: starts, inputs, times, surfaces, changes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ur_admittance.kernel import bits

STOPPED, ACTIVE, STOP_REQUESTED = bits.STOPPED, bits.ACTIVE, bits.STOP_REQUESTED

STEADY, JITTERED, WILD = 0, 1, 2  # dt: nominal; 0.2 to 4.9 periods; anything in (0, 0.1] and worse


class Scene(NamedTuple):
    """How to run: see `loops.random_runs`."""

    period: float
    timing: int
    changes: bool


@njit
def move_walls(p, p_WP, qd, V):
    """Put walls somewhere else, but no nearer than the arm can stop before them."""
    time = total = 0.0
    for n in range(6):
        time = max(time, abs(qd[n]) / p.qdd_max[n])
        total += abs(qd[n])
    time = max(
        time,
        2.0 * math.sqrt(V[0] ** 2 + V[1] ** 2 + V[2] ** 2) / p.a_max,
        2.0 * math.sqrt(V[3] ** 2 + V[4] ** 2 + V[5] ** 2) / p.alpha_max,
    )
    time += 0.5
    for n in range(3):
        if np.random.random() < 0.5:
            room = abs(V[n]) * time + 0.5 * total * total * p.reach * time * time
            room += np.random.random() * 0.2
            if V[n] > 0.0:
                p.workspace_max[n] = p_WP[n] + room
            else:
                p.workspace_min[n] = p_WP[n] - room


@njit
def start(p, q):
    """Anywhere in the joints' range; often near a singularity or near the end of a joint."""
    for n in range(6):
        low, high = max(p.q_min[n], -3.1), min(p.q_max[n], 3.1)
        q[n] = np.random.uniform(low, high)
        if np.random.random() < 0.05:
            q[n] = high - 0.01 * np.random.random()
    kind = np.random.randint(4)
    if kind == 1:
        q[4] = np.random.normal() * 0.02
    elif kind == 2:
        q[2] = np.random.normal() * 0.05


@njit
def random_inputs(s, i, q, push, strength, p_WP):
    """The next wrench and joints, good or bad, now and then a new goal, a stop or a reset."""
    if np.random.random() < 0.02:
        for n in range(3):
            push[n] = np.random.normal() * strength
            push[n + 3] = np.random.normal() * strength * 0.1
    for n in range(6):
        i.wrench[n] = push[n] + np.random.normal() * (0.5 if n < 3 else 0.05)
        i.q[n] = q[n]
    i.wrench_age = i.joint_age = 0.0
    if np.random.random() < 0.002:
        bad = (np.nan, np.inf, -np.inf, 1e300)
        i.wrench[np.random.randint(6)] = bad[np.random.randint(4)]
    if np.random.random() < 0.002:
        i.wrench_age = np.random.random() * 0.2
    if np.random.random() < 0.002:
        i.joint_age = np.random.random() * 0.2
    if np.random.random() < 0.001:
        i.q[np.random.randint(6)] = np.nan
    if np.random.random() < 0.01:
        for n in range(3):
            i.goal_p[n] = p_WP[n] + np.random.normal() * 0.2
            i.goal_V[n] = np.random.normal() * 0.1 * (np.random.random() < 0.5)
            i.goal_V[n + 3] = np.random.normal() * 0.2 * (np.random.random() < 0.5)
        wxyz = np.random.normal(0.0, 1.0, 4)
        wxyz /= np.sqrt((wxyz * wxyz).sum())
        i.goal_wxyz[:] = wxyz
        i.goal_count += 1
    if np.random.random() < 0.02:  # a policy streams, within its bounds
        i.stream_count += 1
        i.streams = np.random.randint(32)
        i.target_count += i.streams & 1
        if i.streams > 3:
            i.streams |= 28  # gains come together
        wxyz = np.random.normal(0.0, 1.0, 4)
        i.axes[:] = wxyz / np.sqrt((wxyz * wxyz).sum())
        for n in range(6):
            i.target[n] = np.random.normal() * 20.0
            i.mass[n] = math.exp(np.random.uniform(-2.0, 4.0))
            i.damping[n] = math.exp(np.random.uniform(0.0, 6.0))
            i.stiffness[n] = math.exp(np.random.uniform(0.0, 8.0))
    if np.random.random() < 0.003:
        i.stop = STOP_REQUESTED
    elif s.mode == STOPPED and s.at_rest == 1 and np.random.random() < 0.2:
        i.stop, s.mode, s.seeding = 0, ACTIVE, 1


@njit
def random_time(i, scene):
    """Write the dt that the tick is told. Returns the one that really passes."""
    dt = scene.period
    if scene.timing == JITTERED:
        dt = min(0.1, scene.period * np.random.uniform(0.2, 4.9))
    elif scene.timing == WILD:
        dt = np.random.uniform(1e-4, 0.1)
    i.dt = dt
    if np.random.random() < 0.002:
        bad = (0.0, -1.0, np.nan, 1.0)
        i.dt = bad[np.random.randint(4)]
        dt = scene.period
    return dt


@njit
def change(p, other):
    """Take over what may change while running."""
    p.generation += 1
    p.mass[:], p.damping[:], p.stiffness[:] = other.mass, other.damping, other.stiffness
    p.enabled[:] = other.enabled
    p.ramp_seconds = other.ramp_seconds
    p.velocity_gain[:] = other.velocity_gain
    p.filter_time_constant = other.filter_time_constant
    p.deadband_force, p.deadband_hard = other.deadband_force, other.deadband_hard
    p.v_max, p.w_max = other.v_max, other.w_max
    p.a_max, p.alpha_max = other.a_max, other.alpha_max
    p.jerk_max, p.angular_jerk_max = other.jerk_max, other.angular_jerk_max
    p.ik_damping, p.singularity_threshold = other.ik_damping, other.singularity_threshold
    p.max_force, p.max_torque = other.max_force, other.max_torque
    p.adapt, p.monitor, p.arm_lag = other.adapt, other.monitor, other.arm_lag
    p.contact_braking = other.contact_braking
    p.pressing, p.force_axes[:], p.force_target[:] = (
        other.pressing,
        other.force_axes,
        other.force_target,
    )
    p.force_speed[:], p.force_travel[:] = other.force_speed, other.force_travel


@njit
def touch(p, i, X_WP, normal, there, stiff):
    """Add the force of a surface to the wrench, in the sensor's axes (and no torque)."""
    depth = 0.0
    for n in range(3):
        depth += normal[n] * (there[n] - X_WP[n, 3])
    if not depth > 0.0:
        return
    for n in range(3):
        for m in range(3):
            for k in range(3):
                i.wrench[n] += p.R_PS[m, n] * X_WP[k, m] * normal[k] * stiff * depth
