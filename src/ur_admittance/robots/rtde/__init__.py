"""A UR arm without ROS: its controller's own interfaces, RTDE above all."""
