"""What the tests of the ROS 2 nodes share: a graph that no one else sees, real processes on it, and
a node of the test's own.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rclpy
from lifecycle_msgs.srv import GetState
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParameters,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_srvs.srv import Trigger

from tests.ros2.domain import domain
from ur_admittance import Config, Controller, RobotModel

SCRIPT = str(Path(sys.executable).with_name("ur-admittance"))
PATIENCE = 120.0  # s, for a busy machine
_LATE = "missed its cycle"  # words of the control loop
_LAST_WORDS = 20.0  # s for a process to end
_ANSWER = 5.0  # s for an answer, before a question is asked again
_STALL = 0.05  # s: what takes longer here was a pause of the machine
_HARMLESS = (GetState, GetParameters, ListParameters, DescribeParameters, SetParameters)
SENSOR = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATCHED_LOG = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@functools.cache
def compile_once() -> None:
    """So that no process has to, in the middle of a test: on a new machine it takes a minute."""
    Controller(RobotModel.ur("ur5e"), Config())


class Graph:
    """One ROS domain on this machine.

    Attributes:
        node: the test's own.
        log: what nodes have logged.
        folder: in which processes start.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        compile_once()
        number, self._domain = domain()
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
        self._clients: dict[str, Any] = {}
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=number)
        self.node: Any = rclpy.create_node(
            "test", context=self._context, start_parameter_services=False
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        # An executor would take half a millisecond for each message.
        self._ear: Any = rclpy.create_node(
            "ear", context=self._context, start_parameter_services=False, enable_rosout=False
        )
        self._heard: list[tuple[Any, list[Any]]] = []
        self.log = self.hear(Log, "/rosout", LATCHED_LOG)
        self._reset = self.node.create_client(Trigger, "/admittance_node/reset")
        self._resetting: Any = None

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

    def kill(self, process: subprocess.Popen[str]) -> None:
        """With -9."""
        process.kill()
        process.communicate()
        self.forget(process)

    def hear(self, kind: Any, topic: str, qos: Any = SENSOR) -> list[Any]:
        """A list that grows by the messages of a topic."""
        heard: list[Any] = []
        subscription = self._ear.create_subscription(kind, topic, heard.append, qos)
        self._heard.append((subscription, heard))
        return heard

    def said(self) -> list[str]:
        """What nodes have logged, in words."""
        return [line.msg for line in self.log]

    def publisher(self, kind: Any, topic: str, qos: Any = 10) -> Any:
        """A publisher that knows of somebody who listens. Whether he knows of it, too, is another
        matter (see `known_to`): one who takes what he can get may miss its first messages.
        """
        publisher = self.node.create_publisher(kind, topic, qos)
        self.until(publisher.get_subscription_count)
        return publisher

    def until(self, what: Callable[[], object], each: Callable[[], object] = lambda: None) -> None:
        """Take messages until `what` is true, calling `each` every 20 ms."""
        deadline, due = time.monotonic() + PATIENCE, 0.0
        while not what():
            dead = [p.communicate() for p in self._processes if p.poll() not in (None, 0)]
            assert not dead, dead
            assert time.monotonic() < deadline, f"waited in vain; last said: {self.said()[-5:]}"
            self._executor.spin_once(timeout_sec=0.005)
            self._take()
            self._go_on()
            if time.monotonic() >= due:
                due = time.monotonic() + 0.02
                each()

    def _take(self) -> None:
        for subscription, heard in self._heard:
            take, kind = subscription.handle.take_message, subscription.msg_type
            while (taken := take(kind, False)) is not None:
                heard.append(taken[0])

    def _go_on(self) -> None:
        """Reset an admittance node that stopped because this machine was late: that is no test's
        concern, and is not in the log.
        """
        answer = self._resetting.result() if self._resetting and self._resetting.done() else None
        refused = answer and not answer.success and "nothing to reset" not in answer.message
        if refused or any(_LATE in line.msg for line in self.log):
            self.log[:] = [line for line in self.log if _LATE not in line.msg]
            self._resetting = self._reset.call_async(Trigger.Request())

    def after(self, seconds: float, each: Callable[[], object] = lambda: None) -> None:
        """Take messages for so long. While this machine pauses none are taken: that does not
        count.
        """
        left, before = seconds, time.monotonic()

        def over() -> bool:
            nonlocal left, before
            now = time.monotonic()
            left, before = left - min(now - before, _STALL), now
            return left <= 0.0

        self.until(over, each)

    def ask(self, kind: Any, service: str, request: Any) -> Any:
        """A future with the answer of a service of a lifecycle node, which is asked once."""
        if service not in self._clients:
            self._client(kind, service)
            self.known_to(service.rpartition("/")[0])
        return self._client(kind, service).call_async(request)

    def call(self, kind: Any, service: str, request: Any) -> Any:
        """The answer of a service."""
        if kind in _HARMLESS:
            return self.insist(kind, service, request)
        future = self.ask(kind, service, request)
        self.until(future.done)
        return future.result()

    def insist(self, kind: Any, service: str, request: Any) -> Any:
        """The answer of a service, which is asked again if none comes: DDS loses the answer to a
        client of which the node has not heard yet.
        """
        return self._insist(self._client(kind, service), request)

    def known_to(self, node: str) -> None:
        """Return when a lifecycle node knows all publishers, subscriptions and clients that the
        test has by now: DDS tells of them in order, and it has answered a client made later.
        """
        later = self.node.create_client(GetState, f"{node}/get_state")
        self._insist(later, GetState.Request())
        self.node.destroy_client(later)

    def _insist(self, client: Any, request: Any) -> Any:
        self.until(client.service_is_ready)
        futures, asked = [client.call_async(request)], time.monotonic()

        def again() -> None:
            nonlocal asked
            if time.monotonic() - asked > _ANSWER:
                futures.append(client.call_async(request))
                asked = time.monotonic()

        self.until(lambda: any(future.done() for future in futures), again)
        return next(future.result() for future in futures if future.done())

    def _client(self, kind: Any, service: str) -> Any:
        """One for each service, for ever."""
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, service)
        self.until(self._clients[service].service_is_ready)
        return self._clients[service]

    def close(self) -> None:
        """End the processes, gently: one that is killed while it writes to our shared memory may
        make Fast DDS crash here when this node leaves the graph.
        """
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.communicate(timeout=_LAST_WORDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        self._executor.shutdown()
        self.node.destroy_node()
        self._ear.destroy_node()
        rclpy.shutdown(context=self._context)
        self._domain.close()
