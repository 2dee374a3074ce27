"""The fixtures of the ROS 2 tests; without ROS they are skipped."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.ros2.graph import Graph
    from tests.ros2.stage import Stage


PRESENT = {name for name in ("tf2_msgs", "control_msgs") if find_spec(name) is not None}
"""Of what the tests can make themselves, what this ROS has."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Where a package of messages is: "" if this ROS has it, else a folder, shared by all workers,
    in which it is made once.
    """
    from tests.ros2 import build_messages

    def find(name: str) -> str:
        if name in PRESENT:
            return ""
        if why := build_messages.lacking(name):
            pytest.skip(f"needs {name}, and {why}")
        shared = tmp_path_factory.getbasetemp()
        shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
        folder, done = shared / name, shared / f"{name}.built"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                build_messages.build(name, folder)
                done.touch()
        return str(folder)

    return find


def _brought(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process and those that it starts find a package that was made here."""
    if folder:
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv("PYTHONPATH", folder, prepend=os.pathsep)


@pytest.fixture
def TFMessage(built: Callable[[str], str], graph: Graph, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The message type; the processes of the test find it, too."""
    _brought(built("tf2_msgs"), monkeypatch)
    return import_module("tf2_msgs.msg").TFMessage


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
def needs() -> tuple[str, ...]:
    """The packages of messages that the shared stage of a file has to find."""
    return ()


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, built: Callable[[str], str], needs: tuple[str, ...]
) -> Iterator[Stage]:
    """One stage for all tests of a file, see `stage.py`."""
    pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
    from tests.ros2.graph import Graph
    from tests.ros2.stage import Stage

    with pytest.MonkeyPatch.context() as patch:
        graph = Graph(tmp_path_factory.mktemp("ros2"), patch)
        for name in needs:
            _brought(built(name), patch)
        stage = Stage(graph, "--model", "ur5e", "--inactive")
        try:
            graph.until(lambda: stage.state == "inactive")
            stage.activate()  # by then all have found each other
            assert stage.change("deactivate")
            yield stage
        finally:
            stage.close()
            graph.close()


@pytest.fixture
def stage(shared: Stage) -> Iterator[Stage]:
    """The node inactive, the arm good and at rest. Afterwards all that it did is judged, and its
    parameters are as they were.
    """
    shared.behave()
    for heard in (shared.states, shared.commands, shared.log):
        heard.clear()
    shared.graph.until(lambda: shared.states)
    before = shared.parameters()
    yield shared
    if shared.state == "active":
        assert shared.change("deactivate")
    shared.until_mute()
    shared.restore(before)
    shared.judge()


@pytest.fixture
def active(stage: Stage) -> Stage:
    """The node active, the arm good and at rest."""
    stage.activate()
    stage.graph.until(lambda: len(stage.commands) > 3)
    return stage
