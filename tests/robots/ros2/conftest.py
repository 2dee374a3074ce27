"""The fixtures of the ROS 2 tests."""

from tests.ros2.conftest import TFMessage, active, built, graph, needs, shared, stage, staged

__all__ = ["TFMessage", "active", "built", "graph", "needs", "shared", "stage", "staged"]
