"""One tick, top to bottom: the whole controller. Four records in, nothing else touched, nothing
allocated.
"""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.check import (
    IK_FAILURES,
    check_joints,
    check_time,
    check_wrench_age,
    decide,
    note_events,
    slowed_by_itself,
)
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.contact import clear_contact, damp, feel, sharpen
from ur_admittance.kernel.contact_motion import allow_braking, lead_lag, note_contact
from ur_admittance.kernel.desired import desired, take_goal
from ur_admittance.kernel.drift import watch_drift
from ur_admittance.kernel.force import clear_force, press
from ur_admittance.kernel.ik import inverse_kinematics
from ur_admittance.kernel.kinematics import kinematics
from ur_admittance.kernel.law import (
    command_pose,
    feed_forward,
    fold,
    gains,
    law,
    move_offset,
    offset_from,
    re_anchor,
)
from ur_admittance.kernel.limiter import limit
from ur_admittance.kernel.monitor import account, calm_down, watch
from ur_admittance.kernel.spatial import (
    dot,
    linear,
    log3,
    quaternion,
    quaternion_of,
    set_linear,
    set_quaternion,
    write_pose,
)
from ur_admittance.kernel.stream import clear_stream, stream, take_stream
from ur_admittance.kernel.track import not_following, pose_error, reference, track
from ur_admittance.kernel.viability import slow_together
from ur_admittance.kernel.windup import hold_back, hold_back_force, leash
from ur_admittance.kernel.wrench import accept_wrench, to_law_axes, wrench

# what `update` returns
WRONG_Q = 1
WRONG_WRENCH = 2
STOPPED_NOW = 3


@jit
def step(p, s, i, o):
    """One tick on four records."""
    s.status = i.stop
    s.ticks += 1
    i.mode, i.generation = s.mode, p.generation
    check_time(p, s, i)
    s.time += s.dt
    check_joints(p, s, i)
    kinematics(p, s)
    set_quaternion(s.wxyz_WP, quaternion_of(s.R_WP))
    accept_wrench(p, s, i)
    check_wrench_age(p, s, i)
    wrench(p, s)
    watch_drift(p, s)
    account(p, s)
    watch(p, s)
    take_goal(s, i)
    take_stream(s, i)
    if s.mode == bits.ACTIVE and not s.seeding and not_following(p, s):
        s.status |= bits.NOT_FOLLOWING
    if s.ik_failures >= IK_FAILURES:
        s.status |= bits.IK_FAILED
    decide(s)
    if s.seeding or s.mode == bits.INACTIVE:
        seed(p, s)
    elif s.mode == bits.ACTIVE:
        move(p, s)
    else:
        share = slowed_by_itself(p, s, i)
        if share < 1.0:
            follow(p, s, share)
        else:
            brake(p, s)
    note_events(p, s, i)
    write(s, i, o)


@jit
def seed(p, s):
    """At rest where the arm is. The first command after an activation or a hold is exactly zero."""
    p_WP, wxyz_WP = linear(s.p_WP), quaternion(s.wxyz_WP)
    clear_stream(p, s)
    set_linear(s.p_WC, p_WP)
    set_quaternion(s.wxyz_WC, wxyz_WP)
    if s.seeding == bits.SEED_KEEPING_D:
        offset_from(p, s, p_WP, wxyz_WP)
        fold(p, s, True)
    else:
        set_linear(s.p_WD, p_WP)
        set_quaternion(s.wxyz_WD, wxyz_WP)
        set_linear(s.x, (0.0, 0.0, 0.0))
        set_quaternion(s.wxyz_offset, (1.0, 0.0, 0.0, 0.0))
        if s.goal_age > 0.0:  # no goal was given: D is where the arm is
            set_linear(s.p_WG, p_WP)
            set_quaternion(s.wxyz_WG, wxyz_WP)
            s.at_goal = 1
            s.goal_age = 1e9
    for n in range(6):
        s.v[n] = s.dx[n] = s.rate[n] = s.error[n] = 0.0
        s.V_WD[n] = s.V_track[n] = s.V_lim[n] = s.V_mem[n] = s.A_mem[n] = 0.0
        s.mass[n], s.damping[n], s.stiffness[n] = p.mass[n], p.damping[n], p.stiffness[n]
        s.q_ref[n] = s.q[n]
    s.generation, s.ramp, s.step_dt = p.generation, 1.0, 0.0
    s.engaged = 0.0
    s.lead_time = 0.0
    s.ik_failures = 0
    s.good_ticks = 0
    s.seeding = bits.SEED_NOTHING
    halt(s)
    clear_contact(s)
    clear_force(s)


@jit
def halt(s):
    """Zero velocity, exactly."""
    for n in range(6):
        s.qd[n] = s.qd_prev[n] = s.V_cmd[n] = s.V_prev[n] = s.V_mem[n] = s.A_mem[n] = 0.0
        s.V_lim[n] = s.q_ref_rate[n] = 0.0
    s.at_rest = 1


@jit
def move(p, s):
    """The law moves the arm: steps 4 to 8."""
    gains(p, s)
    stream(p, s)
    pose_error(s)
    desired(p, s)
    to_law_axes(p, s)
    if p.adapt or p.pressing:
        feel(p, s)
    if p.adapt:
        sharpen(p, s)
    v_before = linear(s.v)
    law(p, s)
    if p.pressing:
        press(p, s)
    else:
        clear_force(s)
    if p.adapt:
        damp(p, s)
    calm_down(p, s)
    feed_forward(p, s)
    track(p, s)
    if p.adapt or p.pressing:
        lead_lag(p, s, v_before)
        allow_braking(p, s)
    else:
        clear_contact(s)
    to_joints(p, s, False)
    if s.status & bits.LIMITS:
        hold_back(p, s, s.V_lim if s.status & bits.SINGULARITY else s.V_cmd)
    if p.pressing:
        hold_back_force(p, s)
    note_contact(s)
    move_offset(s)
    command_pose(p, s)
    leash(p, s)
    re_anchor(p, s)
    reference(p, s)


@jit
def brake(p, s):
    """To rest inside the limits, then hold. The law waits; C stays with the arm."""
    if s.at_rest:
        halt(s)
        if s.mode == bits.LEAVING:
            s.mode = bits.INACTIVE
        return
    wait(s)
    to_joints(p, s, True)
    reference(p, s)


@jit
def follow(p, s, share):
    """Command what the arm does by itself: so much of the last command, along the same line in
    joint space. The next tick brakes on from there.
    """
    wait(s)
    for n in range(6):
        s.qd[n] = s.qd_prev[n] = share * s.qd_prev[n]
        s.A_mem[n] = 0.0
    s.at_rest = int(share == 0.0)
    for n in range(6):
        v = 0.0
        for m in range(6):
            v += s.J[n, m] * s.qd[m]
        s.V_cmd[n] = s.V_lim[n] = s.V_prev[n] = s.V_mem[n] = v
    s.status |= bits.BEYOND_ACCELERATION | bits.JOINT_ACCELERATION_LIMIT
    reference(p, s)


@jit
def wait(s):
    """The law waits, and C stays with the arm."""
    clear_contact(s)
    clear_force(s)
    pose_error(s)
    for n in range(6):
        s.V_track[n] = s.V_WD[n] = s.v[n] = s.dx[n] = s.rate[n] = 0.0
    set_linear(s.p_WC, linear(s.p_WP))
    set_quaternion(s.wxyz_WC, quaternion(s.wxyz_WP))


@jit
def to_joints(p, s, stopping):
    """Steps 7 and 8, limits and inverse kinematics, and what the next tick must remember of them.

    To brake harder because something is touched is a favour: where it would leave even the limit
    of its own, the tick is done as if nothing were touched.
    """
    status, found = s.status, False
    for _ in range(2):
        s.status = status
        limit(p, s, stopping)
        found = inverse_kinematics(p, s)
        if not (
            s.status & bits.BEYOND_ACCELERATION and dot(linear(s.brake), linear(s.brake)) > 0.0
        ):
            break
        set_linear(s.brake, (0.0, 0.0, 0.0))
    if found:
        s.ik_failures = 0
    else:
        slow_together(p, s)
        s.status |= bits.BEYOND_ACCELERATION | bits.JOINT_ACCELERATION_LIMIT
        s.ik_failures += 1
    s.at_rest = 1
    for n in range(6):
        if s.qd[n] != 0.0:
            s.at_rest = 0
        # At a singularity the limiter goes on from what it allowed, else the arm could never leave
        # one.
        if s.status & bits.SINGULARITY:
            s.A_mem[n] = (s.V_lim[n] - s.V_mem[n]) / s.dt
            s.V_mem[n] = s.V_lim[n]
        else:
            s.A_mem[n] = (s.V_cmd[n] - s.V_prev[n]) / s.dt
            s.V_mem[n] = s.V_cmd[n]
        s.V_prev[n] = s.V_cmd[n]
        s.qd_prev[n] = s.qd[n]
    for n in range(3):  # the jerk limit is for what the acceleration limit is for
        s.A_brake[n] = s.brake[n] / s.dt
        s.A_mem[n] -= s.A_brake[n]


@jit
def write(s, i, o):
    """Step 10: what the world may know."""
    o.tick, o.time, o.dt = s.ticks, s.time, s.dt
    o.mode, o.status = s.mode, s.status
    write_pose(o.X_WP, linear(s.p_WP), quaternion(s.wxyz_WP))
    write_pose(o.X_WC, linear(s.p_WC), quaternion(s.wxyz_WC))
    write_pose(o.X_WD, linear(s.p_WD), quaternion(s.wxyz_WD))
    phi = log3(quaternion(s.wxyz_offset))
    for n in range(6):
        o.qd[n] = s.qd[n]
        o.q_ref[n] = s.q_ref[n]
        o.V_WP_cmd[n] = s.V_cmd[n]
        o.V_WP_lim[n] = s.V_lim[n]
        o.V_WP_law[n] = s.V_track[n]
        o.V_WD[n] = s.V_WD[n]
        o.error[n] = s.error[n]
        o.offset[n] = s.x[n] if n < 3 else phi[n - 3]
        o.offset_rate[n] = s.v[n]
        o.q[n] = s.q[n]
        o.wrench[n] = i.wrench[n]
        o.F_S_comp[n] = s.F_S_comp[n]
        o.F_S_filt[n] = s.F_S_filt[n]
        o.F_S[n] = s.F_S[n]
        o.F_P[n] = s.F_P[n]
        o.force_target[n], o.force_phase[n] = s.force_ref[n], s.force_phase[n]
    o.engagement = s.engaged
    o.tank = s.tank
    o.sigma = s.sigma
    o.contact_stiffness = s.touch_stiffness
    o.contact_damping = s.touch_damping
    for n in range(3):
        o.contact_normal[n] = s.touch_normal[n]
    o.energy, o.energy_given = s.energy, s.energy_given
    write_inputs(i, o.inputs)


@jit
def write_inputs(i, o):
    """A copy of the inputs, so that the outputs alone are enough to do the tick again."""
    for n in range(6):
        o.q[n] = i.q[n]
        o.qd[n] = i.qd[n]
        o.wrench[n] = i.wrench[n]
        o.goal_V[n] = i.goal_V[n]
        o.q_start[n] = i.q_start[n]
        o.target[n], o.mass[n] = i.target[n], i.mass[n]
        o.damping[n], o.stiffness[n] = i.damping[n], i.stiffness[n]
    for n in range(3):
        o.goal_p[n] = i.goal_p[n]
    for n in range(4):
        o.goal_wxyz[n] = i.goal_wxyz[n]
        o.axes[n] = i.axes[n]
    o.dt, o.wrench_age, o.joint_age = i.dt, i.wrench_age, i.joint_age
    o.stop, o.goal_count, o.mode, o.generation = i.stop, i.goal_count, i.mode, i.generation
    o.stream_count, o.target_count, o.streams = i.stream_count, i.target_count, i.streams


@jit(entry=True)
def tick(params, state, inputs, outputs):
    """One tick on four one-record arrays."""
    step(params[0], state[0], inputs[0], outputs[0])


@jit(entry=True)
def update(params, state, inputs, outputs, trace, q, wrench_S, dt, wrench_age, joint_age):
    """One tick with its measurements as arguments, and a copy of the outputs for the trace.

    Returns 0, or what the caller must look at: `WRONG_Q`, `WRONG_WRENCH` (nothing was done),
    `STOPPED_NOW`.
    """
    if q.ndim != 1 or q.shape[0] != 6:
        return WRONG_Q
    if wrench_S.ndim != 1 or wrench_S.shape[0] != 6:
        return WRONG_WRENCH
    p, s, i, o = params[0], state[0], inputs[0], outputs[0]
    for n in range(6):
        i.q[n] = q[n]
        i.wrench[n] = wrench_S[n]
    i.dt = dt
    i.wrench_age = wrench_age
    i.joint_age = joint_age
    before = s.mode
    step(p, s, i, o)
    trace[s.ticks % trace.shape[0]] = o
    if s.mode != before and (s.mode == bits.STOPPED or s.mode == bits.HOLDING):
        return STOPPED_NOW
    return 0
