"""Our program is sent, or served, and seen to run; or it is said why not."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.robots.rtde.test_primary import message
from ur_admittance import RobotError
from ur_admittance.robots.rtde.primary import Primary
from ur_admittance.robots.rtde.script import for_urcap
from ur_admittance.robots.rtde.starting import Start
from ur_admittance.robots.rtde.status import Status

TEXT = "def ur_admittance():\n  textmsg(1)\nend"
FINE = Status(7, 1, 1, 2, 3, 0, 0, 0, 0)


class Clock:
    """Time that the test lets pass, s."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def starting(
    urcap: int | None = None,
) -> Iterator[tuple[Start, socket.socket, Clock, list[str]]]:
    """A start; the controller's end of the primary interface; the clock; what a person is told."""
    here, there = socket.socketpair()
    link, clock, told = Primary("r", make=lambda address, seconds: here), Clock(), []
    with there, Start("rtde://r", TEXT, link, urcap, told.append, clock) as start:
        yield start, there, clock, told
    link.close()


def port_of(told: list[str]) -> int:
    return int(told[0].rpartition("port ")[2].rstrip(")"))


def test_the_program_is_sent_and_while_all_is_well_nothing_is_said() -> None:
    with starting() as (start, there, clock, told):
        assert there.recv(1000).decode() == TEXT + "\n"
        clock.now += 4.9
        start.look(FINE)
        assert told == []


def test_a_program_that_does_not_run_in_five_seconds_is_said_with_what_the_controller_said() -> (
    None
):
    with starting() as (start, there, clock, _):
        for words in (b"one", b"two", b"three", b"syntax error"):
            there.sendall(message(0, words))
        start.look(FINE)
        clock.now += 5.1
        with pytest.raises(RobotError, match=r"does not run\. It said: two; three; syntax error"):
            start.look(FINE)


def test_a_robot_that_may_not_move_is_said_at_once_with_its_name() -> None:
    with starting() as (start, *_):
        stopped = FINE._replace(safety_mode=7)
        assert stopped.robot_problem()
        with pytest.raises(RobotError, match=r"^rtde://r: ") as caught:
            start.look(stopped)
        assert str(caught.value) == f"rtde://r: {stopped.robot_problem()}"


def test_local_control_is_known_by_its_code() -> None:
    with starting() as (start, there, *_):
        there.sendall(message(6, bytes([0, 0, 0, 210]) + bytes(16)))
        with pytest.raises(RobotError, match=r"local control and takes no program.*--urcap"):
            start.look(FINE)


def test_with_the_urcap_a_person_is_asked_and_has_two_minutes() -> None:
    with starting(urcap=0) as (start, there, clock, told):
        there.setblocking(False)
        with pytest.raises(BlockingIOError):
            there.recv(1)  # nothing was sent
        assert "press play on the pendant of rtde://r" in told[0] and port_of(told) > 0
        clock.now += 119.0
        start.look(FINE)
        clock.now += 2.0
        with pytest.raises(RobotError, match="nobody asked for it: see Host IP and port"):
            start.look(FINE)


def test_the_urcap_that_asks_is_served_while_one_looks_and_no_longer() -> None:
    with starting(urcap=0) as (start, _, clock, told):
        with socket.create_connection(("127.0.0.1", port_of(told))) as sock:
            sock.sendall(b"request_program")
            sock.setblocking(False)
            came = b""
            while True:
                start.look(FINE)
                try:
                    part = sock.recv(1000)
                except BlockingIOError:
                    continue
                if not part:
                    break
                came += part
        assert came.decode() == for_urcap(TEXT)
        clock.now += 121.0
        with pytest.raises(
            RobotError, match="it was fetched; is the External Control node the one"
        ):
            start.look(FINE)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port_of(told)))
