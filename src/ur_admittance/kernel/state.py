"""What a tick remembers for the next, and the scratch memory of its steps: the record STATE.

SI units, radians, seconds; 6-vectors `[linear; angular]`; quaternions `wxyz`; frames as in
`layout`. A twist without a frame is V_WP, in W: m/s, rad/s.
"""

from __future__ import annotations

import numpy as np

FLOAT, INT = np.float64, np.int64
EVENTS = 32


def record(fields: list[tuple]) -> np.dtype:
    """A structured type whose single values have their fields as attributes."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


EVENT = record(
    [
        ("bit", INT),  # of the status
        ("time", FLOAT),  # s since activation
        ("value", FLOAT),  # what was beyond its limit, in the unit of that
        ("limit", FLOAT),
    ]
)

STATE = record(
    [
        ("mode", INT),
        ("seeding", INT),  # what the next tick takes from the measurement, see `bits`
        ("status", INT),
        ("status_prev", INT),
        ("reasons", INT),  # status bits that brought the last hold or stop
        ("ticks", INT),
        ("time", FLOAT),  # s since activation
        ("dt", FLOAT),  # s, as used
        ("dt_prev", FLOAT),  # s
        ("hold", FLOAT),  # s, how long this command may have to last
        ("good_ticks", INT),  # at rest and without fault, while holding
        ("bad_dts", INT),  # so far
        ("events", EVENT, (EVENTS,)),
        ("event_count", INT),
        # kinematics
        ("q", FLOAT, (6,)),  # rad, the last good sample
        ("R_WP", FLOAT, (3, 3)),
        ("p_WP", FLOAT, (3,)),  # m
        ("wxyz_WP", FLOAT, (4,)),
        ("J", FLOAT, (6, 6)),  # m, and 1: joint rates to V_WP
        ("joint_silence", FLOAT),  # s since the last good sample
        ("bad_joints", INT),  # samples in a row
        ("joint_step", FLOAT),  # rad, the farthest of the last implausible sample
        ("joint_step_limit", FLOAT),  # rad
        # wrench
        ("wrench_good", FLOAT, (6,)),  # N, Nm in S, the last good sample
        ("wrench_seen", INT),  # whether there has been one since activation
        ("wrench_silence", FLOAT),  # s since it
        ("spikes", INT),  # dropped in a row
        ("jump", FLOAT),  # N or Nm, of the last spike
        ("jump_limit", FLOAT),  # N or Nm
        ("frozen", INT),  # equal samples in a row
        ("force", FLOAT),  # N, what is held against the limit
        ("force_limit", FLOAT),  # N
        ("torque", FLOAT),  # Nm
        ("torque_limit", FLOAT),  # Nm
        ("range_share", FLOAT),  # of the sensor's range, of the axis that is nearest its end
        ("range_least", FLOAT),  # the least of it since the load began to fall
        ("range_time", FLOAT),  # s since it fell
        ("F_S_comp", FLOAT, (6,)),  # N, Nm: bias, gravity, inertia taken off
        ("F_S_filt", FLOAT, (6,)),  # N, Nm: low-passed
        ("F_S", FLOAT, (6,)),  # N, Nm: F_P, moved back to S
        ("F_P", FLOAT, (6,)),  # N, Nm at P, after the deadband
        ("F_law", FLOAT, (6,)),  # N, Nm at P, in the law's axes
        ("filter_dt", FLOAT),  # s, for which ...
        ("filter_gain", FLOAT),  # ... this is the low-pass's share of a new sample
        # drift
        ("slow_F", FLOAT, (6,)),  # N, Nm in S: through a slow low-pass
        ("quiet_F", FLOAT, (6,)),  # N, Nm in S: follows that no faster than a drift
        ("drift_force", FLOAT),  # N beyond the deadband that a hold has shown to be nobody's
        ("drift_torque", FLOAT),  # Nm
        ("drift_time", FLOAT),  # s that the arm has moved with nobody there
        # desired pose D and its goal G
        ("p_WD", FLOAT, (3,)),  # m
        ("wxyz_WD", FLOAT, (4,)),
        ("V_WD", FLOAT, (6,)),  # of D, m/s and rad/s
        ("p_WG", FLOAT, (3,)),  # m
        ("wxyz_WG", FLOAT, (4,)),
        ("V_WG", FLOAT, (6,)),  # of G, m/s and rad/s
        ("goal_count", INT),  # of the last goal taken
        ("goal_age", FLOAT),  # s since it
        ("goal_step", FLOAT),  # m, from the goal before
        ("at_goal", INT),  # whether D is G
        # the law: offset of C from D, in the law's axes
        ("x", FLOAT, (3,)),  # m
        ("wxyz_offset", FLOAT, (4,)),
        ("v", FLOAT, (6,)),  # m/s, rad/s
        ("dx", FLOAT, (6,)),  # m, rad: the step of this tick
        ("engaged", FLOAT),  # 0 .. 1, the share of the spring
        ("generation", INT),  # of the parameters whose gains are in force
        ("ramp", FLOAT),  # 0 .. 1, from the gains before to these
        ("mass", FLOAT, (6,)),  # kg, kg m^2, in force now
        ("damping", FLOAT, (6,)),  # N s/m, Nm s/rad
        ("stiffness", FLOAT, (6,)),  # N/m, Nm/rad
        ("mass_from", FLOAT, (6,)),  # kg, kg m^2, at the start of the ramp
        ("damping_from", FLOAT, (6,)),  # N s/m, Nm s/rad
        ("stiffness_from", FLOAT, (6,)),  # N/m, Nm/rad
        ("step", FLOAT, (6, 6)),  # exact step per axis: vv vx vF xv xx xF
        ("step_dt", FLOAT),  # s, the dt it was made for, 0 = none
        ("wxyz_task", FLOAT, (4,)),  # axes of the law in those of `frame`
        # what is streamed
        ("stream_count", INT),  # of the last taken
        ("target_count", INT),  # of the last force among it
        ("streams", INT),  # which of these: see `stream`
        ("stream_age", FLOAT),  # s since the last force
        ("axes_wish", FLOAT, (4,)),
        ("target_wish", FLOAT, (6,)),  # N, Nm
        ("mass_wish", FLOAT, (6,)),  # kg, kg m^2
        ("damping_wish", FLOAT, (6,)),  # N s/m, Nm s/rad
        ("stiffness_wish", FLOAT, (6,)),  # N/m, Nm/rad
        ("tank", FLOAT),  # J, that springs may still give away
        ("short", INT),  # whether they are weaker than they should be, for want of it
        ("ease", FLOAT),  # 0 .. 1, of the target
        ("force_goal", FLOAT, (6,)),  # N, Nm, the target of now
        # contact
        ("touch_ticks", INT),  # since it is felt for
        ("touch_x", FLOAT, (12, 3)),  # m in W, the last ticks
        ("touch_F", FLOAT, (12, 3)),  # N in W
        ("touch_steady", FLOAT, (3,)),  # N in W, through a low-pass
        ("touch_stiffness", FLOAT),  # N/m, held
        ("touch_normal", FLOAT, (3,)),  # out of what is touched, in W
        ("touch_damping", FLOAT),  # N s/m, beyond the law's own
        ("V_arm", FLOAT, (3,)),  # m/s, what the arm makes of the command, by its lag
        ("lead", FLOAT, (3,)),  # m/s, of V_track over the law
        ("brake", FLOAT, (3,)),  # m/s, beyond what the acceleration limit allows
        ("A_brake", FLOAT, (3,)),  # m/s^2, that of the last tick
        # constant force, by axis of the law
        ("force_phase", INT, (6,)),  # off, approach, search, hold: see `force`
        ("force_felt", FLOAT, (6,)),  # N, Nm, low-passed
        ("force_ref", FLOAT, (6,)),  # N, Nm, on its way to the target
        ("force_v", FLOAT, (6,)),  # m/s, rad/s, before the limits
        ("force_I1", FLOAT, (6,)),  # m/s, rad/s, the integral of the error
        ("force_I2", FLOAT, (6,)),  # m/s^2, rad/s^2, and the second
        ("force_K", FLOAT, (6,)),  # N/m, Nm/rad, by which the gain is divided
        ("force_K_fit", FLOAT, (6,)),  # N/m, Nm/rad, what it falls to
        ("force_time", FLOAT, (6,)),  # s since the touch
        ("force_low", FLOAT, (6,)),  # s without contact
        ("force_way", FLOAT, (6,)),  # m, rad, gone since it presses
        ("force_from", FLOAT, (6,)),  # m, rad, where it touched
        ("force_fit", FLOAT, (6, 5)),  # count, and sums of x, F, x x, x F
        ("force_swings", INT, (6,)),  # half-waves in a row
        ("force_wave", FLOAT, (6,)),  # N, Nm, crest of the half-wave of now
        ("force_wave_age", FLOAT, (6,)),  # s since it began
        ("force_normal", FLOAT, (3,)),  # in W, against what presses; 0: nothing does
        # the port, watched
        ("port_known", INT),  # whether the following are of the last tick
        ("port_q", FLOAT, (6,)),  # rad
        ("port_F", FLOAT, (6,)),  # N, Nm at S, in W axes
        ("port_mean", FLOAT, (3,)),  # N, of the force
        ("port_way", FLOAT, (3,)),  # m, of S since the last tick
        ("energy", FLOAT),  # J, what the world put in since activation
        ("energy_given", FLOAT),  # J, the most that was given beyond that
        ("wave", FLOAT, (3,)),  # N, the crest of the half-wave of now
        ("wave_age", FLOAT),  # s
        ("wave_last", FLOAT),  # N, the crest of the one before
        ("wave_before", FLOAT),  # N, and of the one before that
        ("wave_third", FLOAT),  # N, and before that, to the same side as the last
        ("swings", INT),  # half-waves in a row
        ("shaken", INT),  # whether no work was put in along them
        ("swing_age", FLOAT),  # s since the first
        ("swing_work", FLOAT),  # J, put in along them
        ("swing_flow", FLOAT),  # J, to and fro
        ("calm", FLOAT),  # 0 .. 1, further damping
        # command
        ("p_WC", FLOAT, (3,)),  # m
        ("wxyz_WC", FLOAT, (4,)),
        ("error", FLOAT, (6,)),  # m, rad in W: from X_WP to the pose commanded for now
        ("rate", FLOAT, (6,)),  # m/s, rad/s in W: of C about D, the law's feed-forward
        ("V_track", FLOAT, (6,)),  # what is wished for
        # limiter
        ("V_mem", FLOAT, (6,)),  # the limiter's last output
        ("A_mem", FLOAT, (6,)),  # m/s^2, rad/s^2: and the acceleration that led to it
        ("V_lim", FLOAT, (6,)),  # what it allows
        ("V_safe", FLOAT, (6,)),  # a motion inside all limits, whatever is wished
        ("V_prev", FLOAT, (6,)),  # what the joints made of it: J qd of the last tick
        ("wall_low", FLOAT, (3,)),  # m/s, bounds of the tool's velocity
        ("wall_high", FLOAT, (3,)),
        ("near_wall", INT),  # whether they bind any motion that the limits allow
        ("v_cap", FLOAT),  # m/s, the limit of now: after it was lowered, what braking allows
        ("w_cap", FLOAT),  # rad/s, likewise
        # inverse kinematics
        ("qd", FLOAT, (6,)),  # rad/s
        ("qd_prev", FLOAT, (6,)),  # rad/s
        ("V_cmd", FLOAT, (6,)),  # J qd
        ("q_ref", FLOAT, (6,)),  # rad
        ("q_ref_rate", FLOAT, (6,)),  # rad/s, where positions are sent
        ("sigma", FLOAT),  # 1 / |J^-1|, small near a singularity
        ("J_inverse", FLOAT, (6, 6)),
        ("V_aim", FLOAT, (6,)),  # what the joints are to make
        ("H", FLOAT, (6, 6)),  # of the least squares: qd H qd / 2 + g qd is least
        ("g", FLOAT, (6,)),
        ("low", FLOAT, (6,)),  # rad/s, bounds of the joint rates
        ("high", FLOAT, (6,)),
        ("factor", FLOAT, (6, 6)),  # Cholesky's, of what is free of H
        ("scratch", FLOAT, (6,)),
        ("start", FLOAT, (6,)),  # rad/s, joint rates inside the limits, to go back to
        ("pinned", INT, (6,)),  # -1 or 1: at the lower or upper bound; 0: free
        ("ik_failures", INT),  # in a row
        ("at_rest", INT),  # whether the command is exactly zero
        ("lead_time", FLOAT),  # s that the arm has been further from C than it may
    ]
)


def new_state() -> np.ndarray:
    """One state record: inactive, the law's axes not turned, everything else zero."""
    state = np.zeros(1, STATE)
    state["wxyz_task"][:, 0] = 1.0
    return state
