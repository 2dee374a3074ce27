"""Every topic and service by name: what it carries, who sends it, how. No ROS is needed to read it.

Names are absolute, as users of a UR arm know them, and may be remapped as all ROS names may. A name
that starts with `~` belongs to the node: `~/stop` of `admittance_node` is `/admittance_node/stop`.
"""

from __future__ import annotations

from typing import NamedTuple

NODE = "admittance_node"
SIM_ARM = "sim_arm"  # the simulated arm, whose sensor is none

JOINT_STATES = "/joint_states"
WRIST_FT = "/wrist_ft_sensor"
NETFT_RAW = "/netft/raw_sensor"
NETFT_PROC_SENSOR = "/netft/proc_sensor"
NETFT_PROC_PROBE = "/netft/proc_probe"
ROBOT_DESCRIPTION = "/robot_description"
DESIRED_POSE = "~/desired_pose"
DESIRED_TWIST = "~/desired_twist"
TARGET_WRENCH = "~/target_wrench"
TASK_ORIENTATION = "~/task_orientation"
MASS = "~/mass"
DAMPING = "~/damping"
STIFFNESS = "~/stiffness"
REFERENCE_TRAJECTORY = "~/joint_trajectory"
TF = "/tf"
TF_STATIC = "/tf_static"

PROGRAM_RUNNING = "/io_and_status_controller/robot_program_running"
ROBOT_MODE = "/io_and_status_controller/robot_mode"
SAFETY_MODE = "/io_and_status_controller/safety_mode"

VELOCITY_COMMANDS = "/forward_velocity_controller/commands"
POSITION_COMMANDS = "/forward_position_controller/commands"
JOINT_TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"

CARTESIAN_VELOCITY = "/admittance_cartesian_velocity"
POSE_ERROR = "/admittance_pose_error"
VELOCITY_COMMAND = "~/cartesian_velocity_command"
STATUS = "~/status"
DIAGNOSTICS = "/diagnostics"

TARE = "~/tare"
STOP = "~/stop"
RESET = "~/reset"
SET_EQUILIBRIUM = "~/set_equilibrium"
FOLLOW_TRAJECTORY = "~/follow_joint_trajectory"

COMMANDS = {
    "velocity": VELOCITY_COMMANDS,
    "position": POSITION_COMMANDS,
    "trajectory": JOINT_TRAJECTORY,
}
"""The command topic of each `output.mode`."""


class Topic(NamedTuple):
    """One topic of the admittance node."""

    name: str
    kind: str  # message type
    way: str  # 'in' or 'out'
    quality: str  # of service
    text: str


_SENSOR = "best effort, 50 deep"
_COMMAND = "reliable, 10 deep"
_MONITOR = "best effort, 1 deep"
_LATCHED = "reliable, transient local, 1 deep"
_MANY = "best effort, 500 deep"
_MANY_LATCHED = "reliable, transient local, 100 deep"

TOPICS = (
    Topic(
        JOINT_STATES, "sensor_msgs/JointState", "in", _SENSOR, "the clock; joints are found by name"
    ),
    Topic(WRIST_FT, "geometry_msgs/WrenchStamped", "in", _SENSOR, "raw wrench; the default"),
    Topic(
        NETFT_RAW,
        "geometry_msgs/WrenchStamped",
        "in",
        _SENSOR,
        "raw wrench, with --wrench, as on any other topic that is named there",
    ),
    Topic(
        NETFT_PROC_PROBE,
        "geometry_msgs/WrenchStamped",
        "in",
        _SENSOR,
        "compensated wrench at the probe; bias, weight, filter and deadband are not applied again",
    ),
    Topic(ROBOT_DESCRIPTION, "std_msgs/String", "in", _LATCHED, "URDF, unless --model is given"),
    Topic(
        DESIRED_POSE,
        "geometry_msgs/PoseStamped",
        "in",
        _SENSOR,
        "desired pose of the probe in base_link, approached inside the limits",
    ),
    Topic(
        DESIRED_TWIST,
        "geometry_msgs/TwistStamped",
        "in",
        _SENSOR,
        "twist of the desired pose in base_link axes; it lasts 0.1 s",
    ),
    Topic(
        TARGET_WRENCH,
        "geometry_msgs/WrenchStamped",
        "in",
        _SENSOR,
        "force.target, streamed: what the tool does to the world; no frame_id: in the law's axes",
    ),
    Topic(
        TASK_ORIENTATION,
        "geometry_msgs/QuaternionStamped",
        "in",
        _SENSOR,
        "admittance.orientation, streamed: the axes of the law, in any frame",
    ),
    Topic(MASS, "std_msgs/Float64MultiArray", "in", _SENSOR, "admittance.mass, streamed: six"),
    Topic(DAMPING, "std_msgs/Float64MultiArray", "in", _SENSOR, "admittance.damping, likewise"),
    Topic(
        STIFFNESS,
        "std_msgs/Float64MultiArray",
        "in",
        _SENSOR,
        "admittance.stiffness, likewise; damping that is not streamed follows its ratio",
    ),
    Topic(
        REFERENCE_TRAJECTORY,
        "trajectory_msgs/JointTrajectory",
        "in",
        _COMMAND,
        "planned motion, followed with give; one without points ends it",
    ),
    Topic(
        TF,
        "tf2_msgs/TFMessage",
        "in",
        _MANY,
        "only for a sensor frame that the URDF lacks, and for frames of axes and forces",
    ),
    Topic(TF_STATIC, "tf2_msgs/TFMessage", "in", _MANY_LATCHED, "likewise"),
    Topic(
        PROGRAM_RUNNING,
        "std_msgs/Bool",
        "in",
        _LATCHED,
        "of the driver, if it comes: false forbids a start, and stops the arm",
    ),
    Topic(
        ROBOT_MODE,
        "ur_dashboard_msgs/RobotMode",
        "in",
        _LATCHED,
        "likewise all but RUNNING, if this ROS has ur_dashboard_msgs",
    ),
    Topic(
        SAFETY_MODE,
        "ur_dashboard_msgs/SafetyMode",
        "in",
        _LATCHED,
        "likewise all but NORMAL and REDUCED",
    ),
    Topic(
        VELOCITY_COMMANDS,
        "std_msgs/Float64MultiArray",
        "out",
        _COMMAND,
        "joint velocities [rad/s], with output.mode velocity",
    ),
    Topic(
        POSITION_COMMANDS,
        "std_msgs/Float64MultiArray",
        "out",
        _COMMAND,
        "joint positions [rad], with output.mode position",
    ),
    Topic(
        JOINT_TRAJECTORY,
        "trajectory_msgs/JointTrajectory",
        "out",
        _COMMAND,
        "one point with positions and velocities, with output.mode trajectory",
    ),
    Topic(
        CARTESIAN_VELOCITY,
        "geometry_msgs/Twist",
        "out",
        _MONITOR,
        "twist of the probe that the joints are told to make, base_link axes",
    ),
    Topic(
        POSE_ERROR,
        "geometry_msgs/Twist",
        "out",
        _MONITOR,
        "from the measured to the commanded pose [m, rad], base_link axes",
    ),
    Topic(
        VELOCITY_COMMAND,
        "geometry_msgs/Twist",
        "out",
        _MONITOR,
        "twist that the law asks for, before the limits, base_link axes",
    ),
    Topic(
        STATUS,
        "diagnostic_msgs/DiagnosticArray",
        "out",
        _MONITOR,
        "stamped: wrench at the probe, pose error, gains in force, limits and contact",
    ),
    Topic(DIAGNOSTICS, "diagnostic_msgs/DiagnosticArray", "out", _COMMAND, "status, 1 Hz"),
)

SERVICES = {
    TARE: "take what the sensor feels now, at rest and untouched, as its bias",
    STOP: "brake to rest and stay there until reset",
    RESET: "after a stop, with --remote-reset: check as for an activation, and give way again",
    SET_EQUILIBRIUM: "make the present pose the equilibrium",
}
"""The services, all of type std_srvs/Trigger; those of every lifecycle node come on top."""

ACTIONS = {
    FOLLOW_TRAJECTORY: (
        "control_msgs/FollowJointTrajectory",
        "planned motion, as on ~/joint_trajectory; if this ROS has control_msgs",
    ),
}
"""By name: type, and what it does."""
