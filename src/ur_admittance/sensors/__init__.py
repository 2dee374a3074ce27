"""Wrench sources that are not the robot."""
