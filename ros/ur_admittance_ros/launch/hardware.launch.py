"""The admittance node, and if asked the wrench pipeline, beside a running `ur_robot_driver`.

    ros2 launch ur_robot_driver ur_control.launch.py ur_type:=ur5e robot_ip:=192.168.56.101
    ros2 launch ur_admittance_ros hardware.launch.py config:=/path/to/mine.yaml
    ros2 control switch_controllers --deactivate scaled_joint_trajectory_controller \\
        --activate forward_position_controller
    ros2 lifecycle set /admittance_node activate

`forward_position_controller` holds the last position should the admittance node die, whatever kills
it. `forward_velocity_controller` (output.mode velocity) would go on with the last velocity; there
the node's guard brakes the arm. In either case this deactivates the controller then.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, RegisterEventHandler
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

PACKAGE = "ur_admittance_ros"
ARGUMENTS = {
    "config": (None, "parameter file of the admittance node"),
    "wrench_topic": (
        "/force_torque_sensor_broadcaster/wrench",
        "where the wrench comes from; with the wrench node: /netft/proc_probe",
    ),
    "trajectory_controller": (
        "scaled_joint_trajectory_controller",
        "from ROS Lyrical on: joint_trajectory_controller",
    ),
    "motion_controller": (
        "forward_position_controller",
        "that of output.mode; deactivated when the admittance node ends",
    ),
    "wrench_node": ("false", "true: compensate /netft/raw_sensor in a process of its own"),
}


def generate_launch_description() -> LaunchDescription:
    """The nodes, and what happens when the admittance node ends."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    value = {name: LaunchConfiguration(name) for name in ARGUMENTS}
    config = ["--config", value["config"]]
    trajectories = "/scaled_joint_trajectory_controller/joint_trajectory"
    admittance = Node(
        package=PACKAGE,
        executable="admittance_node",
        arguments=[*config, "--wrench", value["wrench_topic"], "--inactive"],
        remappings=[(trajectories, ["/", value["trajectory_controller"], "/joint_trajectory"])],
        output="screen",
    )
    wrench = Node(
        package=PACKAGE,
        executable="wrench_node",
        arguments=config,
        output="screen",
        condition=IfCondition(value["wrench_node"]),
    )
    deactivate = ExecuteProcess(
        cmd=["ros2", "control", "switch_controllers", "--deactivate", value["motion_controller"]],
        output="screen",
    )
    ended = RegisterEventHandler(OnProcessExit(target_action=admittance, on_exit=[deactivate]))
    return LaunchDescription([*arguments, wrench, admittance, ended])
