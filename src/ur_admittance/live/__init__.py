"""What people see of a running controller, drawn by another process that reads the blackboard.

The control process never prints while the arm moves: it starts a child (`shown`), which draws a
line or a panel on the same terminal. `watch` draws from whichever terminal it was started in.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

REFRESH = 0.1  # s between two drawings
_START_SECONDS = 20.0  # what the child may take to be ready
_END_SECONDS = 5.0


@contextmanager
def shown(robot: str, view: str = "line", title: str = "") -> Iterator[None]:
    """Draw a robot's blackboard on this terminal from a process of its own, as long as this lasts.

    Without a terminal nothing is drawn. The child is ready before this goes on, so that its start
    takes no time from the loop; it has no terminal signals of its own, and ends with this process.
    `view`: 'line', or 'panel', which has a title.
    """
    if not sys.stdout.isatty():
        yield
        return
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", "-m", __name__, robot, view, title]
    child = subprocess.Popen(command, stdin=theirs.fileno(), start_new_session=True)
    theirs.close()
    try:
        ours.settimeout(_START_SECONDS)
        with suppress(TimeoutError):  # a child that failed or is slow: the run needs no picture
            ours.recv(1)
        yield
    finally:
        ours.close()
        try:
            child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
