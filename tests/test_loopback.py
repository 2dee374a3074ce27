"""A robot over sockets is the same on every run, however busy the machine is."""

from __future__ import annotations

import select
import socket

import numpy as np
import pytest

from tests.loopback import Loopback, deliver
from tests.robots.rtde.support import driven, guided
from tests.ur_fake.support import controller

pytest.importorskip("mujoco")
pytest.importorskip("lark")


@pytest.mark.parametrize("fault", ["rtde:jitter=0.008", "rtde:drop=0.05"])
def test_two_runs_over_real_sockets_are_the_same_to_the_last_cycle(fault: str) -> None:
    runs = []
    for _ in range(2):
        with driven() as (robot, fake, controller):
            summary = guided(robot, fake, controller, lambda: fake.inject(fault), newton=10.0)
            runs.append((fake.kinds, fake.target_qd, summary.ticks, summary.late, summary.missed))
    one, other = runs
    assert one[0] == other[0] and one[2:] == other[2:]
    np.testing.assert_array_equal(one[1], other[1])
    assert np.abs(one[1]).max() > 0.05


def test_what_was_delivered_can_be_read_at_once_and_in_one_go() -> None:
    """More packets than a sender may have under way, while the receiver keeps its word back."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        near = socket.create_connection(door.getsockname())
        far, _ = door.accept()
    with near, far:
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(20):
            for _ in range(200):
                near.send(b"x" * 100)
            deliver(near, far)
            assert len(far.recv(1 << 20, socket.MSG_DONTWAIT)) == 20_000


def test_a_receiver_that_never_reads_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        near = socket.create_connection(door.getsockname())
        far, _ = door.accept()
    with near, far:
        near.setblocking(False)
        while select.select([], [near], [], 0.0)[1]:
            near.send(b"x" * 4096)
        deliver(near, far)


def test_two_clients_with_one_number_are_told_apart() -> None:
    """The system gives a client of one port the number that a client of another one has."""
    with controller() as robot:
        first, second = socket.socket(), socket.socket()
        with first, second:
            for sock, port in ((first, "rtde"), (second, "realtime")):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind(first.getsockname() if sock is second else ("127.0.0.1", 0))
                sock.connect(("127.0.0.1", robot.ports[port]))
                loopback = Loopback(sock, robot)
            second.send(b"garbage" * 100)
            loopback.to_far()
