"""The four records of a tick: everything it reads, remembers and says, and nothing else.

SI units, radians, seconds; 6-vectors `[linear; angular]`; quaternions `wxyz`. Frames: W base, P
probe, S sensor, D desired pose, G the goal D is on its way to, C commanded pose. The law's axes are
those of D (`probe`) or W (`base`).
"""

from __future__ import annotations

import numpy as np

_FLOAT, _INT = np.float64, np.int64

EVENTS = 32


def _record(fields: list[tuple]) -> np.dtype:
    return np.dtype((np.record, np.dtype(fields, align=True)))


def _sixes(*names: str) -> list[tuple]:
    return [(name, _FLOAT, (6,)) for name in names]


EVENT = _record([("bit", _INT), ("time", _FLOAT), ("value", _FLOAT), ("limit", _FLOAT)])

PARAMS = _record(
    [
        ("generation", _INT),  # counts changes of parameters
        ("period", _FLOAT),  # nominal T, s
        # the arm
        ("chain_R", _FLOAT, (7, 3, 3)),
        ("chain_p", _FLOAT, (7, 3)),  # m
        ("R_PS", _FLOAT, (3, 3)),  # sensor axes in P
        ("p_PS", _FLOAT, (3,)),  # sensor origin in P, m
        ("reach", _FLOAT),  # m, no joint axis is ever further from P
        ("q_min", _FLOAT, (6,)),  # rad, margin already taken off
        ("q_max", _FLOAT, (6,)),
        ("qd_max", _FLOAT, (6,)),  # rad/s
        ("qdd_max", _FLOAT, (6,)),  # rad/s^2
        # the wrench
        ("bias", _FLOAT, (6,)),  # N, Nm in S
        ("payload_mass", _FLOAT),  # kg
        ("payload_com", _FLOAT, (3,)),  # m in S
        ("payload_inertia", _FLOAT, (6,)),  # xx yy zz xy xz yz about the CoM in S axes, kg m^2
        ("gravity", _FLOAT, (3,)),  # m/s^2 in W
        ("compensate_inertia", _INT),
        ("filter_time_constant", _FLOAT),  # s, 0 = none
        ("deadband_force", _FLOAT),  # N
        ("deadband_torque", _FLOAT),  # Nm
        ("deadband_hard", _INT),
        # the law
        ("frame", _INT),
        ("wxyz_task", _FLOAT, (4,)),  # axes of the law in those of `frame`
        ("integrator", _INT),
        ("mass", _FLOAT, (6,)),  # kg, kg m^2
        ("damping", _FLOAT, (6,)),  # N s/m, Nm s/rad
        ("stiffness", _FLOAT, (6,)),  # N/m, Nm/rad
        ("damping_ratio", _FLOAT, (6,)),  # -1: damping is given
        ("virtual_stiffness", _FLOAT, (6,)),  # N/m, Nm/rad, in the damping of free axes
        ("stream_energy", _FLOAT),  # J, that streamed gains may give away
        ("enabled", _INT, (6,)),
        ("engage_seconds", _FLOAT),
        ("ramp_seconds", _FLOAT),
        ("drift_reset_threshold", _FLOAT),  # m/s and rad/s
        # contact
        ("adapt", _INT),  # whether damping follows what is touched
        ("monitor", _INT),  # whether oscillations are looked for
        ("max_touch", _FLOAT),  # N/m, stiffer is damped no further
        ("damping_time", _FLOAT),  # s, damping along the normal for each N/m
        ("force_noise", _FLOAT),  # N, standard deviation
        ("motion_noise", _FLOAT),  # m
        ("arm_lag", _FLOAT),  # s, 0 = not known
        ("contact_braking", _FLOAT),  # m/s^2, along the normal of what is touched
        # constant force
        ("pressing", _INT),  # whether any axis presses
        ("force_axes", _INT, (6,)),
        ("force_target", _FLOAT, (6,)),  # N, Nm: what the tool does to the world
        ("force_speed", _FLOAT, (6,)),  # m/s, rad/s
        ("force_travel", _FLOAT, (6,)),  # m, rad from the desired pose
        ("force_approach", _FLOAT, (6,)),  # m/s, rad/s
        ("force_stiffness", _FLOAT, (6,)),  # N/m, Nm/rad, the stiffest that is expected
        ("stream_timeout", _FLOAT),  # s without a streamed force, after which it eases to zero
        # tracking
        ("velocity_gain", _FLOAT, (6,)),  # 1/s
        ("max_joint_lead", _FLOAT),  # rad
        ("max_lead", _FLOAT),  # m
        ("max_lead_angle", _FLOAT),  # rad
        ("max_lead_cosine", _FLOAT),  # of half that angle
        ("leak", _FLOAT),  # 1/s, how fast q_ref forgets what the arm did not follow
        # limits
        ("v_max", _FLOAT),  # m/s
        ("w_max", _FLOAT),  # rad/s
        ("a_max", _FLOAT),  # m/s^2
        ("alpha_max", _FLOAT),  # rad/s^2
        ("jerk_max", _FLOAT),  # m/s^3, 0 = none
        ("angular_jerk_max", _FLOAT),  # rad/s^3, 0 = none
        ("workspace_min", _FLOAT, (3,)),  # m
        ("workspace_max", _FLOAT, (3,)),
        ("ik_damping", _FLOAT),
        ("singularity_threshold", _FLOAT),
        # safety
        ("wrench_timeout", _FLOAT),  # s
        ("joint_timeout", _FLOAT),  # s
        ("lost_timeout", _FLOAT),  # s
        ("max_force", _FLOAT),  # N
        ("max_torque", _FLOAT),  # Nm
        ("max_wrench", _FLOAT, (6,)),  # N, Nm, of each axis of S
        ("start_bias", _FLOAT, (6,)),  # N, Nm in S, before anything was tared
        ("spike_force", _FLOAT),  # N, 0 = off
        ("spike_torque", _FLOAT),  # Nm, 0 = off
        ("frozen_samples", _INT),  # 0 = off
        ("tracking_timeout", _FLOAT),  # s
        ("per_range", _FLOAT, (6,)),  # 1/N, 1/Nm: one over the sensor's range, 0 = not known
        ("drift_seconds", _FLOAT),  # s, 0 = drift is not looked for
        ("quiet_force", _FLOAT),  # N, by which a force varies that nobody makes
        ("quiet_torque", _FLOAT),  # Nm
    ]
)

INPUTS = _record(
    [
        ("q", _FLOAT, (6,)),  # rad, measured
        ("wrench", _FLOAT, (6,)),  # N, Nm: as the sensor reports it, in S
        ("qd", _FLOAT, (6,)),  # rad/s, measured; NaN: not known
        ("dt", _FLOAT),  # s since the last tick
        ("wrench_age", _FLOAT),  # s since the sample arrived
        ("joint_age", _FLOAT),  # s
        ("stop", _INT),  # status bits somebody outside asks for
        ("goal_count", _INT),  # counts new goals
        ("goal_p", _FLOAT, (3,)),  # the desired pose, m
        ("goal_wxyz", _FLOAT, (4,)),
        ("goal_V", _FLOAT, (6,)),  # and its twist in W, m/s and rad/s
        ("q_start", _FLOAT, (6,)),  # rad, measured at activation
        ("stream_count", _INT),  # counts what is streamed
        ("target_count", _INT),  # counts the forces among it
        ("streams", _INT),  # which of these: see `stream`
        ("target", _FLOAT, (6,)),  # N, Nm: what the tool does to the world
        ("axes", _FLOAT, (4,)),  # of the law
        *_sixes("mass", "damping", "stiffness"),  # kg, N s/m, N/m, and for rotations
        ("mode", _INT),  # of the controller before the tick
        ("generation", _INT),  # of the parameters
    ]
)

STATE = _record(
    [
        ("mode", _INT),
        ("seeding", _INT),  # what the next tick takes from the measurement, see `bits`
        ("status", _INT),
        ("status_prev", _INT),
        ("reasons", _INT),  # status bits that brought the last hold or stop
        ("ticks", _INT),
        ("time", _FLOAT),  # s since activation
        ("dt", _FLOAT),  # s, as used
        ("dt_prev", _FLOAT),
        ("hold", _FLOAT),  # s, how long this command may have to last
        ("good_ticks", _INT),  # at rest and without fault, while holding
        ("bad_dts", _INT),
        ("events", EVENT, (EVENTS,)),
        ("event_count", _INT),
        # kinematics
        ("q", _FLOAT, (6,)),
        ("R_WP", _FLOAT, (3, 3)),
        ("p_WP", _FLOAT, (3,)),
        ("wxyz_WP", _FLOAT, (4,)),
        ("J", _FLOAT, (6, 6)),
        ("joint_silence", _FLOAT),  # s since the last good sample
        ("bad_joints", _INT),
        ("joint_step", _FLOAT),  # rad, the farthest of the last implausible sample
        ("joint_step_limit", _FLOAT),
        # wrench
        ("wrench_good", _FLOAT, (6,)),  # last good sample
        ("wrench_seen", _INT),  # whether there has been one since activation
        ("wrench_silence", _FLOAT),  # s since it
        ("spikes", _INT),
        ("jump", _FLOAT),  # N or Nm, of the last spike
        ("jump_limit", _FLOAT),
        ("frozen", _INT),
        ("force", _FLOAT),  # N, what is held against the limit
        ("force_limit", _FLOAT),
        ("torque", _FLOAT),  # Nm
        ("torque_limit", _FLOAT),
        ("range_share", _FLOAT),  # of the sensor's range, of the axis that is nearest its end
        ("range_least", _FLOAT),  # the least of it since the load began to fall
        ("range_time", _FLOAT),  # s since it fell
        ("F_S_comp", _FLOAT, (6,)),  # bias, gravity, inertia taken off
        ("F_S_filt", _FLOAT, (6,)),
        ("F_S", _FLOAT, (6,)),  # F_P, moved back to S
        ("F_P", _FLOAT, (6,)),  # at P, after the deadband
        ("F_law", _FLOAT, (6,)),  # at P, in the law's axes
        ("filter_dt", _FLOAT),
        ("filter_gain", _FLOAT),
        # drift
        ("slow_F", _FLOAT, (6,)),  # N, Nm in S: through a slow low-pass
        ("quiet_F", _FLOAT, (6,)),  # N, Nm in S: follows that no faster than a drift
        ("drift_force", _FLOAT),  # N beyond the deadband that a hold has shown to be nobody's
        ("drift_torque", _FLOAT),  # Nm
        ("drift_time", _FLOAT),  # s that the arm has moved with nobody there
        # desired pose D and its goal G
        ("p_WD", _FLOAT, (3,)),
        ("wxyz_WD", _FLOAT, (4,)),
        ("V_WD", _FLOAT, (6,)),
        ("p_WG", _FLOAT, (3,)),
        ("wxyz_WG", _FLOAT, (4,)),
        ("V_WG", _FLOAT, (6,)),
        ("goal_count", _INT),
        ("goal_age", _FLOAT),
        ("goal_step", _FLOAT),  # m, from the goal before
        ("at_goal", _INT),
        # the law: offset of C from D, in the law's axes
        ("x", _FLOAT, (3,)),  # m
        ("wxyz_offset", _FLOAT, (4,)),
        ("v", _FLOAT, (6,)),
        ("dx", _FLOAT, (6,)),  # the step of this tick
        ("engaged", _FLOAT),  # s, 0 .. 1
        ("generation", _INT),
        ("ramp", _FLOAT),  # 0 .. 1
        ("mass", _FLOAT, (6,)),  # gains in force now
        ("damping", _FLOAT, (6,)),
        ("stiffness", _FLOAT, (6,)),
        ("mass_from", _FLOAT, (6,)),  # gains at the start of the ramp
        ("damping_from", _FLOAT, (6,)),
        ("stiffness_from", _FLOAT, (6,)),
        ("step", _FLOAT, (6, 6)),  # exact step per axis: vv vx vF xv xx xF
        ("step_dt", _FLOAT),  # the dt it was made for, 0 = none
        ("wxyz_task", _FLOAT, (4,)),  # axes of the law in those of `frame`
        # what is streamed
        *((name, _INT) for name in ("stream_count", "target_count", "streams")),
        ("stream_age", _FLOAT),  # s since the last force
        ("axes_wish", _FLOAT, (4,)),
        *_sixes("target_wish", "mass_wish", "damping_wish", "stiffness_wish"),
        ("tank", _FLOAT),  # J, that springs may still give away
        ("short", _INT),  # whether they are weaker than they should be, for want of it
        ("ease", _FLOAT),  # 0 .. 1, of the target
        ("force_goal", _FLOAT, (6,)),  # N, Nm, the target of now
        # contact
        ("touch_ticks", _INT),
        ("touch_x", _FLOAT, (12, 3)),  # m in W, the last ticks
        ("touch_F", _FLOAT, (12, 3)),  # N in W
        ("touch_steady", _FLOAT, (3,)),  # N in W, through a low-pass
        ("touch_stiffness", _FLOAT),  # N/m, held
        ("touch_normal", _FLOAT, (3,)),  # out of what is touched, in W
        ("touch_damping", _FLOAT),  # N s/m, beyond the law's own
        ("V_arm", _FLOAT, (3,)),  # m/s, what the arm makes of the command, by its lag
        ("lead", _FLOAT, (3,)),  # m/s, of V_track over the law
        ("brake", _FLOAT, (3,)),  # m/s, beyond what the acceleration limit allows
        ("A_brake", _FLOAT, (3,)),  # m/s^2, that of the last tick
        # constant force, by axis of the law
        ("force_phase", _INT, (6,)),  # off, approach, search, hold: see `force`
        *_sixes("force_felt", "force_ref"),  # N, Nm, low-passed; on its way to the target
        ("force_v", _FLOAT, (6,)),  # m/s, rad/s, before the limits
        *_sixes("force_I1", "force_I2"),  # m/s and m/s^2, or rad
        *_sixes("force_K", "force_K_fit"),  # N/m, Nm/rad, and what it falls to
        *_sixes("force_time", "force_low"),  # s since the touch, and without contact
        *_sixes("force_way", "force_from"),  # m, rad, and where it touched
        ("force_fit", _FLOAT, (6, 5)),  # count, and sums of x, F, x x, x F
        ("force_swings", _INT, (6,)),
        *_sixes("force_wave", "force_wave_age"),  # N, Nm, of the half-wave of now; s
        ("force_normal", _FLOAT, (3,)),  # in W, against what presses; 0: nothing does
        # the port, watched
        ("port_known", _INT),
        ("port_q", _FLOAT, (6,)),  # rad, of the last tick
        ("port_F", _FLOAT, (6,)),  # N, Nm at S, in W axes
        ("port_mean", _FLOAT, (3,)),  # N, of the force
        ("port_way", _FLOAT, (3,)),  # m, of S since the last tick
        ("energy", _FLOAT),  # J, what the world put in since activation
        ("energy_given", _FLOAT),  # J, the most that was given beyond that
        ("wave", _FLOAT, (3,)),  # N, the crest of the half-wave of now
        ("wave_age", _FLOAT),  # s
        ("wave_last", _FLOAT),  # N, the crest of the one before
        ("wave_before", _FLOAT),  # N, and of the one before that
        ("wave_third", _FLOAT),  # N, and before that, to the same side as the last
        ("swings", _INT),  # half-waves in a row
        ("shaken", _INT),  # whether no work was put in along them
        ("swing_age", _FLOAT),  # s since the first
        ("swing_work", _FLOAT),  # J, put in along them
        ("swing_flow", _FLOAT),  # J, to and fro
        ("calm", _FLOAT),  # 0 .. 1, further damping
        # command
        ("p_WC", _FLOAT, (3,)),
        ("wxyz_WC", _FLOAT, (4,)),
        ("error", _FLOAT, (6,)),
        ("rate", _FLOAT, (6,)),
        ("V_track", _FLOAT, (6,)),
        # limiter
        ("V_mem", _FLOAT, (6,)),  # the limiter's last output
        ("A_mem", _FLOAT, (6,)),  # and the acceleration that led to it
        ("V_lim", _FLOAT, (6,)),
        ("V_safe", _FLOAT, (6,)),  # a motion inside all limits, whatever is wished
        ("V_prev", _FLOAT, (6,)),  # what the joints made of it: J qd of the last tick
        ("wall_low", _FLOAT, (3,)),  # bounds of the tool's velocity, m/s
        ("wall_high", _FLOAT, (3,)),
        ("near_wall", _INT),
        ("v_cap", _FLOAT),
        ("w_cap", _FLOAT),
        # inverse kinematics
        ("qd", _FLOAT, (6,)),
        ("qd_prev", _FLOAT, (6,)),
        ("V_cmd", _FLOAT, (6,)),
        ("q_ref", _FLOAT, (6,)),
        ("q_ref_rate", _FLOAT, (6,)),  # rad/s, where positions are sent
        ("sigma", _FLOAT),
        ("J_inverse", _FLOAT, (6, 6)),
        ("V_aim", _FLOAT, (6,)),
        ("H", _FLOAT, (6, 6)),
        ("g", _FLOAT, (6,)),
        ("low", _FLOAT, (6,)),
        ("high", _FLOAT, (6,)),
        ("factor", _FLOAT, (6, 6)),
        ("scratch", _FLOAT, (6,)),
        ("start", _FLOAT, (6,)),  # joint rates inside the limits, to go back to
        ("pinned", _INT, (6,)),
        ("ik_failures", _INT),
        ("at_rest", _INT),
        ("lead_time", _FLOAT),
    ]
)

TIMING = _record(
    [
        ("arrived", _FLOAT),  # s on the robot's clock, when the joint state came
        ("tick", _FLOAT),  # s, what the tick took
        ("reaction", _FLOAT),  # s, from the wrench's arrival to the command handed over
        ("late", _INT),  # states that came late, so far
        ("missed", _INT),  # states never seen, so far
    ]
)

OUTPUTS = _record(
    [
        ("tick", _INT),
        ("time", _FLOAT),  # s since activation
        ("dt", _FLOAT),  # s, as used
        ("mode", _INT),
        ("status", _INT),  # bits of faults.py
        ("qd", _FLOAT, (6,)),  # joint velocity command, rad/s
        ("q_ref", _FLOAT, (6,)),  # joint position command, rad
        ("V_WP_cmd", _FLOAT, (6,)),  # J qd: the twist the joints make of it
        ("V_WP_lim", _FLOAT, (6,)),  # the twist the limiter allowed
        ("V_WP_law", _FLOAT, (6,)),  # the twist the law asked for
        ("X_WP", _FLOAT, (4, 4)),  # measured
        ("X_WC", _FLOAT, (4, 4)),  # commanded, at the end of the tick
        ("X_WD", _FLOAT, (4, 4)),  # desired
        ("V_WD", _FLOAT, (6,)),
        ("error", _FLOAT, (6,)),  # from X_WP to the pose commanded for now, in W axes
        ("offset", _FLOAT, (6,)),  # of C from D, in the law's axes
        ("offset_rate", _FLOAT, (6,)),
        ("q", _FLOAT, (6,)),  # rad, as used
        ("wrench", _FLOAT, (6,)),  # as it came, in S
        ("F_S_comp", _FLOAT, (6,)),  # without bias and weight
        ("F_S_filt", _FLOAT, (6,)),  # low-passed
        ("F_S", _FLOAT, (6,)),  # after the deadband, which acts at P
        ("F_P", _FLOAT, (6,)),  # at the probe, in P axes
        ("engagement", _FLOAT),  # of the stiffness, 0 .. 1
        ("sigma", _FLOAT),  # 1 / |J^-1|, small near a singularity
        ("contact_stiffness", _FLOAT),  # of what is touched, at least; 0: nothing stiff
        ("contact_normal", _FLOAT, (3,)),  # along which
        ("contact_damping", _FLOAT),  # along the normal, beyond the law's own
        ("force_target", _FLOAT, (6,)),  # that the tool presses with now, on its way to the target
        ("tank", _FLOAT),  # J, that streamed springs may still give away
        ("force_phase", _INT, (6,)),  # 0 gives way, 1 approaches, 2 searches, 3 holds its force
        ("energy", _FLOAT),  # net, that the world put in since activation
        ("energy_given", _FLOAT),  # most that was ever given beyond what was put in
        ("inputs", INPUTS),  # all that the tick was given: enough to do it again
        ("timing", TIMING),  # written by the loop, zero without one
    ]
)


def new_params() -> np.ndarray:
    """One params record, all NaN where a number must be set."""
    return _filled(PARAMS)


def new_inputs() -> np.ndarray:
    """One inputs record, all NaN until written."""
    inputs = _filled(INPUTS)
    inputs["wrench_age"] = inputs["joint_age"] = 0.0
    return inputs


def new_state() -> np.ndarray:
    """One state record: inactive, the law's axes not turned, everything else zero."""
    state = np.zeros(1, STATE)
    state["wxyz_task"][:, 0] = 1.0
    return state


def new_outputs() -> np.ndarray:
    """One outputs record, all NaN until written."""
    return _filled(OUTPUTS)


def _filled(dtype: np.dtype) -> np.ndarray:
    record = np.zeros(1, dtype)
    for name in dtype.names or ():
        if record[name].dtype == np.float64:
            record[name] = np.nan
    return record
