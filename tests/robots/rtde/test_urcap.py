"""The program is served to who asks for it, and to nobody else; serving it never waits."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from ur_admittance import RobotError
from ur_admittance.robots.rtde.urcap import ScriptServer

TEXT = "# HEADER_BEGIN\n" + "textmsg(1)\n" * 3000


@pytest.fixture
def server() -> Iterator[ScriptServer]:
    made = ScriptServer(TEXT, port=0, host="127.0.0.1")
    yield made
    made.close()


def client(server: ScriptServer) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", server.port))
    sock.settimeout(10.0)
    return sock


def answer(sock: socket.socket) -> str:
    with sock:
        text = b""
        while part := sock.recv(65536):
            text += part
    return text.decode()


def poll(server: ScriptServer, times: int = 50) -> None:
    """What is on its way over this machine needs a moment."""
    for _ in range(times):
        server.poll()


def test_who_asks_for_the_program_gets_all_of_it_and_the_connection_ends(server) -> None:
    for served in (1, 2):
        sock = client(server)
        sock.sendall(b"request_program\n")
        while server.served < served:
            server.poll()
        assert answer(sock) == TEXT


def test_who_asks_for_something_else_gets_nothing(server) -> None:
    for words in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 300):
        sock = client(server)
        sock.sendall(words)
        sock.shutdown(socket.SHUT_WR)
        sock.setblocking(False)
        while True:
            server.poll()
            try:
                assert sock.recv(10) == b""
                break
            except BlockingIOError:
                continue
            except ConnectionResetError:  # it hung up on words it had not read
                break
        sock.close()
    assert server.served == 0


def test_nobody_is_waited_for(server) -> None:
    poll(server)
    silent = client(server)
    poll(server)
    asks = client(server)
    asks.sendall(b"request_program")
    while not server.served:
        server.poll()
    assert answer(asks) == TEXT
    silent.close()


def test_of_many_that_say_nothing_the_oldest_are_dropped(server) -> None:
    crowd = [client(server) for _ in range(4)]
    poll(server)
    last = client(server)
    while True:  # until it is among those that are heard
        server.poll()
        crowd[0].setblocking(False)
        try:
            assert crowd[0].recv(1) == b""
            break
        except BlockingIOError:
            continue
    last.sendall(b"request_program")
    while not server.served:
        server.poll()
    assert answer(last) == TEXT
    for sock in crowd:
        sock.close()


def test_a_port_that_somebody_has_is_said(server) -> None:
    with pytest.raises(RobotError, match=f"--urcap: cannot listen on port {server.port}"):
        ScriptServer(TEXT, port=server.port, host="127.0.0.1")


def test_closed_nobody_is_served_and_closing_twice_is_fine() -> None:
    server = ScriptServer(TEXT, port=0, host="127.0.0.1")
    sock = client(server)
    while not server._clients:
        server.poll()
    server.close()
    server.close()
    assert answer(sock) == ""
    with pytest.raises(ConnectionRefusedError):
        client(server)
