"""The chain of `benchmarks/chain.py` as three ROS 2 nodes with topics between them.

The links and their computations are the same; only the hand-over differs: a message of
`std_msgs/Float64MultiArray` instead of a place in an array. All nodes live in one process and one
thread, which is the kindest case for topics.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from benchmarks.timing import BLOCK, summary
from benchmarks.workload import Workload
from ur_admittance.chain import ControllerManager
from ur_admittance.chain.interfaces import references_of

_DT = 0.002  # s
_PATIENCE = 2.0  # s for a message


def measure(manager: ControllerManager, work: Workload, cycles: int) -> dict[str, float]:
    """ns from the start of a cycle to the joint command, with two topics on the way."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import Float64MultiArray

    manager.activate(work.q[0])
    manager.update(work.q[0], work.wrench[0], _DT)
    above, law, below = (manager[name] for name in manager.order)
    views = {link.name: manager.interfaces.view(references_of(link)) for link in (above, law)}
    arrived = [0]

    rclpy.init(args=[])
    executor = SingleThreadedExecutor()
    nodes = [rclpy.create_node(f"chain_benchmark_{link.name}") for link in (above, law, below)]
    for node in nodes:
        executor.add_node(node)
    publish = {
        link.name: node.create_publisher(Float64MultiArray, f"~/{link.name}", 1).publish
        for link, node in zip((above, law), nodes, strict=False)
    }

    def hand_over(link: Any) -> None:
        publish[link.name](Float64MultiArray(data=views[link.name].tolist()))

    def to_law(message: Any) -> None:
        views[above.name][:] = message.data
        law.update(_DT)
        hand_over(law)

    def to_below(message: Any) -> None:
        views[law.name][:] = message.data
        below.update(_DT)
        arrived[0] = time.perf_counter_ns()

    for node, link, callback in ((nodes[1], above, to_law), (nodes[2], law, to_below)):
        topic = f"/chain_benchmark_{link.name}/{link.name}"
        node.create_subscription(Float64MultiArray, topic, callback, 1)

    def cycle() -> int:
        arrived[0] = 0
        begun = time.perf_counter_ns()
        above.update(_DT)
        hand_over(above)
        while not arrived[0]:
            executor.spin_once(timeout_sec=0.1)
            if time.perf_counter_ns() - begun > _PATIENCE * 1e9:
                raise RuntimeError("chain_ros2: a message did not arrive; is discovery blocked?")
        return arrived[0] - begun

    try:
        for _ in range(20):  # discovery takes a while
            executor.spin_once(timeout_sec=0.1)
        samples = np.array([cycle() for _ in range(cycles)], float)
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.shutdown()
    blocks = samples[: len(samples) // BLOCK * BLOCK].reshape(-1, BLOCK).sum(axis=1)
    return summary(blocks, samples)
