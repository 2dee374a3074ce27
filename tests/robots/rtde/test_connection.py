"""A connection is prompt, notices a cut cable, and says in words what is the matter."""

from __future__ import annotations

import itertools
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ur_admittance import RobotError
from ur_admittance.robots.rtde.connection import connected, give_up_after, receive


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.binary(max_size=20))
def test_so_many_bytes_are_received_however_they_are_cut_and_no_more(data, cuts, more) -> None:
    here, there = socket.socketpair()
    with here, there:
        places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
        for start, end in itertools.pairwise(places):
            there.sendall(data[start:end])
        there.sendall(more)
        assert receive(here, len(data), "test") == data
        assert receive(here, len(more), "test") == more


def test_a_robot_that_hangs_up_is_said() -> None:
    here, there = socket.socketpair()
    with here:
        there.sendall(b"abc")
        there.close()
        with pytest.raises(RobotError, match="primary interface: the robot closed the connection"):
            receive(here, 4, "primary interface")


def test_a_robot_that_says_too_little_is_waited_for_no_longer_than_asked() -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(b"abc")
        with pytest.raises(RobotError, match=r"primary interface: no answer for 0\.01 s"):
            receive(here, 4, "primary interface", seconds=0.01)


def test_a_connection_that_breaks_is_said() -> None:
    """Reset, as by a controller that restarts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = connected("127.0.0.1", server.getsockname()[1], "test")
        there, _ = server.accept()
        there.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        there.close()
    with here, pytest.raises(RobotError, match=r"test: the connection broke \(.*reset"):
        receive(here, 1, "test")


def failing(error: OSError):
    def make(address: tuple[str, int], seconds: float) -> socket.socket:
        raise error

    return make


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (socket.gaierror(-2, "Name or service not known"), "no machine has this name"),
        (ConnectionRefusedError(111, "refused"), "it is there, but has no dashboard on port 29999"),
        (TimeoutError("timed out"), "no answer for the dashboard on port 29999"),
        (OSError(113, "No route to host"), "cable and network mask"),
    ],
)
def test_each_usual_cause_has_words_of_its_own(error: OSError, words: str) -> None:
    with pytest.raises(RobotError, match=rf"^rtde://robot: .*{words}"):
        connected("robot", 29999, "dashboard", failing(error))


def test_a_port_on_which_nobody_listens_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(
        RobotError, match=f"it is there, but has no primary interface on port {port}"
    ):
        connected("127.0.0.1", port, "primary interface")


def test_a_connection_does_not_wait_to_send_and_looks_whether_the_other_side_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        sock = connected("127.0.0.1", server.getsockname()[1], "test")
        with sock:
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 1
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 3
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1000


@pytest.mark.parametrize("seconds", [0.01, 0.5, 1.25, 3.0])
def test_giving_up_is_the_sockets_own_timeout(seconds: float) -> None:
    here, there = socket.socketpair()
    with here, there:
        give_up_after(here, seconds)
        assert here.gettimeout() is None
        raw = here.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16)
        whole, micro = struct.unpack("ll", raw)
        assert whole + 1e-6 * micro == pytest.approx(seconds, abs=0.005)  # the kernel's ticks
    here, there = socket.socketpair()
    with here, there:
        give_up_after(here, 0.01)
        with pytest.raises(BlockingIOError):
            here.recv(1)
