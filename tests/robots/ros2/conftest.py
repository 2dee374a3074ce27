"""The fixtures of the ROS 2 tests."""

from tests.ros2.conftest import active, graph, shared, stage, staged

__all__ = ["active", "graph", "shared", "stage", "staged"]
