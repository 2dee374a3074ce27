"""A cable to a network namespace: with delay, jitter and loss as told, and it can be pulled.

Both ends are TUN devices, and the kernel's own TCP runs over them: what is lost is sent again, and
what is pulled stays half-open. Needs the rights of an administrator, else `NotPermitted`; nothing
is left behind. The kernel's own means to the same end, netem, is missing from many.

    with Cable() as cable:
        far = subprocess.Popen([...], preexec_fn=cable.enter)   # listens on cable.far
        cable.set(delay=0.005, loss=0.01)
        cable.set(loss=1.0)                                     # pulled
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_TUNSETIFF, _TUN, _PLAIN = 0x400454CA, 0x0001, 0x1000  # IFF_TUN, IFF_NO_PI
_ADDRESS, _MASK, _FLAGS, _UP = 0x8916, 0x891C, 0x8914, 0x0041  # SIOCSIF...; up and running
_LONGEST = 65536  # bytes of a packet


class NotPermitted(Exception):
    """This machine, or this user, may not have network namespaces or TUN devices."""


class Cable:
    """The near end is this process's network, the far end a namespace of its own.

    Attributes:
        near, far: addresses of the two ends.
    """

    def __init__(self, priority: int = 0) -> None:
        """
        Args:
            priority: real-time, 1 to 99, of what carries the packets; 0 asks for none.
        """
        self._priority = priority

    def __enter__(self) -> Self:
        block = 4 * (os.getpid() % 16384)  # of 198.18.0.0/15, which is nobody's
        self.near, self.far = (f"198.18.{block >> 8}.{(block & 255) + n}" for n in (1, 2))
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.robots.rtde.cable",
                self.near,
                self.far,
                str(self._priority),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        said = self._heard()
        if said != "ready":
            self.close()
            raise NotPermitted(said or "it ended before it was ready")
        self._namespace = os.open(f"/proc/{self._process.pid}/ns/net", os.O_RDONLY)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._namespace)
        self.close()

    def enter(self) -> None:
        """Be at the far end: for `preexec_fn` of a process."""
        _call("setns", self._namespace, _NEW_NETWORK)

    def set(self, delay: float = 0.0, jitter: float = 0.0, loss: float = 0.0) -> None:
        """From now on, either way: every packet takes so long, s, up to so much longer, s, and so
        many of them, 0 to 1, are lost. They keep their order.
        """
        pipe = self._process.stdin
        assert pipe is not None
        pipe.write(f"{delay} {jitter} {loss}\n")
        pipe.flush()
        self._heard()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def _heard(self) -> str:
        pipe = self._process.stdout
        assert pipe is not None
        return pipe.readline().strip()


def _call(name: str, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def _end(name: str, address: str) -> int:
    """A TUN device with an address, in the network that this process is in. Its file."""
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    device = name.encode()
    fcntl.ioctl(file, _TUNSETIFF, struct.pack("16sH", device, _TUN | _PLAIN))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for what, value in ((_ADDRESS, address), (_MASK, "255.255.255.252")):
            place = struct.pack("16sHH4s8x", device, socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(sock, what, place)
        fcntl.ioctl(sock, _FLAGS, struct.pack("16sH", device, _UP))
    return file


def _forward(near: int, far: int) -> None:
    """Carry packets, until nobody tells any more how."""
    other, rng = {near: far, far: near}, random.Random(0)
    delay = jitter = loss = 0.0
    waiting: list[tuple[float, int, int, bytes]] = []
    last, count = {near: 0.0, far: 0.0}, 0
    while True:
        left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select([0, near, far], [], [], left)
        if 0 in readable:
            line = sys.stdin.readline()
            if not line:
                return
            delay, jitter, loss = map(float, line.split())
            print("done", flush=True)
        for end in (near, far):
            if end in readable and (packet := os.read(end, _LONGEST)) and rng.random() >= loss:
                due = time.monotonic() + delay + jitter * rng.random()
                last[end] = due = max(due, last[end])
                count += 1
                heapq.heappush(waiting, (due, count, other[end], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(waiting)
            try:
                os.write(end, packet)
            except OSError:  # the device has no room, or goes down
                continue


def main() -> None:
    near, far, priority = sys.argv[1:]
    name = f"ua{os.getpid()}"
    try:
        one = _end(name, near)
        _call("unshare", _NEW_NETWORK)
        two = _end(name, far)
    except OSError as error:
        print(f"no network namespace with a TUN device here: {error}", flush=True)
        return
    if int(priority):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority)))
    print("ready", flush=True)
    _forward(one, two)


if __name__ == "__main__":
    main()
