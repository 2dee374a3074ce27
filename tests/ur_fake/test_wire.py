"""No client can harm the others: caps on sizes, counts and rates."""

from __future__ import annotations

import itertools
import random
import resource
import socket
import struct
from collections.abc import Iterator

import pytest

from tests.ur_fake.support import RtdeTalker, Talker, controller
from ur_admittance.errors import RobotError
from ur_fake.rtde import frames
from ur_fake.server import Controller

PORTS = ("primary", "secondary", "realtime", "rtde", "dashboard", "control")


@pytest.fixture(scope="module")
def robot() -> Iterator[Controller]:
    with controller() as made:
        yield made


@pytest.fixture
def honest(robot: Controller) -> Iterator[RtdeTalker]:
    """A client that must not notice anything."""
    client = RtdeTalker(robot)
    client.outputs("timestamp")
    client.exchange("S")
    first = struct.unpack(">d", client.data())[0]
    yield client
    times = [first]
    while times[-1] < robot.machine.time - 0.001:
        times.append(struct.unpack(">d", client.data())[0])
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert all(abs(gap - 0.002) < 1e-9 for gap in gaps)
    client.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many open files as a crowd needs, on both sides."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_crowd_is_turned_away_and_the_first_stay(robot: Controller, honest: RtdeTalker) -> None:
    crowd = []
    for _ in range(1000):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", robot.ports["rtde"]))
        crowd.append(sock)
        honest.step()
    honest.until(lambda: robot.state()["dropped"] >= 1000 - robot.rtde.caps.clients)
    assert len(robot.rtde.clients) <= robot.rtde.caps.clients
    for sock in crowd:
        sock.close()
    honest.until(lambda: len(robot.rtde.clients) == 1)


@pytest.mark.parametrize("port", PORTS)
def test_fifty_megabytes_end_in_a_closed_door_or_an_empty_read(
    robot: Controller, honest: RtdeTalker, port: str
) -> None:
    client = Talker(robot, port)
    sent, piece = 0, b"\xff" * 65536
    while sent < 50_000_000 and not client.ended:
        client.send(piece)
        sent += len(piece)
    assert client.ended
    assert sent < 20_000_000
    honest.step()


@pytest.mark.parametrize("port", PORTS)
def test_garbage_is_survived(robot: Controller, honest: RtdeTalker, port: str) -> None:
    chance = random.Random(port)
    for _ in range(30):
        client = Talker(robot, port)
        client.send(chance.randbytes(chance.randrange(1, 3000)) + b"\n")
        honest.step()
        client.close()
    honest.step()


def test_somebody_who_never_reads_is_dropped(robot: Controller, honest: RtdeTalker) -> None:
    client = RtdeTalker(robot)
    client.outputs("actual_q," * 220)
    client.send(frames.frame(frames.START))
    before = len(robot.rtde.clients)
    for _ in range(20_000):
        honest.step()
        if len(robot.rtde.clients) < before:
            break
    assert len(robot.rtde.clients) < before
    client.close()


def test_a_flood_of_data_is_taken_a_share_a_cycle(robot: Controller, honest: RtdeTalker) -> None:
    client = RtdeTalker(robot)
    number, _ = client.inputs("input_int_register_35")
    flood = b"".join(
        frames.frame(frames.DATA, struct.pack(">Bi", number, i)) for i in range(1, 20_001)
    )
    client.send(flood)
    honest.until(lambda: robot.machine.input_int[35] == 20_000)
    client.close()


def test_a_port_that_is_taken_is_named(robot: Controller) -> None:
    offset = robot.ports["primary"] - 30001
    with pytest.raises(RobotError, match="primary on 127"):
        Controller(ports=offset)
