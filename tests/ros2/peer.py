"""A node of the test's own on a ROS 2 graph: what it hears, what it says, and what it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rclpy
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParameters,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from tests.ros2.clock import wall

_ANSWER = 5.0  # s for an answer, before a question is asked again
_AT_ONCE = 100  # messages of a topic
_HARMLESS = (GetState, GetParameters, ListParameters, DescribeParameters, SetParameters)
SENSOR = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Heard(list):
    """Messages of one topic.

    Attributes:
        sent: how many the sender of the last one had sent by then, those that were lost included.
    """

    sent = 0


class Peer:
    """Whoever takes part says in `until` how it waits.

    Attributes:
        node: the test's own.
    """

    def __init__(self, domain: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node: Any = rclpy.create_node(
            "test", context=self._context, start_parameter_services=False
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        # An executor would take half a millisecond for each message.
        self._ear: Any = rclpy.create_node(
            "ear", context=self._context, start_parameter_services=False, enable_rosout=False
        )
        self._heard: list[tuple[Any, Heard]] = []
        self._clients: dict[str, Any] = {}

    def until(self, what: Callable[[], object], each: Callable[[], object] = lambda: None) -> None:
        """Take messages until `what` is true, calling `each` now and then."""
        raise NotImplementedError

    def hear(self, kind: Any, topic: str, qos: Any = SENSOR) -> Heard:
        """A list that grows by the messages of a topic."""
        heard = Heard()
        subscription = self._ear.create_subscription(kind, topic, heard.append, qos)
        self._heard.append((subscription, heard))
        return heard

    def take(self) -> int:
        """What has arrived, but no more than so many: on a busy machine an arm may send faster than
        this process reads, and then there would be no end to it. How many messages that were.
        """
        count = 0
        for subscription, heard in self._heard:
            take, kind = subscription.handle.take_message, subscription.msg_type
            for _ in range(_AT_ONCE):
                if (taken := take(kind, False)) is None:
                    break
                count += 1
                heard.append(taken[0])
                heard.sent = taken[1]["publication_sequence_number"]
        return count

    def read_all(self, node: str) -> None:
        """Take all that a lifecycle node has sent by now: it answers later than that."""
        self.known_to(node)
        self.until(lambda: not self.take())

    def publisher(self, kind: Any, topic: str, qos: Any = 10) -> Any:
        """A publisher that knows of somebody who listens. Whether he knows of it, too, is another
        matter (see `known_to`): one who takes what he can get may miss its first messages.
        """
        publisher = self.node.create_publisher(kind, topic, qos)
        self.until(publisher.get_subscription_count)
        return publisher

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
        """The answer, also if DDS never makes this client known to the node: to another one then,
        which asks beside it.
        """
        self.until(client.service_is_ready)
        futures, clients, asked = [client.call_async(request)], [client], wall()

        def again() -> None:
            nonlocal asked
            if wall() - asked > _ANSWER:
                futures.extend(each.call_async(request) for each in clients)
                clients.append(self.node.create_client(client.srv_type, client.srv_name))
                asked = wall()

        self.until(lambda: any(future.done() for future in futures), again)
        for other in clients[1:]:
            self.node.destroy_client(other)
        return next(future.result() for future in futures if future.done())

    def _client(self, kind: Any, service: str) -> Any:
        """One for each service, for ever."""
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, service)
        self.until(self._clients[service].service_is_ready)
        return self._clients[service]

    def leave(self) -> None:
        """It is no longer on the graph."""
        self._executor.shutdown()
        self.node.destroy_node()
        self._ear.destroy_node()
        rclpy.shutdown(context=self._context)
