"""Where the time of a tick goes: the tick once more, with a clock reading between its steps.

The body is that of `kernel.tick.step` and `move`; a test holds the two against each other.
"""

from __future__ import annotations

import numpy as np

from benchmarks.tick import Records, measured
from benchmarks.timing import compiled_clock_overhead, nanoseconds
from benchmarks.workload import Workload
from ur_admittance.kernel import bits
from ur_admittance.kernel.check import (
    check_joints,
    check_time,
    check_wrench_age,
    decide,
    note_events,
)
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.contact import clear_contact, damp, feel, sharpen
from ur_admittance.kernel.contact_motion import allow_braking, lead_lag, note_contact
from ur_admittance.kernel.desired import desired, take_goal
from ur_admittance.kernel.drift import watch_drift
from ur_admittance.kernel.kinematics import kinematics
from ur_admittance.kernel.law import (
    command_pose,
    feed_forward,
    gains,
    law,
    move_offset,
    re_anchor,
)
from ur_admittance.kernel.monitor import account, calm_down, watch
from ur_admittance.kernel.spatial import linear, quaternion_of, set_quaternion
from ur_admittance.kernel.tick import seed, to_joints, write
from ur_admittance.kernel.track import not_following, pose_error, reference, track
from ur_admittance.kernel.windup import hold_back, leash
from ur_admittance.kernel.wrench import accept_wrench, to_law_axes, wrench

STEPS = ("check", "kinematics", "wrench", "law", "command pose", "track", "limit, ik", "write")
CHECK, KINEMATICS, WRENCH, LAW, POSE, TRACK, IK, WRITE = range(len(STEPS))
LAPS = np.array([3, 1, 1, 1, 1, 2, 1, 1])  # clock readings of each step in one tick


@jit
def lap(timespec, spent, step, since):
    """Book the time since the last reading on a step."""
    now = nanoseconds(timespec)
    spent[step] += now - since
    return nanoseconds(timespec)


@jit
def timed_step(p, s, i, o, timespec, spent):
    t = nanoseconds(timespec)
    s.status = i.stop
    s.ticks += 1
    check_time(p, s, i)
    s.time += s.dt
    check_joints(p, s, i)
    t = lap(timespec, spent, CHECK, t)
    kinematics(p, s)
    set_quaternion(s.wxyz_WP, quaternion_of(s.R_WP))
    t = lap(timespec, spent, KINEMATICS, t)
    accept_wrench(p, s, i)
    check_wrench_age(p, s, i)
    wrench(p, s)
    watch_drift(p, s)
    account(p, s)
    watch(p, s)
    t = lap(timespec, spent, WRENCH, t)
    take_goal(s, i)
    if s.lead_time >= 0.0 and s.mode == bits.ACTIVE and not s.seeding and not_following(p, s):
        s.status |= bits.NOT_FOLLOWING
    decide(s)
    if s.seeding:
        seed(p, s)
        t = lap(timespec, spent, CHECK, t)
    else:
        t = lap(timespec, spent, CHECK, t)
        gains(p, s)
        pose_error(s)
        t = lap(timespec, spent, TRACK, t)
        desired(p, s)
        to_law_axes(p, s)
        if p.adapt:
            feel(p, s)
            sharpen(p, s)
        v_before = linear(s.v)
        law(p, s)
        if p.adapt:
            damp(p, s)
        calm_down(p, s)
        t = lap(timespec, spent, LAW, t)
        feed_forward(p, s)
        track(p, s)
        if p.adapt:
            lead_lag(p, s, v_before)
            allow_braking(p, s)
        else:
            clear_contact(s)
        t = lap(timespec, spent, TRACK, t)
        to_joints(p, s, False)
        t = lap(timespec, spent, IK, t)
        if s.status & bits.LIMITS:
            hold_back(p, s, s.V_lim if s.status & bits.SINGULARITY else s.V_cmd)
        note_contact(s)
        move_offset(s)
        command_pose(p, s)
        leash(p, s)
        re_anchor(p, s)
        reference(p, s)
        t = lap(timespec, spent, POSE, t)
    note_events(p, s, i)
    t = lap(timespec, spent, CHECK, t)
    write(s, i, o)
    lap(timespec, spent, WRITE, t)


@jit(entry=True)
def timed_steps(params, state, inputs, outputs, begin, q, wrenches, dt, timespec, spent, qd):
    """One pass. `spent[k]` receives the time of every step of tick k."""
    state[0] = begin[0]
    for k in range(q.shape[0]):
        measured(inputs[0], q, wrenches, dt, k)
        timed_step(params[0], state[0], inputs[0], outputs[0], timespec, spent[k])
        for n in range(6):
            qd[k, n] = outputs[0].qd[n]


def replay(workload: Workload) -> tuple[np.ndarray, np.ndarray]:
    """One pass: the joint rates (n, 6) rad/s, and the time of every step (n, steps) ns."""
    records, qd = Records.of(workload), np.empty_like(workload.q)
    spent = np.zeros((len(workload.q), len(STEPS)), np.int64)
    samples = workload.q, workload.wrench, workload.dt
    timed_steps(*records.four(), records.begin, *samples, np.zeros(2, np.int64), spent, qd)
    return qd, spent


def split(workload: Workload, passes: int) -> dict[str, float]:
    """ns of every step: the mean over the quieter half of the ticks."""
    overhead = compiled_clock_overhead()
    spent = np.concatenate([replay(workload)[1][1:] for _ in range(passes)])
    total = spent.sum(axis=1)
    quiet = spent[total <= np.median(total)]
    ns = np.maximum(quiet.mean(axis=0) - overhead * LAPS, 0.0)
    return dict(zip(STEPS, ns.tolist(), strict=True))
