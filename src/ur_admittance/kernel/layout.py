"""The four records of a tick: everything it reads, remembers (`state`) and says, nothing else.

SI units, radians, seconds; 6-vectors `[linear; angular]`; quaternions `wxyz`. Frames: W base, P
probe, S sensor, D desired pose, G the goal D is on its way to, C commanded pose. The law's axes are
those of D (`probe`) or W (`base`).
"""

from __future__ import annotations

import numpy as np

from ur_admittance.kernel.state import EVENT as EVENT
from ur_admittance.kernel.state import EVENTS as EVENTS
from ur_admittance.kernel.state import FLOAT, INT, record
from ur_admittance.kernel.state import STATE as STATE
from ur_admittance.kernel.state import new_state as new_state

PARAMS = record(
    [
        ("generation", INT),  # counts changes of parameters
        ("period", FLOAT),  # nominal T, s
        # the arm
        ("chain_R", FLOAT, (7, 3, 3)),
        ("chain_p", FLOAT, (7, 3)),  # m
        ("R_PS", FLOAT, (3, 3)),  # sensor axes in P
        ("p_PS", FLOAT, (3,)),  # sensor origin in P, m
        ("reach", FLOAT),  # m, no joint axis is ever further from P
        ("q_min", FLOAT, (6,)),  # rad, margin already taken off
        ("q_max", FLOAT, (6,)),
        ("qd_max", FLOAT, (6,)),  # rad/s
        ("qdd_max", FLOAT, (6,)),  # rad/s^2
        # the wrench
        ("bias", FLOAT, (6,)),  # N, Nm in S
        ("payload_mass", FLOAT),  # kg
        ("payload_com", FLOAT, (3,)),  # m in S
        ("payload_inertia", FLOAT, (6,)),  # xx yy zz xy xz yz about the CoM in S axes, kg m^2
        ("gravity", FLOAT, (3,)),  # m/s^2 in W
        ("compensate_inertia", INT),
        ("filter_time_constant", FLOAT),  # s, 0 = none
        ("deadband_force", FLOAT),  # N
        ("deadband_torque", FLOAT),  # Nm
        ("deadband_hard", INT),
        # the law
        ("frame", INT),
        ("wxyz_task", FLOAT, (4,)),  # axes of the law in those of `frame`
        ("integrator", INT),
        ("mass", FLOAT, (6,)),  # kg, kg m^2
        ("damping", FLOAT, (6,)),  # N s/m, Nm s/rad
        ("stiffness", FLOAT, (6,)),  # N/m, Nm/rad
        ("damping_ratio", FLOAT, (6,)),  # -1: damping is given
        ("virtual_stiffness", FLOAT, (6,)),  # N/m, Nm/rad, in the damping of free axes
        ("stream_energy", FLOAT),  # J, that streamed gains may give away
        ("enabled", INT, (6,)),
        ("engage_seconds", FLOAT),
        ("ramp_seconds", FLOAT),
        ("drift_reset_threshold", FLOAT),  # m/s and rad/s
        # contact
        ("adapt", INT),  # whether damping follows what is touched
        ("monitor", INT),  # whether oscillations are looked for
        ("max_touch", FLOAT),  # N/m, stiffer is damped no further
        ("damping_time", FLOAT),  # s, damping along the normal for each N/m
        ("force_noise", FLOAT),  # N, standard deviation
        ("motion_noise", FLOAT),  # m
        ("arm_lag", FLOAT),  # s, 0 = not known
        ("contact_braking", FLOAT),  # m/s^2, along the normal of what is touched
        # constant force
        ("pressing", INT),  # whether any axis presses
        ("force_axes", INT, (6,)),
        ("force_target", FLOAT, (6,)),  # N, Nm: what the tool does to the world
        ("force_speed", FLOAT, (6,)),  # m/s, rad/s
        ("force_travel", FLOAT, (6,)),  # m, rad from the desired pose
        ("force_approach", FLOAT, (6,)),  # m/s, rad/s
        ("force_stiffness", FLOAT, (6,)),  # N/m, Nm/rad, the stiffest that is expected
        ("stream_timeout", FLOAT),  # s without a streamed force, after which it eases to zero
        # tracking
        ("velocity_gain", FLOAT, (6,)),  # 1/s
        ("max_joint_lead", FLOAT),  # rad
        ("max_lead", FLOAT),  # m
        ("max_lead_angle", FLOAT),  # rad
        ("max_lead_cosine", FLOAT),  # of half that angle
        ("leak", FLOAT),  # 1/s, how fast q_ref forgets what the arm did not follow
        # limits
        ("v_max", FLOAT),  # m/s
        ("w_max", FLOAT),  # rad/s
        ("a_max", FLOAT),  # m/s^2
        ("alpha_max", FLOAT),  # rad/s^2
        ("jerk_max", FLOAT),  # m/s^3, 0 = none
        ("angular_jerk_max", FLOAT),  # rad/s^3, 0 = none
        ("workspace_min", FLOAT, (3,)),  # m
        ("workspace_max", FLOAT, (3,)),
        ("ik_damping", FLOAT),
        ("singularity_threshold", FLOAT),
        # safety
        ("wrench_timeout", FLOAT),  # s
        ("joint_timeout", FLOAT),  # s
        ("lost_timeout", FLOAT),  # s
        ("max_force", FLOAT),  # N
        ("max_torque", FLOAT),  # Nm
        ("max_wrench", FLOAT, (6,)),  # N, Nm, of each axis of S
        ("start_bias", FLOAT, (6,)),  # N, Nm in S, before anything was tared
        ("spike_force", FLOAT),  # N, 0 = off
        ("spike_torque", FLOAT),  # Nm, 0 = off
        ("frozen_samples", INT),  # 0 = off
        ("tracking_timeout", FLOAT),  # s
        ("per_range", FLOAT, (6,)),  # 1/N, 1/Nm: one over the sensor's range, 0 = not known
        ("drift_seconds", FLOAT),  # s, 0 = drift is not looked for
        ("quiet_force", FLOAT),  # N, by which a force varies that nobody makes
        ("quiet_torque", FLOAT),  # Nm
    ]
)

INPUTS = record(
    [
        ("q", FLOAT, (6,)),  # rad, measured
        ("wrench", FLOAT, (6,)),  # N, Nm: as the sensor reports it, in S
        ("qd", FLOAT, (6,)),  # rad/s, measured; NaN: not known
        ("dt", FLOAT),  # s since the last tick
        ("wrench_age", FLOAT),  # s since the sample arrived
        ("joint_age", FLOAT),  # s
        ("stop", INT),  # status bits somebody outside asks for
        ("goal_count", INT),  # counts new goals
        ("goal_p", FLOAT, (3,)),  # the desired pose, m
        ("goal_wxyz", FLOAT, (4,)),
        ("goal_V", FLOAT, (6,)),  # and its twist in W, m/s and rad/s
        ("q_start", FLOAT, (6,)),  # rad, measured at activation
        ("stream_count", INT),  # counts what is streamed
        ("target_count", INT),  # counts the forces among it
        ("streams", INT),  # which of these: see `stream`
        ("target", FLOAT, (6,)),  # N, Nm: what the tool does to the world
        ("axes", FLOAT, (4,)),  # of the law
        ("mass", FLOAT, (6,)),  # kg, kg m^2
        ("damping", FLOAT, (6,)),  # N s/m, Nm s/rad
        ("stiffness", FLOAT, (6,)),  # N/m, Nm/rad
        ("mode", INT),  # of the controller before the tick
        ("generation", INT),  # of the parameters
    ]
)

TIMING = record(
    [
        ("arrived", FLOAT),  # s on the robot's clock, when the joint state came
        ("tick", FLOAT),  # s, what the tick took
        ("reaction", FLOAT),  # s, from the wrench's arrival to the command handed over
        ("late", INT),  # states that came late, so far
        ("missed", INT),  # states never seen, so far
    ]
)

OUTPUTS = record(
    [
        ("tick", INT),
        ("time", FLOAT),  # s since activation
        ("dt", FLOAT),  # s, as used
        ("mode", INT),
        ("status", INT),  # bits of faults.py
        ("qd", FLOAT, (6,)),  # joint velocity command, rad/s
        ("q_ref", FLOAT, (6,)),  # joint position command, rad
        ("V_WP_cmd", FLOAT, (6,)),  # J qd: the twist the joints make of it
        ("V_WP_lim", FLOAT, (6,)),  # the twist the limiter allowed
        ("V_WP_law", FLOAT, (6,)),  # the twist the law asked for
        ("X_WP", FLOAT, (4, 4)),  # measured
        ("X_WC", FLOAT, (4, 4)),  # commanded, at the end of the tick
        ("X_WD", FLOAT, (4, 4)),  # desired
        ("V_WD", FLOAT, (6,)),
        ("error", FLOAT, (6,)),  # from X_WP to the pose commanded for now, in W axes
        ("offset", FLOAT, (6,)),  # of C from D, in the law's axes
        ("offset_rate", FLOAT, (6,)),
        ("q", FLOAT, (6,)),  # rad, as used
        ("wrench", FLOAT, (6,)),  # as it came, in S
        ("F_S_comp", FLOAT, (6,)),  # without bias and weight
        ("F_S_filt", FLOAT, (6,)),  # low-passed
        ("F_S", FLOAT, (6,)),  # after the deadband, which acts at P
        ("F_P", FLOAT, (6,)),  # at the probe, in P axes
        ("engagement", FLOAT),  # of the stiffness, 0 .. 1
        ("sigma", FLOAT),  # 1 / |J^-1|, small near a singularity
        ("contact_stiffness", FLOAT),  # of what is touched, at least; 0: nothing stiff
        ("contact_normal", FLOAT, (3,)),  # along which
        ("contact_damping", FLOAT),  # along the normal, beyond the law's own
        ("force_target", FLOAT, (6,)),  # that the tool presses with now, on its way to the target
        ("tank", FLOAT),  # that streamed springs may still give away
        ("force_phase", INT, (6,)),  # 0 gives way, 1 approaches, 2 searches, 3 holds its force
        ("energy", FLOAT),  # net, that the world put in since activation
        ("energy_given", FLOAT),  # most that was ever given beyond what was put in
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


def new_outputs() -> np.ndarray:
    """One outputs record, all NaN until written."""
    return _filled(OUTPUTS)


def _filled(dtype: np.dtype) -> np.ndarray:
    record = np.zeros(1, dtype)
    for name in dtype.names or ():
        if record[name].dtype == np.float64:
            record[name] = np.nan
    return record
