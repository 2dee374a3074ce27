"""What the tests' own graph promises them: stops are counted, and waiting ends."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from tests.ros2 import graph as graph_module
from tests.ros2.graph import STOPPED, Graph


def stop(graph: Graph, *reasons: str) -> None:
    """Let a node say that it stopped the arm, for each of these reasons; it has been heard."""
    graph.until(lambda: graph.node.count_subscribers("/rosout"))
    seen = len(graph.stops) + len(reasons)
    for reason in reasons:
        graph.node.get_logger().error(STOPPED + reason)
    graph.until(lambda: len(graph.stops) == seen)


def test_stops_that_are_expected_are_counted(graph: Graph) -> None:
    stop(graph, "over_force: too much", "asked for", "asked for")
    graph.expect_stop("over_force")
    graph.expect_stop("nobody", "asked for", count=2)
    graph.settle()
    stop(graph, "asked for")  # counted anew
    graph.expect_stop("asked for")


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (("asked for", "asked for"), "so often"),
        (("asked for", "joints_lost"), "nobody expects"),
    ],
)
def test_a_stop_too_many_or_for_another_reason_fails(graph: Graph, reasons, words) -> None:
    stop(graph, *reasons)
    graph.expect_stop("asked for")
    with pytest.raises(AssertionError, match=words):
        graph.settle()


def test_a_wait_ends_where_no_time_passes_and_lasts_as_long_as_it_does(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_module, "PATIENCE", 0.5)
    clock = graph.simulate_time()
    with pytest.raises(AssertionError, match="waited in vain"):
        graph.until(lambda: False)
    calls: list[None] = []
    graph.until(lambda: len(calls) > 100, lambda: calls.append(clock.advance(1e-3)))  # 2 s
    with pytest.raises(AssertionError, match="waited in vain"):
        graph.until(lambda: False, lambda: clock.advance(0.1))
