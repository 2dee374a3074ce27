"""A million frames and ten thousand scripts by chance against the fake controller.

    python -m benchmarks.fake_robot_soak [--frames 1000000] [--scripts 10000] [--json PATH]

The controller is a process of its own, in real time for the frames and as fast as it goes for the
scripts. An honest client watches: it must miss nothing. Memory is looked at before and after.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from tests.ur_fake import fuzz

from benchmarks.__main__ import machine
from ur_fake.machine import Machine
from ur_fake.robot import FakeRobot

MEGABYTE = 1024.0 * 1024.0
CROWD = 16  # connections at a time
A_CONNECTION = 200  # frames
A_SCRIPT = 25  # cycles


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fake_robot_soak", description=description
    )
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--scripts", type=int, default=10_000)
    parser.add_argument(
        "--json", type=Path, default=Path(__file__).parent / "fake_robot_soak.json", metavar="PATH"
    )
    options = parser.parse_args()
    console = Console()
    results: dict[str, Any] = {"machine": machine()}
    results["frames"] = send_frames(options.frames)
    console.print(results["frames"])
    results["scripts"] = run_scripts(options.scripts)
    console.print(results["scripts"])
    options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"written to {options.json}")
    return 0 if results["frames"]["lost"] == 0 else 1


def send_frames(count: int) -> dict[str, Any]:
    """Frames by chance over many connections, beside a client that misses nothing."""
    chance, sent, connections = random.Random(0), 0, 0
    with FakeRobot(process=True) as robot:
        witness = Witness(robot.host, robot.ports["rtde"])
        before, since = memory(robot.pid), time.monotonic()
        while sent < count:
            crowd = []
            for _ in range(CROWD):
                sock = socket.create_connection((robot.host, robot.ports["rtde"]), timeout=30.0)
                crowd.append(sock)
                with contextlib.suppress(OSError):  # dropped, as it should be
                    sock.sendall(b"".join(fuzz.frames(chance) for _ in range(A_CONNECTION)))
                    sock.shutdown(socket.SHUT_WR)
                sent += A_CONNECTION
                connections += 1
            for sock in crowd:
                with contextlib.suppress(ConnectionError):
                    while sock.recv(65536):
                        continue
                sock.close()
        seconds = time.monotonic() - since
        lost = witness.close()
        after, missed = memory(robot.pid), robot.state()["missed"]
    return {
        "sent": sent,
        "connections": connections,
        "seconds": round(seconds, 1),
        "lost": lost,
        "missed": missed,
        "grown_megabytes": round((after - before) / MEGABYTE, 1),
    }


def run_scripts(count: int) -> dict[str, Any]:
    """Scripts by chance, each for a few cycles, in simulated time."""
    chance, refused = random.Random(0), 0
    controller = Machine()
    controller.start()
    grown_from, slowest, since = None, 0.0, time.monotonic()
    for i in range(count):
        refused += not controller.load_script(fuzz.script(chance))
        for _ in range(A_SCRIPT):
            started = time.process_time()
            controller.step()
            slowest = max(slowest, time.process_time() - started)
        controller.safety.protective = None
        controller.messages.clear()
        if i == count // 10:
            grown_from = memory(None)
    return {
        "scripts": count,
        "not_compiled": refused,
        "cycles": controller.cycle,
        "seconds": round(time.monotonic() - since, 1),
        "slowest_cycle_cpu_ms": round(1e3 * slowest, 2),
        "grown_megabytes": round((memory(None) - (grown_from or 0.0)) / MEGABYTE, 1),
    }


def memory(pid: int | None) -> float:
    """Resident memory of a process, bytes; of this one for None."""
    fields = Path(f"/proc/{pid or 'self'}/statm").read_text().split()
    return int(fields[1]) * 4096.0


class Witness:
    """An honest client at 500 Hz that counts what it missed."""

    def __init__(self, host: str, port: int) -> None:
        self._sock = socket.create_connection((host, port))
        self._lost, self._cut, self._closing = 0, False, False
        self._stream = self._sock.makefile("rb")
        self._ask(b"V", struct.pack(">H", 2))
        self._ask(b"O", struct.pack(">d", 500.0) + b"timestamp")
        self._ask(b"S", b"")
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> int:
        """Packets missed; -1 if it was dropped."""
        self._closing = True
        self._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._sock.close()
        return -1 if self._cut else self._lost

    def _ask(self, kind: bytes, payload: bytes) -> None:
        self._sock.sendall(struct.pack(">H", 3 + len(payload)) + kind + payload)
        self._stream.read(struct.unpack(">H", self._stream.read(2))[0] - 2)

    def _watch(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._count()
        self._cut = not self._closing

    def _count(self) -> None:
        last = None
        while len(packet := self._stream.read(12)) == 12:
            stamp = round(struct.unpack_from(">d", packet, 4)[0] / 0.002)
            if last is not None:
                self._lost += stamp - last - 1
            last = stamp


if __name__ == "__main__":
    sys.exit(main())
