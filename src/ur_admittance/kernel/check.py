"""Steps 1 and 9: are the inputs fit to use, and what happens when they, or anything later, are not.

Faults are bits of `s.status`. A hold bit makes the arm brake and wait, a stop bit makes it brake
and stay (`faults.py` has the words). Comparisons are written so that a NaN fails them.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.desired import LONGEST_STEP, STALE_AFTER
from ur_admittance.kernel.monitor import SWING
from ur_admittance.kernel.state import EVENTS
from ur_admittance.kernel.wrench import FULL

LONGEST_DT = 0.1  # s
GAP = 5.0  # periods
IK_FAILURES = 5  # in a row, after which the arm stops
BAD_JOINTS = 3  # likewise, samples that no joint can have got to
GOOD_TICKS = 50  # at rest and without a fault, before a hold ends
_JUMP = 3.0  # times what a joint can do in one tick
_SAME = 1e-9  # s, slack for sums of dt


@jit
def check_time(p, s, i):
    """`s.dt`: the time since the last tick, or the nominal period where that makes no sense."""
    s.dt_prev = s.dt
    s.dt = i.dt
    if not (i.dt > 0.0 and i.dt <= LONGEST_DT):
        s.dt = p.period
        s.bad_dts += 1
        s.status |= bits.BAD_DT
    if i.dt > GAP * p.period + _SAME:
        s.status |= bits.TIME_GAP
    # The next tick may come late: until then the command of this one must do no harm.
    s.hold = max(s.dt, min(GAP * p.period, LONGEST_DT))


@jit
def check_joints(p, s, i):
    """`s.q`: the measured joints, or where the commands put them since the last good one."""
    longest = max(s.dt, s.dt_prev)
    anywhere = s.seeding or s.mode == bits.INACTIVE or (s.at_rest and s.mode != bits.ACTIVE)
    sane = True
    for n in range(6):
        step, most = abs(i.q[n] - s.q[n]), _JUMP * p.qd_max[n] * longest + 1e-3
        if not (step - step == 0.0 if anywhere else step <= most):
            if sane:
                s.joint_step, s.joint_step_limit = step, most
            sane = False
    timely = i.joint_age >= -_SAME and i.joint_age < p.joint_timeout - _SAME
    if sane and timely:
        s.bad_joints = 0
        s.joint_silence = max(0.0, i.joint_age)
        for n in range(6):
            s.q[n] = i.q[n]
        return
    if sane and i.joint_age >= 0.0:
        s.joint_silence = i.joint_age
    else:
        s.joint_silence += s.dt
    if not sane:
        s.status |= bits.JOINTS_IMPLAUSIBLE
        s.bad_joints += 1
    for n in range(6):
        s.q[n] += s.qd_prev[n] * s.dt
    if s.joint_silence >= p.joint_timeout - _SAME:
        s.status |= bits.JOINTS_STALE
    if s.bad_joints >= BAD_JOINTS or s.joint_silence >= p.lost_timeout - _SAME:
        s.status |= bits.JOINTS_LOST


@jit
def slowed_by_itself(p, s, i):
    """After a gap in time the arm may have begun to brake by itself: the share of the last command
    that it still makes, by the measured joint rates, and no less than the joints can have slowed
    down to meanwhile. 1 where nothing is known, or nothing happened.
    """
    if not s.status & bits.TIME_GAP or s.at_rest or s.seeding:
        return 1.0
    along, size, least = 0.0, 0.0, 0.0
    for n in range(6):
        along += i.qd[n] * s.qd_prev[n]
        size += s.qd_prev[n] * s.qd_prev[n]
        if s.qd_prev[n] != 0.0:
            least = max(least, 1.0 - p.qdd_max[n] * s.dt / abs(s.qd_prev[n]))
    if not (along - along == 0.0 and size > 0.0):
        return 1.0
    return min(max(along / size, least), 1.0)


@jit
def check_wrench_age(p, s, i):
    """Silence of the sensor, whether its samples are late, unusable or frozen, is told by one
    clock.
    """
    silence = unheard(p, s, i)
    if frozen(p, s):
        s.status |= bits.WRENCH_FROZEN
    if (silence >= p.wrench_timeout - _SAME and silence > 0.0) or not s.wrench_seen:
        s.status |= bits.WRENCH_STALE
    if silence >= p.lost_timeout - _SAME:
        s.status |= bits.WRENCH_LOST


@jit
def unheard(p, s, i):
    """How long there has been no wrench that can be used, s."""
    silence = s.wrench_silence
    if i.wrench_age > silence:
        silence = i.wrench_age
    if frozen(p, s):
        silence = max(silence, (s.frozen - p.frozen_samples) * p.period)
    return silence


@jit
def frozen(p, s):
    """Whether the wrench has been the same for too long."""
    return p.frozen_samples > 0 and s.frozen >= p.frozen_samples


@jit
def decide(s):
    """The mode that the status asks for."""
    if s.mode == bits.INACTIVE or s.mode == bits.LEAVING:
        return
    if s.status & bits.STOPS:
        if s.mode != bits.STOPPED:
            s.reasons = 0
        s.reasons |= s.status & (bits.STOPS | bits.HOLDS)
        s.mode = bits.STOPPED
    elif s.status & bits.HOLDS and s.mode != bits.STOPPED:
        if s.mode == bits.ACTIVE:
            s.reasons = 0
        s.reasons |= s.status & bits.HOLDS
        s.mode = bits.HOLDING
        s.good_ticks = 0
    elif s.mode == bits.HOLDING and s.at_rest:
        s.good_ticks += 1
        if s.good_ticks > GOOD_TICKS:
            s.mode = bits.ACTIVE
            s.seeding = bits.SEED_KEEPING_D


@jit
def note_events(p, s, i):
    """Write down, once each, the faults that are new in this tick: which, when, the value and its
    limit.
    """
    new = s.status & ~s.status_prev & ~bits.LIMITS
    s.status_prev = s.status
    bit = 16
    while new >> bit:
        if (new >> bit) & 1:
            e = s.events[s.event_count % EVENTS]
            e.bit = bit
            e.time = s.time
            e.value, e.limit = measure(p, s, i, 1 << bit)
            s.event_count += 1
        bit += 1


@jit
def measure(p, s, i, mask):
    """The value that broke a limit, and the limit; zeros where there is no such number."""
    if mask == bits.BAD_DT:
        return i.dt, LONGEST_DT
    if mask == bits.TIME_GAP:
        return i.dt, GAP * p.period
    if mask == bits.WRENCH_STALE:
        return unheard(p, s, i), p.wrench_timeout
    if mask == bits.WRENCH_LOST:
        return unheard(p, s, i), p.lost_timeout
    if mask == bits.JOINTS_STALE:
        return s.joint_silence, p.joint_timeout
    if mask == bits.JOINTS_LOST:
        if s.bad_joints >= BAD_JOINTS:
            return s.joint_step, s.joint_step_limit
        return s.joint_silence, p.lost_timeout
    if mask == bits.WRENCH_FROZEN:
        return 1.0 * s.frozen, 1.0 * p.frozen_samples
    if mask == bits.OVER_FORCE:
        return s.force, s.force_limit
    if mask == bits.OVER_TORQUE:
        return s.torque, s.torque_limit
    if mask == bits.NOT_FOLLOWING:
        return s.lead_time, p.tracking_timeout
    if mask == bits.WRENCH_NOT_FINITE:
        return s.wrench_silence, p.wrench_timeout
    if mask == bits.WRENCH_SPIKE:
        return s.jump, s.jump_limit
    if mask == bits.JOINTS_IMPLAUSIBLE:
        return s.joint_step, s.joint_step_limit
    if mask == bits.DESIRED_STALE:
        return s.goal_age, STALE_AFTER
    if mask == bits.DESIRED_STEP:
        return s.goal_step, LONGEST_STEP
    if mask == bits.STREAM_STALE:
        return s.stream_age, p.stream_timeout
    if mask == bits.JOINT_OUTSIDE:
        return joint_outside(p, s)
    if mask == bits.CONTACT_UNSTABLE:
        return s.wave_last, SWING
    if mask == bits.SENSOR_SATURATED:
        return s.range_share, FULL
    if mask == bits.DRIFTING:
        return s.drift_time, p.drift_seconds
    if mask == bits.IK_FAILED:
        return 1.0 * s.ik_failures, 1.0 * IK_FAILURES
    return 0.0, 0.0


@jit
def joint_outside(p, s):
    """The joint that is farthest outside, and the end of its range, rad."""
    farthest, value, limit = 0.0, 0.0, 0.0
    for n in range(6):
        if s.q[n] - p.q_max[n] > farthest:
            farthest, value, limit = s.q[n] - p.q_max[n], s.q[n], p.q_max[n]
        if p.q_min[n] - s.q[n] > farthest:
            farthest, value, limit = p.q_min[n] - s.q[n], s.q[n], p.q_min[n]
    return value, limit
