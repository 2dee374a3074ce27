"""An arm on a ROS 2 graph: its topics as a robot, and what every node of ours needs of ROS."""
