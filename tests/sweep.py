"""Random closed loops with an oracle beside them: any wrench, any legal configuration, any timing.

The oracle knows nothing of the kernel's kinematics: it multiplies 4 x 4 matrices and differentiates
the chain itself. What counts is the motion the joints make: `J qd`.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

import ur_admittance as ua
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.tick import step
from ur_admittance.packing import pack

JOINT_BITS = bits.JOINT_POSITION_LIMIT | bits.JOINT_VELOCITY_LIMIT | bits.JOINT_ACCELERATION_LIMIT
FORCED = JOINT_BITS | bits.SINGULARITY | bits.STOPPING_DISTANCE
BEYOND = bits.BEYOND_ACCELERATION
HELD = FORCED | BEYOND | bits.WORKSPACE_LIMIT | bits.OUTSIDE_WORKSPACE
CONTACT_BRAKING = bits.CONTACT_BRAKING
STOPPED, ACTIVE = bits.STOPPED, bits.ACTIVE
STOP_REQUESTED = bits.STOP_REQUESTED

STEADY, JITTERED, WILD = 0, 1, 2  # dt: nominal; 0.2 to 4.9 periods; anything in (0, 0.1] and worse


class Scene(NamedTuple):
    """How to run: see `random_runs`."""

    period: float
    timing: int
    changes: bool


# columns of the result
COLUMNS = 18
NOT_FINITE, QD, QDD, Q, SPEED, TURN, FREE, FORCED_TICKS = range(8)
FORCED_MOST, FORCED_SPEED, WALL, TICKS, LATCHED, MOVED, SILENT, JERK, JERKY, BRAKED = range(
    8, COLUMNS
)

# the first tick of a run that left the acceleration limit: enough to ask whether it had to
CASE = np.dtype(
    [
        ("J", float, (6, 6)),
        ("low", float, (6,)),
        ("high", float, (6,)),
        ("V_prev", float, (6,)),
        ("reach", float, (2,)),  # m/s and rad/s that the limits allow in this tick
        ("caps", float, (2,)),  # m/s, rad/s
        ("status", np.int64),
        ("hard", float),
    ]
)


def legal_params(rng: np.random.Generator, arms: int, variants: int, rate: float) -> np.ndarray:
    """Records of random legal configurations, shape (arms, variants); a row shares an arm."""
    rows = []
    for _ in range(arms):
        X_EP = np.eye(4)
        X_EP[:3, :3] = _rotation(rng)
        X_EP[:3, 3] = rng.uniform(-0.2, 0.2, 3)
        model = ua.RobotModel.ur(
            rng.choice(ua.RobotModel.arms()), base=rng.choice(["base", "base_link"]), X_EP=X_EP
        )
        slow = float(rng.choice([0.1, 0.3, 1.0]))
        weak = np.maximum(0.5, model.qdd_max * rng.choice([0.1, 0.3, 1.0]))
        fixed = {
            "control_rate": rate,
            "limits.joint_velocity": (model.qd_max * slow).tolist(),
            "limits.joint_acceleration": weak.tolist(),
            "limits.joint_margin": float(rng.choice([0.0, 0.0873, 0.3])),
            "admittance.frame": str(rng.choice(["probe", "base"])),
            "admittance.integrator": str(rng.choice(["exact", "rk4", "semi_implicit_euler"])),
            "admittance.engage_seconds": float(rng.choice([0.0, 0.1, 1.0])),
        }
        configs = [_legal(fixed | _random_values(rng, rate)) for _ in range(variants)]
        rows.append(np.concatenate([pack(config, model) for config in configs]))
    return np.stack(rows)


def _legal(values: dict[str, object]) -> ua.Config:
    """With the exact integrator where another one would not be stable."""
    try:
        return ua.Config.from_dict(values)
    except ua.ConfigError:
        return ua.Config.from_dict(values | {"admittance.integrator": "exact"})


def _random_values(rng: np.random.Generator, rate: float) -> dict[str, object]:
    def spread(low: float, high: float, size: int | None = None):
        return np.exp(rng.uniform(math.log(low), math.log(high), size))

    timeout = max(0.01, 1.5 / rate)
    stiffness = np.r_[spread(1, 5e3, 3), spread(0.1, 300, 3)] * (rng.random(6) < 0.5)
    presses = (rng.random(6) < 0.3) & (rng.random() < 0.4)
    jerk = rng.random() < 0.3
    return {
        "admittance.mass": np.r_[spread(0.2, 100, 3), spread(0.02, 10, 3)].tolist(),
        "admittance.stiffness": stiffness.tolist(),
        "admittance.orientation": (rng.normal(size=3) * (rng.random() < 0.5)).tolist(),
        "admittance.damping_ratio": spread(0.2, 5, 6).tolist(),
        "admittance.enabled_axes": (rng.random(6) < 0.85).tolist(),
        "admittance.ramp_seconds": float(rng.choice([0.0, 0.1, 0.5])),
        "admittance.filter_coefficient": float(rng.choice([0.1, 0.8, 1.0])),
        "admittance.deadband_force": float(rng.choice([0.0, 1.5])),
        "admittance.deadband_torque": float(rng.choice([0.0, 0.2])),
        "admittance.deadband_kind": str(rng.choice(["soft", "hard"])),
        "tracking.velocity_gain": float(rng.choice([0.0, 1.0, 5.0, 30.0, 100.0])),
        "max_linear_velocity": float(spread(0.02, 3)),
        "max_angular_velocity": float(spread(0.05, 5)),
        "limits.max_linear_acceleration": float(spread(0.1, 30)),
        "limits.max_angular_acceleration": float(spread(0.2, 60)),
        "limits.max_linear_jerk": float(spread(5, 500)) if jerk else 0.0,
        "limits.max_angular_jerk": float(spread(5, 500)) if jerk else 0.0,
        "ik.damping": float(spread(0.005, 0.5)),
        "ik.singularity_threshold": float(spread(0.003, 0.1)),
        "safety.max_force": float(rng.choice([200.0, 5000.0])),
        "safety.max_torque": float(rng.choice([30.0, 1000.0])),
        "safety.spike_force": float(rng.choice([0.0, 100.0])),
        "contact.adapt": bool(rng.random() < 0.5),
        "contact.monitor": bool(rng.random() < 0.5),
        "contact.force_noise": 0.5,
        "force.enabled_axes": presses.tolist(),
        "force.target": (rng.normal(size=6) * [20, 20, 20, 2, 2, 2]).tolist(),
        "force.max_speed": spread(0.01, 1, 6).tolist(),
        "force.max_travel": spread(0.001, 1, 6).tolist(),
        "force.approach_speed": spread(0.005, 0.5, 6).tolist(),
        "arm.lag": float(rng.choice([0.0, 0.005, 0.02])),
        "limits.max_contact_braking": float(rng.choice([0.0, 5.0, 15.0, 50.0])),
        "safety.wrench_timeout": timeout,
        "safety.joint_timeout": timeout,
        "safety.lost_timeout": 10 * timeout,
    }


def _rotation(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def random_runs(
    params: np.ndarray, scene: Scene, runs: int, ticks: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """One row of peaks for each run (see the columns above), and its case."""
    peaks, cases = np.zeros((runs, COLUMNS)), np.zeros(runs, CASE)
    lanes = [range(k, min(runs, k + 200)) for k in range(0, runs, 200)]

    def lane(part: range, ticks: int = ticks) -> None:
        records = (layout.new_state(), layout.new_inputs(), layout.new_outputs())
        _lane(params, scene, part[0], part[-1] + 1, ticks, seed, peaks, cases,
              np.zeros(1, layout.PARAMS), *records, layout.new_state())  # fmt: skip

    lane(range(1), 0)  # compile before the threads start
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lane, lanes))
    return peaks, cases


@jit(entry=True)
def _lane(params, scene, first, last, ticks, seed, peaks, cases, P, S, inputs, outputs, blank):
    for r in range(first, last):
        np.random.seed(seed + r)
        row = params[np.random.randint(params.shape[0])]
        P[0] = row[np.random.randint(row.shape[0])]
        S[0] = blank[0]
        _run(row, scene, ticks, peaks[r], cases[r], P, S, inputs, outputs)


@njit(nogil=True)
def _run(row, scene, ticks, peak, case, P, S, inputs, outputs):
    p, s, i, o = P[0], S[0], inputs[0], outputs[0]
    p.period = scene.period
    q, qd, V, J, frames = (
        np.empty(6),
        np.zeros(6),
        np.zeros(6),
        np.zeros((6, 6)),
        np.empty((8, 4, 4)),
    )
    _start(p, q)
    p_WP = _jacobian(p, q, J, frames)
    room = math.exp(np.random.uniform(math.log(0.005), 0.0))
    for n in range(3):
        if np.random.random() < 0.7:
            p.workspace_min[n] = p_WP[n] - np.random.random() * room
        if np.random.random() < 0.7:
            p.workspace_max[n] = p_WP[n] + np.random.random() * room
    s.mode, s.seeding = ACTIVE, 1
    s.q[:] = q
    i.stop, i.goal_count, i.stream_count, i.target_count, i.streams = 0, 0, 0, 0, 0
    push, strength = np.zeros(6), math.exp(np.random.uniform(0.0, math.log(3000.0)))
    A = np.zeros(6)
    latched = free = False
    # half of the runs meet a surface on their way
    normal = np.random.normal(0.0, 1.0, 3)
    normal /= np.sqrt((normal * normal).sum())
    gap = 0.01 * np.random.random() if np.random.random() < 0.5 else 1e9
    there = np.array(p_WP) - gap * normal
    stiff = math.exp(np.random.uniform(math.log(1e3), math.log(1e5)))
    for _ in range(ticks):
        # an arm that follows its commands, while dt passes
        dt = _random_time(i, scene)
        for n in range(6):
            q[n] += qd[n] * dt
            peak[Q] = max(peak[Q], q[n] - p.q_max[n], p.q_min[n] - q[n])
        before = p_WP
        p_WP = _jacobian(p, q, J, frames)
        for n in range(3):
            beyond = max(p_WP[n] - p.workspace_max[n], p.workspace_min[n] - p_WP[n])
            peak[WALL] = max(peak[WALL], beyond)
            peak[MOVED] += abs(p_WP[n] - before[n])
        _random_inputs(s, i, q, push, strength, p_WP)
        _touch(p, i, frames[6], normal, there, stiff)
        changed = scene.changes and np.random.random() < 0.01
        if changed:
            _change(p, row[np.random.randint(row.shape[0])])
            _move_walls(p, p_WP, qd, V)
        step(p, s, i, o)
        # what the oracle sees
        peak[TICKS] += 1
        for n in range(6):
            if not abs(o.qd[n]) < 1e9 or not abs(o.q_ref[n]) < 1e9:
                peak[NOT_FINITE] += 1
                return
            peak[QD] = max(peak[QD], abs(o.qd[n]) / p.qd_max[n])
            peak[QDD] = max(peak[QDD], abs(o.qd[n] - qd[n]) / (p.qdd_max[n] * dt))
        latched = latched and s.mode == STOPPED
        if latched:
            for n in range(6):
                peak[LATCHED] = max(peak[LATCHED], abs(o.qd[n]))
        latched = s.mode == STOPPED and s.at_rest == 1
        dv = dw = speed = turn = speed_prev = turn_prev = jerk = angular_jerk = 0.0
        V_prev = V.copy()
        for n in range(6):
            t = 0.0
            for m in range(6):
                t += J[n, m] * o.qd[m]
            a = (t - V[n]) / dt
            if n < 3:
                dv += (t - V[n]) ** 2
                speed += t * t
                speed_prev += V[n] * V[n]
                jerk += (a - A[n]) ** 2
            else:
                dw += (t - V[n]) ** 2
                turn += t * t
                turn_prev += V[n] * V[n]
                angular_jerk += (a - A[n]) ** 2
            V[n], A[n] = t, a
        fast = math.sqrt(speed) / max(p.v_max, math.sqrt(speed_prev))
        spin = math.sqrt(turn) / max(p.w_max, math.sqrt(turn_prev))
        forced = o.status & FORCED
        if scene.changes and forced:
            peak[FORCED_SPEED] = max(peak[FORCED_SPEED], fast, spin)
        else:
            peak[SPEED], peak[TURN] = max(peak[SPEED], fast), max(peak[TURN], spin)
        a_max = p.a_max
        if o.status & CONTACT_BRAKING:
            # the limit is the arm's, and the command may lead it by its lag
            a_max = max(a_max, p.contact_braking * (dt + 0.8 * p.arm_lag) / dt)
            peak[BRAKED] += 1
        hard = max(math.sqrt(dv) / (a_max * dt), math.sqrt(dw) / (p.alpha_max * dt))
        if hard > 1.0 + 1e-5:
            peak[FORCED_TICKS] += 1
            peak[FORCED_MOST] = max(peak[FORCED_MOST], hard)
            if not (o.status & BEYOND and o.status & HELD & ~BEYOND):
                peak[SILENT] += 1
            if case.hard == 0.0:
                case.J[:], case.low[:], case.high[:], case.V_prev[:] = J, s.low, s.high, V_prev
                case.reach[0], case.reach[1] = a_max * dt, p.alpha_max * dt
                case.caps[0], case.caps[1] = s.v_cap, s.w_cap
                case.status, case.hard = o.status, hard
        elif not forced:
            peak[FREE] = max(peak[FREE], hard)
        # the jerk limit is kept where nothing more important interferes, in steady time
        was_free, free = free, not (o.status & (HELD | CONTACT_BRAKING) or changed)
        if p.jerk_max > 0.0 and was_free and free and scene.timing == STEADY:
            rough = max(
                math.sqrt(jerk) / (p.jerk_max * dt),
                math.sqrt(angular_jerk) / (p.angular_jerk_max * dt),
            )
            peak[JERK] = max(peak[JERK], rough)
            peak[JERKY] += rough > 1.0 + 1e-6
        qd[:] = o.qd


@njit
def _move_walls(p, p_WP, qd, V):
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
def _start(p, q):
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
def _random_inputs(s, i, q, push, strength, p_WP):
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
def _random_time(i, scene):
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
def _change(p, other):
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
def _touch(p, i, X_WP, normal, there, stiff):
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


@njit
def _jacobian(p, q, J, frames):
    """The tool point and the Jacobian, by multiplying 4 x 4 matrices along the chain."""
    X = np.eye(4)
    for n in range(6):
        X = X @ _matrix(p.chain_R[n], p.chain_p[n])
        frames[n] = X
        turn = np.eye(4)
        turn[0, 0] = turn[1, 1] = math.cos(q[n])
        turn[1, 0] = math.sin(q[n])
        turn[0, 1] = -turn[1, 0]
        X = X @ turn
    X = X @ _matrix(p.chain_R[6], p.chain_p[6])
    frames[6] = X
    for n in range(6):
        z = frames[n, :3, 2]
        J[:3, n] = np.cross(z, X[:3, 3] - frames[n, :3, 3])
        J[3:, n] = z
    return X[0, 3], X[1, 3], X[2, 3]


@njit
def _matrix(R, t):
    X = np.eye(4)
    X[:3, :3] = R
    X[:3, 3] = t
    return X
