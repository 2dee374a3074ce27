"""Sockets that a script opens: real ones, on loopback."""

from __future__ import annotations

import select
import socket
import struct

import pytest

from tests.loopback import PATIENCE, deliver
from tests.ur_fake.scripting import machine_at_rest, program, said
from ur_fake.arm.arm import CYCLE


class Peer:
    """A server that the script connects to, and a machine that steps while it waits."""

    def __init__(self) -> None:
        self.machine = machine_at_rest()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connection: socket.socket | None = None

    def start(self, body: str) -> None:
        open_it = f'ok = socket_open("127.0.0.1", {self.port}, "s")\n'
        assert self.machine.load_script(program(open_it + body))
        self.until(lambda: select.select([self.listener], [], [], 0.001)[0])
        self.connection, _ = self.listener.accept()

    def send(self, data: bytes) -> None:
        """Return when the script could read it."""
        program, peer = self.machine.program, self.connection
        assert program is not None
        assert peer is not None
        self.until(lambda: "s" in program.sockets)
        peer.sendall(data)
        deliver(peer, program.sockets["s"].peer)

    def until(self, condition) -> None:
        """Step until something is so."""
        for _ in range(3000):
            self.machine.step()
            if condition():
                return
        raise AssertionError("it never happened")

    def finish(self) -> list[str]:
        self.until(lambda: self.machine.program is None)
        return said(self.machine)

    def receive(self, count: int) -> bytes:
        peer = self.connection
        assert peer is not None
        got = b""
        while len(got) < count:
            self.until(lambda: select.select([peer], [], [], 0.001)[0])
            got += peer.recv(count - len(got))
        return got

    def close(self) -> None:
        self.machine.stop_program()
        self.listener.close()
        if self.connection is not None:
            self.connection.close()


@pytest.fixture
def peer():
    made = Peer()
    yield made
    made.close()


def test_a_connection_takes_some_cycles_as_it_does_on_a_robot(peer):
    peer.start("textmsg(ok)")
    assert peer.finish() == ["True"] and peer.machine.cycle >= 5


def test_binary_integers_come_in_network_order(peer):
    peer.start('v = socket_read_binary_integer(3, "s", 5)\ntextmsg(v)')
    peer.send(struct.pack(">2i", 1, -2))
    peer.send(struct.pack(">i", 300000))
    assert peer.finish() == ["[3, 1, -2, 300000]"]


def test_floats_in_text_stand_in_parentheses(peer):
    peer.start('v = socket_read_ascii_float(3, "s", 5)\ntextmsg(v)')
    peer.send(b"(1.5, -2, 3e2)\n")
    assert peer.finish() == ["[3, 1.5, -2, 300]"]


def test_lines_strings_and_bytes(peer):
    body = 'a = socket_read_line("s", 5)\nb = socket_read_string("s", "<", ">", False, 5)\n'
    peer.start(f'{body}c = socket_read_byte_list(2, "s", 5)\ntextmsg(a, b)\ntextmsg(c)')
    peer.send(b"first line\r\n<second>\x01\xff")
    assert peer.finish() == ["first linesecond", "[2, 1, 255]"]


def test_what_a_script_sends(peer):
    body = 'socket_send_string("ab", "s")\nsocket_send_line("c", "s")\nsocket_send_int(-2, "s")\n'
    peer.start(f'{body}socket_send_byte(65, "s")\nsocket_set_var("x", 7, "s")\nsleep(1)')
    assert peer.receive(17) == b"abc\n" + struct.pack(">i", -2) + b"A" + b"SET x 7\n"


def test_variables_of_the_peer(peer):
    peer.start('v = socket_get_var("speed", "s")\ntextmsg(v)')
    assert peer.receive(10) == b"GET speed\n"
    peer.send(b"speed 42\n")
    assert peer.finish() == ["42"]


def test_a_read_waits_for_its_time_out_in_cycles_of_the_controller(peer):
    read = 'v = socket_read_binary_integer(2, "s", 0.1)\ntextmsg(v)'
    peer.start(f'sync()\ntextmsg("begun")\n{read}')
    assert peer.finish() == ["begun", "[0, -1, -1]"]
    begun, over = (message.time for message in peer.machine.messages if message.kind == "text")
    assert 49 <= round((over - begun) / CYCLE) <= 60


def test_a_time_out_of_nought_waits_for_ever(peer):
    peer.start('v = socket_read_binary_integer(1, "s", 0)\ntextmsg(v)')
    for _ in range(2500):
        peer.machine.step()
    assert peer.machine.program_state == "PLAYING"
    peer.send(struct.pack(">i", 9))
    assert peer.finish() == ["[1, 9]"]


def test_a_peer_that_leaves_ends_the_wait(peer):
    peer.start('v = socket_read_binary_integer(1, "s", 0)\ntextmsg(v)')
    assert peer.connection is not None
    peer.connection.close()
    assert peer.finish() == ["[0, -1]"]


def test_nobody_at_the_other_end_is_false_and_not_an_error():
    machine = machine_at_rest()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    machine.load_script(
        program(f'textmsg(socket_open("127.0.0.1", {port}))\ntextmsg(socket_send_int(1))')
    )
    for _ in range(1100):
        machine.step()
    assert said(machine) == ["False", "False"]


def test_a_loop_of_reads_from_no_socket_is_no_infinite_loop():
    machine = machine_at_rest()
    body = "n = 0\nwhile n < 300:\n socket_read_line()\n n = n + 1\nend\ntextmsg(n)"
    machine.load_script(program(body))
    for _ in range(310):
        machine.step()
    assert said(machine) == ["300"]


def test_the_end_of_a_program_closes_its_sockets(peer):
    peer.start("sleep(100)")
    peer.machine.stop_program()
    assert peer.connection is not None
    peer.connection.settimeout(PATIENCE)
    assert peer.connection.recv(1) == b""


def test_a_loop_that_is_flooded_with_data_is_no_infinite_loop(peer):
    body = 'n = 0\nwhile n < 400:\n c = socket_read_byte_list(1, "s", 2)\n n = n + 1\n k = 0\n'
    peer.start(f"{body} while k < 900:\n  k = k + 1\n end\nend\ntextmsg(n)")
    peer.send(b"x" * 400)
    assert peer.finish() == ["400"]  # more statements than an endless loop may have
