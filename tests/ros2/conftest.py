"""The fixture of the ROS 2 tests; without ROS they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A ROS graph of the test's own, see `graph.py`."""
    pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
    from tests.ros2.graph import Graph

    made = Graph(tmp_path, monkeypatch)
    yield made
    made.close()
