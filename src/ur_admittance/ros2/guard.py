"""The guard beside the control process: a second one, which brakes the arm if this one is silent.

Only velocity mode needs it: there the driver's controller repeats the last command for ever, also
when whoever sent it was killed, stopped or has crashed. `guard_process.py` is what it does.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.blackboard import Blackboard
from ur_admittance.faults import StopReason
from ur_admittance.kernel import layout
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.robot import Ros2Robot

SILENT = 0.02  # s without a tick, after which the guard brakes
SILENT_PERIODS = 10.0  # likewise, where that is longer: after five the loop ticks without a state
_START = 40.0  # s for the process to be there
_FOUND = 10.0  # s for this process to see its publisher
_LOOK = 0.02  # s between two looks at what it says
_PROGRAM = Path(__file__).with_name("guard_process.py")


class Guard:
    """Starts with the control process, watches while the arm may move, and ends with it.

    Attributes:
        name: of its node, with the namespace.
        said: what it has reported, in words, since this was last emptied.
    """

    def __init__(
        self, node: Any, topic: str, board: Blackboard, params: np.ndarray, priority: int
    ) -> None:
        """
        Args:
            node: the control process's own, for names and domain.
            topic: of the commands, resolved.
            board: to which the loop publishes.
            params: of the tick: the limits to brake within.
            priority: real-time priority; 0 asks for none.
        """
        name = f"{node.get_name()}_guard_{os.getpid()}"
        space = node.get_namespace()
        self.name, self.said = f"{space.rstrip('/')}/{name}", []
        self._node, self._topic, self._watching = node, topic, False
        limits, fields = params[0], layout.OUTPUTS.fields or {}
        order = board.places() | {
            "twist": fields["V_WP_cmd"][1],
            "period": 1.0 / board.rate,
            "silent": max(SILENT, SILENT_PERIODS / board.rate),
            "qdd": limits.qdd_max.tolist(),
            "tool": [float(limits.a_max), float(limits.alpha_max)],
            "topic": topic,
            "name": name,
            "namespace": space,
            "domain": node.context.get_domain_id(),
            "priority": min(99, priority + 1) if priority > 0 else 0,
        }
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM), json.dumps(order)],
            stdin=pipe,
            stdout=pipe,
            start_new_session=True,
        )
        self._rest = ""

    def watch(self, robot: Ros2Robot) -> str:
        """Have it look from now on. Returns why it cannot, in words; "" if it does."""
        found = ""
        words = self._answer(robot) if self._tell(f"watch {robot.commands.listeners()}") else []
        if "watching" not in words:
            found = f"is not heard on {self._topic}" if "alone" in words else "did not start"
        elif not self._seen(robot):
            found = f"is not seen on {self._topic}"
        if found:
            self.rest(robot)
            return (
                f"the guard that brakes the arm should this process die {found}; use output.mode "
                "position, or say --no-guard to go without it"
            )
        self._watching = True
        robot.commands.helpers.add(self.name)
        return ""

    def rest(self, robot: Ros2Robot) -> None:
        """Have it look no longer: the arm is at rest, or somebody else's."""
        self._watching = False
        robot.commands.helpers.discard(self.name)
        self._tell("rest")

    def problem(self) -> StopReason | None:
        """Why it does not watch, though it should; None if it does. Never waits."""
        self._listen(0.0)
        if self._watching and self._process.poll() is not None:
            words = "the guard that brakes the arm should this process die has ended"
            return StopReason.of("robot", words, "start anew")
        return None

    def close(self) -> None:
        """End it."""
        self._tell("quit")
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_FOUND)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _seen(self, robot: Ros2Robot) -> bool:
        """Whether its publisher is known here: only then can it be told from a stranger."""
        deadline = time.monotonic() + _FOUND
        while self.name not in wire.others_on(self._node, self._topic):
            if time.monotonic() > deadline:
                return False
            robot.look(_LOOK)
        return True

    def _tell(self, word: str) -> bool:
        try:
            os.write(self._stdin, f"{word}\n".encode())
        except (OSError, ValueError):  # it has ended
            return False
        return True

    def _answer(self, robot: Ros2Robot) -> list[str]:
        """What it says when it was told to watch. Meanwhile the robot is looked at, so that what
        it says is not old when the arm starts.
        """
        words, deadline = [], time.monotonic() + _START
        while not {"watching", "alone"} & {*words} and time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            robot.look(_LOOK)
            words = self._listen(0.0)
        return words

    def _listen(self, seconds: float) -> list[str]:
        """What it has said, waiting for at most a time, s. Reports are kept for the log."""
        out = self._process.stdout
        if out is None or out.closed or not select.select([out], [], [], seconds)[0]:
            return []
        *words, self._rest = (self._rest + os.read(out.fileno(), 4096).decode()).split("\n")
        self.said += [w for w in words if w.startswith(("braked", "warning"))]
        return words

    @property
    def _stdin(self) -> int:
        pipe = self._process.stdin
        if pipe is None:
            raise ValueError("no pipe")
        return pipe.fileno()


def needed(mode: str) -> bool:
    """Whether an `output.mode` has commands that outlive their sender."""
    return topics.COMMANDS[mode] == topics.VELOCITY_COMMANDS
