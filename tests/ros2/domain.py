"""A ROS domain that is a test's own, whatever else runs on this machine."""

from __future__ import annotations

import socket

# Every operating system has ports for 0 to 101; people number theirs from 0 on.
_NUMBERS = range(101, 20, -1)


def domain() -> tuple[int, socket.socket]:
    """A number that no other test has, and what holds it until it is closed."""
    for number in _NUMBERS:
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            held.bind(f"\0ur-admittance/ros-domain/{number}")  # a name without a file
        except OSError:
            held.close()
            continue
        return number, held
    raise AssertionError("all ROS domains are taken by other tests")
