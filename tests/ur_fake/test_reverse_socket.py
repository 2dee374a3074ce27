"""A script that connects back to its sender and does what it says, as drivers do."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from tests.loopback import deliver
from tests.ur_fake.support import Talker, controller
from ur_fake.server import Controller

SCRIPT = """
def driver():
  global target = get_actual_joint_positions()
  global going = True
  thread servo():
    while going:
      servoj(target, t=0.002, lookahead_time=0.03, gain=1000)
    end
    stopj(4.0)
  end
  socket_open("127.0.0.1", {port}, "reverse")
  worker = run servo()
  while going:
    got = socket_read_binary_integer(6, "reverse", 0.04)
    if got[0] > 0:
      enter_critical
      target = [got[1]/1e6, got[2]/1e6, got[3]/1e6, got[4]/1e6, got[5]/1e6, got[6]/1e6]
      exit_critical
    else:
      going = False
    end
  end
  join worker
  socket_close("reverse")
end
"""


@pytest.fixture
def robot() -> Iterator[Controller]:
    with controller() as made:
        yield made


def test_it_follows_and_stops_when_its_client_falls_silent(robot: Controller) -> None:
    machine = robot.machine
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = Talker(robot, "primary")
        client.send(SCRIPT.format(port=server.getsockname()[1]).encode())
        client.until(lambda: machine.program_state == "PLAYING")
        server.setblocking(False)
        reverse = None
        for _ in range(2000):
            client.step()
            try:
                reverse, _ = server.accept()
                break
            except BlockingIOError:
                continue
        assert reverse is not None
        program = machine.program
        assert program is not None
        client.until(lambda: "reverse" in program.sockets)
        script = program.sockets["reverse"].peer
        q = machine.actual_q.copy()
        for _ in range(400):
            q[0] += 0.0005
            reverse.sendall(struct.pack(">6i", *np.rint(1e6 * q).astype(int).tolist()))
            deliver(reverse, script)
            client.step()
        assert machine.actual_q[0] == pytest.approx(q[0], abs=0.04)
        assert machine.actual_qd[0] == pytest.approx(0.25, abs=0.02)
        client.until(lambda: machine.program_state == "STOPPED")
        client.until(lambda: bool(np.abs(machine.actual_qd).max() < 1e-3))
        assert machine.actual_q[0] == pytest.approx(q[0], abs=0.05)
        reverse.close()
        client.close()
