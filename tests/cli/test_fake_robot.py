"""`fake-robot` on the command line."""

from __future__ import annotations

import json
import signal
import socket
import sys

import pytest
from typer.testing import CliRunner

from tests.cli.support import PATIENCE
from ur_admittance.cli import app


def said(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["fake-robot", *arguments])
    return result.exit_code, result.output


def test_it_says_its_ports_and_that_nobody_else_can_connect() -> None:
    code, words = said("--free-ports", "--seconds", "0.1")
    assert code == 0
    assert "rtde" in words
    assert "nobody beyond this machine can connect" in words
    assert "0.1 s, 50 cycles" in words


def test_it_warns_when_others_can_connect() -> None:
    code, words = said("--free-ports", "--host", "0.0.0.0", "--seconds", "0")
    assert code == 0
    assert "anybody who reaches 0.0.0.0 can run scripts" in words


def test_it_lists_the_faults() -> None:
    code, words = said("--fault", "help")
    assert code == 0
    assert "rtde:drop=..." in words
    assert "sensor:freeze" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--fault", "rtde:melt"), "cannot 'melt'"),
        (("--scene", "sofa=1"), "must be table=Z or wall=X"),
        (("--seconds", "-1"), "must be 0 or more"),
        (("--arm", "ur4"), "ur4"),
        (("--state", "asleep"), "there are off, idle"),
        (("--program", "/dev/zero/no"), "/dev/zero/no"),
        (("--program", sys.executable), "must be a script, as text"),
        (("--fault", "identity:model=ur99"), "there are ur5e"),
        (("--fault", "identity:serial=abc"), "must be digits"),
    ],
)
def test_what_makes_no_sense_is_a_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    code, output = said("--free-ports", *arguments)
    assert code == 2
    assert words in output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--ports", "99999"), 2, "must be -29996 to 35531"),
        (("--ports", "-30001"), 2, "must be -29996 to 35531"),
        (("--host", "192.0.2.1"), 1, "the address must be one of this machine"),
        (("--host", "a" * 80), 1, "the address must be one of this machine"),
    ],
)
def test_a_port_or_address_that_cannot_be_had_is_told(
    arguments: tuple[str, ...], code: int, words: str
) -> None:
    got, output = said(*arguments)
    assert got == code
    assert words in output


def test_a_scene_and_a_push_are_there() -> None:
    scene = ("--scene", "table=0.0", "--scene", "wall=0.8", "--push", "0", "0", "-10")
    code, _ = said("--free-ports", "--seconds", "0.1", *scene)
    assert code == 0


def test_a_process_answers_until_it_is_told_to_end(start) -> None:
    process = start("fake-robot", "--free-ports", "--json")
    ready = json.loads(process.stdout.readline())
    address = ready["host"], ready["ports"]["dashboard"]
    with socket.create_connection(address, timeout=PATIENCE) as sock:
        board = sock.makefile("rw")
        assert "Dashboard Server" in board.readline()
        board.write("robotmode\n")
        board.flush()
        assert board.readline() == "Robotmode: RUNNING\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
