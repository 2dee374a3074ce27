"""On a ROS 2 graph: the admittance node, the wrench node and a simulated arm, over standard topics.

`rclpy` comes from the user's own ROS 2, or from `pip install "ur-admittance[ros2]"`. Only `wire`
and what builds on it need it.
"""
