"""The status bits as constants the kernel can compile; `faults.py` says what each means."""

from __future__ import annotations

SPEED_LIMIT = 1 << 0
ACCELERATION_LIMIT = 1 << 1
JERK_LIMIT = 1 << 2
WORKSPACE_LIMIT = 1 << 3
OUTSIDE_WORKSPACE = 1 << 4
JOINT_POSITION_LIMIT = 1 << 5
JOINT_VELOCITY_LIMIT = 1 << 6
JOINT_ACCELERATION_LIMIT = 1 << 7
SINGULARITY = 1 << 8
BEYOND_ACCELERATION = 1 << 9
LEAD_LIMIT = 1 << 10
WRENCH_SATURATED = 1 << 11
STOPPING_DISTANCE = 1 << 12
CONTACT_DAMPING = 1 << 13
CONTACT_BRAKING = 1 << 14
CONTACT_OSCILLATION = 1 << 15

WRENCH_NOT_FINITE = 1 << 16
WRENCH_SPIKE = 1 << 17
JOINTS_IMPLAUSIBLE = 1 << 18
BAD_DT = 1 << 19
DESIRED_STALE = 1 << 20
JOINT_OUTSIDE = 1 << 21
DESIRED_STEP = 1 << 22
FORCE_TRAVEL = 1 << 23
FORCE_LOST = 1 << 24
STREAM_STALE = 1 << 25

WRENCH_STALE = 1 << 32
WRENCH_FROZEN = 1 << 33
JOINTS_STALE = 1 << 34
TIME_GAP = 1 << 35
DRIFTING = 1 << 36
WRENCH_SLOW = 1 << 37

STOP_REQUESTED = 1 << 48
WRENCH_LOST = 1 << 49
JOINTS_LOST = 1 << 50
OVER_FORCE = 1 << 51
OVER_TORQUE = 1 << 52
NOT_FOLLOWING = 1 << 53
IK_FAILED = 1 << 54
CONTACT_UNSTABLE = 1 << 55
SENSOR_SATURATED = 1 << 56

LIMITS = (1 << 16) - 1
HOLDS = 0xFFFF << 32
STOPS = 0x7FFF << 48

# Modes of the controller.
INACTIVE = 0  # commands nothing
ACTIVE = 1  # the law moves the arm
HOLDING = 2  # braking or at rest; goes on by itself
STOPPED = 3  # braking or at rest; stays so until reset
LEAVING = 4  # braking, then inactive

# What a tick takes from the measurement, instead of going on from the last one.
SEED_NOTHING = 0
SEED_ALL = 1  # after an activation: D and C are where the arm is
SEED_KEEPING_D = 2  # after a hold: C is where the arm is, springs keep their home

PROBE = 0  # the law's axes are those of D
BASE = 1  # the law's axes are those of W

EXACT = 0
RK4 = 1
SEMI_IMPLICIT_EULER = 2
