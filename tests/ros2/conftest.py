"""The fixtures of the ROS 2 tests; without ROS they are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.ros2.graph import Graph
    from tests.ros2.stage import Stage


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    """A ROS graph of the test's own, see `graph.py`."""
    pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
    from tests.ros2.graph import Graph

    made = Graph(tmp_path, monkeypatch)
    yield made
    try:
        made.settle()
    finally:
        made.close()


@pytest.fixture
def staged(graph: Graph) -> Iterator[Callable[..., Stage]]:
    """Makes a stage that is judged at the end of the test, and ends then."""
    from tests.ros2.stage import Stage

    made: list[Stage] = []

    def make(*arguments: str, **more: Any) -> Stage:
        made.append(Stage(graph, *arguments, **more))
        return made[-1]

    yield make
    try:
        for stage in made:
            stage.judge()
    finally:
        for stage in made:
            stage.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One stage for all tests of a file, see `stage.py`."""
    pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
    from tests.ros2.graph import Graph
    from tests.ros2.stage import Stage

    with pytest.MonkeyPatch.context() as patch:
        graph = Graph(tmp_path_factory.mktemp("ros2"), patch)
        stage = Stage(graph, "--model", "ur5e", "--inactive")
        try:
            # By the first activation all have found each other.
            graph.until(lambda: stage.state == "inactive" and stage.change("activate"))
            assert stage.change("deactivate")
            yield stage
        finally:
            stage.close()
            graph.close()


@pytest.fixture
def stage(shared: Stage) -> Iterator[Stage]:
    """The node inactive, the arm good and at rest. Afterwards all that it did is judged."""
    shared.behave()
    for heard in (shared.states, shared.commands, shared.log):
        heard.clear()
    shared.graph.until(lambda: shared.states)
    yield shared
    if shared.state == "active":
        assert shared.change("deactivate")
    shared.until_mute()
    shared.judge()


@pytest.fixture
def active(stage: Stage) -> Stage:
    """The node active, the arm good and at rest."""
    stage.activate()
    stage.graph.until(lambda: len(stage.commands) > 3)
    return stage
