"""What the tests of the ROS 2 nodes share: a graph that no one else sees, real processes on it, and
a node of the test's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data

SCRIPT = str(Path(sys.executable).with_name("ur-admittance"))
PATIENCE = 120.0  # s, for a busy machine
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_numbers = count()


def domain() -> int:
    """A domain of this worker's own, another for each call: 2 to 100."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return 2 + worker % 3 * 33 + next(_numbers) % 33


class Graph:
    """One ROS domain on this machine.

    Attributes:
        node: the test's own.
        folder: in which processes start.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        number = domain()
        private = {
            "ROS_DOMAIN_ID": str(number),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(folder / "log"),
            "UR_ADMITTANCE_RUNTIME": str(folder / "runtime"),
        }
        (folder / "runtime").mkdir()
        for name, value in {**private, "NO_COLOR": "1", "COLUMNS": "80"}.items():
            monkeypatch.setenv(name, value)
        self.folder, self._processes = folder, []
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=number)
        self.node: Any = rclpy.create_node("test", context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self.node)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The installed command, as a user would start it."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [SCRIPT, *arguments],
            stdout=pipe,
            stderr=pipe,
            text=True,
            cwd=self.folder,
        )
        self._processes.append(process)
        return process

    def forget(self, process: subprocess.Popen[str]) -> None:
        """A process that may have failed."""
        self._processes.remove(process)

    def hear(self, kind: Any, topic: str, qos: Any = qos_profile_sensor_data) -> list[Any]:
        """A list that grows by the messages of a topic."""
        heard: list[Any] = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def publisher(self, kind: Any, topic: str, qos: Any = 10) -> Any:
        """A publisher that somebody listens to."""
        publisher = self.node.create_publisher(kind, topic, qos)
        self.until(publisher.get_subscription_count)
        return publisher

    def until(self, what: Callable[[], object], each: Callable[[], object] = lambda: None) -> None:
        """Take messages until `what` is true, calling `each` after each wait of at most 20 ms."""
        deadline = time.monotonic() + PATIENCE
        while not what():
            dead = [p.communicate() for p in self._processes if p.poll() not in (None, 0)]
            assert not dead, dead
            assert time.monotonic() < deadline, "waited in vain"
            self._executor.spin_once(timeout_sec=0.02)
            each()

    def after(self, seconds: float, each: Callable[[], object] = lambda: None) -> None:
        """Take messages for so long."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end, each)

    def call(self, kind: Any, service: str, request: Any) -> Any:
        """The answer of a service."""
        client = self.node.create_client(kind, service)
        self.until(client.service_is_ready)
        future = client.call_async(request)
        self.until(future.done)
        return future.result()

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)
