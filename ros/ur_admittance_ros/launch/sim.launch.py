"""A simulated arm that gives way: two processes, no hardware.

ros2 launch ur_admittance_ros sim.launch.py config:=/path/to/mine.yaml
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

PACKAGE = "ur_admittance_ros"
PRESET = PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "hand-guiding.yaml"])


def generate_launch_description() -> LaunchDescription:
    """The arm, and the node that moves it; either ends both."""
    arguments = [
        DeclareLaunchArgument("arm", default_value="ur5e", description="ur3e to ur30"),
        DeclareLaunchArgument("config", default_value=PRESET, description="parameter file"),
    ]
    arm, config = LaunchConfiguration("arm"), LaunchConfiguration("config")
    nodes = [
        Node(
            package=PACKAGE,
            executable=executable,
            arguments=own,
            output="screen",
            on_exit=Shutdown(),
        )
        for executable, own in (
            ("sim_node", ["--arm", arm]),
            ("admittance_node", ["--config", config]),
        )
    ]
    return LaunchDescription([*arguments, *nodes])
