"""A minute at 500 Hz, two processes over DDS: the pace is held, and nothing is lost either way."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import numpy as np
import pytest

from ur_admittance.blackboard import Blackboard
from ur_admittance.errors import RobotError

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
pytest.importorskip("mujoco")

from diagnostic_msgs.msg import DiagnosticArray

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.stage import change

pytestmark = pytest.mark.slow

RATE, SECONDS = 500.0, 60.0


def test_a_minute_at_500_hz_loses_nothing(graph: Graph):
    """Where the machine makes the node late, it stops the arm and is reset: time passes, and the
    messages of that time do not count, but none of the others may be lost.
    """
    told = graph.hear(DiagnosticArray, "/diagnostics", 10)
    # less than safety.start_force, which a hand may not exceed when the node is reset
    sim = graph.start("sim-ros2", "--push", "0", "8", "0", "--json")
    node = graph.start("run", "--robot", "ros2", "--config", "preset:hand-guiding", "--json")
    ticks = watched(graph)
    assert change(graph, "deactivate")
    told_before = len(told)
    graph.until(lambda: len(told) > told_before)
    ended(node)
    served = ended(sim)

    starts = np.flatnonzero(np.diff(ticks["tick"], prepend=np.inf) < 0)
    runs = [run["timing"] for run in np.split(ticks, starts[1:])]
    seconds = sum(run["arrived"][-1] - run["arrived"][0] for run in runs)
    lost = max(int(value_of(message, "lost messages")) for message in told)  # of the worst run
    story = (
        f"{len(ticks)} ticks in {seconds:.2f} s, in {len(runs)} runs; states that came together "
        f"with the next: {sum(run['missed'][-1] for run in runs)}; lost: {lost}; arm: {served}"
    )
    assert lost == served["lost"] == served["refused"] == 0, story
    assert served["commands"] >= len(ticks), story
    assert len(ticks) > 0.95 * RATE * seconds, story


def watched(graph: Graph) -> np.ndarray:
    """All that the node put on its blackboard, until it is a minute of ticks."""
    board: list[Any] = []

    def attach() -> bool:
        try:
            board.append(Blackboard.attach("ros2"))
        except RobotError:
            return False
        return True

    graph.until(attach)
    records, index, parts = 0, 0, []
    while records < SECONDS * RATE:
        graph.after(1.0)
        part, index, overwritten = board[0].since(index)
        assert overwritten == 0
        assert not any("the arm was stopped" in words for words in graph.said()), graph.said()
        assert len(parts) < 10 * SECONDS, "the machine is late all the time"
        parts.append(part)
        records += len(part)
    return np.concatenate(parts)


def value_of(message: Any, key: str) -> str:
    """What the node told; "0" while it is not configured."""
    return {pair.key: pair.value for pair in message.status[0].values}.get(key, "0")


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a process says of itself at its end, for which it is asked."""
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return json.loads(output)
