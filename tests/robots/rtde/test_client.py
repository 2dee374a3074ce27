"""The client's handshake: what answers it may get, and that only a clear error comes of them."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ur_admittance import RobotError
from ur_admittance.robots.rtde import protocol
from ur_admittance.robots.rtde.client import RtdeClient


@contextmanager
def answering(answer: Callable[[bytes], bytes]) -> Iterator[int]:
    """A server on this machine that says `answer(question)`, and hangs up; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        sock, _ = listener.accept()
        with sock, contextlib.suppress(ConnectionError):
            while question := sock.recv(4096):
                said = answer(question)
                sock.sendall(said)
                if not said:
                    return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        thread.join()
        listener.close()


def connect(port: int) -> None:
    client = RtdeClient("127.0.0.1", port)
    try:
        client.connect()
        client.listen(500.0, ["timestamp", "actual_q"])
    finally:
        client.close()


def test_an_old_protocol_is_said():
    """Row 48 of the faults."""
    refuse = protocol.frame(protocol.PROTOCOL_VERSION, b"\0")
    with answering(lambda _: refuse) as port, pytest.raises(RobotError, match="version 2 of RTDE"):
        connect(port)


def test_a_server_that_hangs_up_is_said():
    with answering(lambda _: b"") as port, pytest.raises(RobotError, match="closed the connection"):
        connect(port)


def test_a_server_that_is_no_robot_is_said():
    page = b"HTTP/1.1 400 Bad Request\r\n\r\n" * 400
    with answering(lambda _: page) as port, pytest.raises(RobotError):
        connect(port)


@pytest.mark.parametrize("seed", range(20))
def test_any_answers_end_in_a_clear_error(seed: int):
    """Frames of the right kind with contents by chance."""
    rng = random.Random(seed)

    def answer(question: bytes) -> bytes:
        if rng.random() < 0.5 and question[2] in b"V":
            return protocol.frame(question[2], b"\x01")
        if rng.random() < 0.5 and question[2] in b"v":
            return protocol.frame(question[2], struct.pack(">4I", 5, 9, 0, 0))
        return protocol.frame(question[2], rng.randbytes(rng.randrange(60)))

    def once(question: bytes) -> bytes:
        said = answer(question)
        return said if len(said) > 3 else b""

    with answering(once) as port, pytest.raises(RobotError):
        connect(port)


def test_what_the_robot_says_before_it_answers_is_skipped():
    text = protocol.frame(protocol.TEXT, b"\x05hello\x02UR\x03")
    state = protocol.frame(protocol.DATA, b"\x01" + bytes(8))
    answers = {
        ord("V"): b"\x01",
        ord("v"): struct.pack(">4I", 5, 21, 2, 0),
        ord("O"): b"\x01DOUBLE,VECTOR6D",
    }
    with answering(lambda q: text + state + protocol.frame(q[2], answers[q[2]])) as port:
        connect(port)


def test_what_finds_no_room_is_dropped_whole_and_counted_and_nobody_waits():
    """A controller that does not read. What it reads later is commands, none of them torn."""
    here, there = socket.socketpair()
    with here, there:
        for kind, answer in (
            (protocol.PROTOCOL_VERSION, b"\x01"),
            (protocol.CONTROLLER_VERSION, struct.pack(">4I", 5, 21, 2, 0)),
            (protocol.SETUP_OUTPUTS, b"\x01DOUBLE"),
            (protocol.START, b"\x01"),
        ):
            there.sendall(protocol.frame(kind, answer))
        client = RtdeClient("robot", make=lambda address, seconds: here)
        client.connect()
        client.listen(500.0, ["timestamp"])
        client.start(lambda contents: True, 1.0)
        there.recv(1 << 20)  # the questions
        packets = [protocol.frame(protocol.DATA, n.to_bytes(4) * 50) for n in range(20_000)]
        for packet in packets:
            client.send(packet)
        assert 0 < client.unsent < len(packets)
        came, last = there.recv(1 << 24), protocol.frame(protocol.DATA, b"last")
        client.send(last)  # what was cut goes first
        came += there.recv(1 << 24)
    assert came == b"".join(packets[: len(packets) - client.unsent]) + last
