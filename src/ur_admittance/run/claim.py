"""One controller for each robot: who comes second is refused before the robot hears a word."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ur_admittance.blackboard import list_running, memory
from ur_admittance.errors import RobotError


@contextmanager
def claimed(name: str) -> Iterator[None]:
    """Be the only one who controls a robot, from before it is connected.

    Raises:
        RobotError: another process controls it, or is about to.
    """
    path = memory.path_of(name)
    for running in list_running():
        if running.robot == name:
            raise RobotError(f"{name} already has a controller: {running}; end that one first")
    with memory.opened(path.with_suffix(".claim"), os.O_RDWR | os.O_CREAT) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel frees it, however we end
        except BlockingIOError:
            raise RobotError(
                f"{name}: another process of yours is about to control it; end that one first"
            ) from None
        yield
