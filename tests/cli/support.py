"""What the tests of the commands share: the command in this process, terminals, and patience."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.cli import app
from ur_admittance.errors import RobotError

SCRIPT = str(Path(sys.executable).with_name("ur-admittance"))
PATIENCE = 120.0  # s, for a busy machine
GUIDED = ("run", "--robot", "sim", "--config", "preset:hand-guiding")
BRIEF = ("--pace", "0", "--seconds", "1.5", "--push", "0", "20", "0")
PUSHED = (*GUIDED, "--push", "0", "20", "0")  # in its own time: never late
# For what keeps the clock's time: a pause of a busy machine does not end it.
PATIENT = "safety: {wrench_timeout: 9, joint_timeout: 9, lost_timeout: 10}\n"


def invoke(*arguments: object):
    """The command in this process, which is quicker."""
    environment = {"COLUMNS": "80", "NO_COLOR": "1"}
    return CliRunner(env=environment).invoke(app, [str(word) for word in arguments])


def until(what: Callable[[], object]) -> None:
    """Wait until `what` is true."""
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def attached(process: subprocess.Popen[str]) -> Reader:
    """The blackboard of a process that has just been started."""
    found: list[Reader] = []

    def look() -> bool:
        assert process.poll() is None, process.communicate()
        try:
            found.append(Blackboard.attach("sim:ur5e"))
        except RobotError:
            return False
        return True

    until(look)
    return found[0]


class Terminal:
    """A terminal of 100 x 40 for a process; `text` is all that was written to it."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.text = ""
        self.options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), self.theirs)
        self.options |= {"text": False, "start_new_session": True}
        environment = {"COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color"}
        self.options["env"] = {**os.environ, **environment}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            self.text += os.read(self.ours, 1 << 16).decode(errors="replace")

    def shows(self, words: str) -> bool:
        """Whether it has shown these words by now."""
        return words in self.text

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())
