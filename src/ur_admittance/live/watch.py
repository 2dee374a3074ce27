"""`watch`: a controller as it is seen from another terminal, as `top` shows processes."""

from __future__ import annotations

import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from ur_admittance.blackboard import Blackboard
from ur_admittance.errors import AdmittanceError
from ur_admittance.faults import StopReason
from ur_admittance.live import REFRESH
from ur_admittance.live.glance import Glance, Watcher
from ur_admittance.live.views import LOW, PARAMETERS, Panel, line, parameters

_STATES = {
    "waiting": ("waiting", "yellow"),
    "running": ("running", "green"),
    "silent": ("silent, no tick for a second or more", "yellow"),
    "ended": ("ended; waiting for the next", "yellow"),
    "gone": ("died without a word; waiting for the next", "red"),
}


class Attached:
    """The controller that `watch` looks at: it comes, goes, falls silent, dies, comes back."""

    def __init__(self, robot: str | None) -> None:
        self.watcher: Watcher | None = None  # of the last controller seen
        self.state = "waiting"  # for the first, else what `Reader.state` says of the last
        self.words = ""  # who it is, or what one waits for
        self._robot = robot
        self._panel = Panel("")

    def read(self) -> Glance | None:
        """The newest glance, of a controller that runs or of one that has gone."""
        if self.state in ("waiting", "ended", "gone"):
            self._attach()
        if self.watcher is None:
            return None
        glance = self.watcher.read()
        self.state = self.watcher.reader.state
        return glance

    def _attach(self) -> None:
        try:
            reader = Blackboard.attach(self._robot)
        except AdmittanceError as error:
            if self.watcher is None:
                self.words = str(error).removeprefix("blackboard: ")
            return
        self.watcher = Watcher(reader)
        self.words = str(reader.running)
        self._panel = Panel(reader.robot)

    @property
    def reason(self) -> StopReason | None:
        """Why the last controller was stopped, or who ended it; or None."""
        return self.watcher and self.watcher.reader.reason

    def page(self, width: int = 80, height: int = 24) -> RenderableType:
        """All of it in a terminal of 80 by 24. Where less fits, the numbers stay: first the
        pictures go, then the parameters, then all but one line.
        """
        glance = self.read()
        words, colour = _STATES[self.state]
        head = Text.assemble((words, f"bold {colour}"), f"  {self.words}", no_wrap=True)
        head.overflow = "ellipsis"
        foot = Text("q or Ctrl-C leaves; the controller does not notice", "dim")
        if self.reason is not None:
            foot = Text(f"it was ended: {self.reason}", "red")
        if self.watcher is None:
            return Group(head, foot)
        if glance is None:
            drawn: RenderableType = Text("no tick yet")
        elif height < LOW + 2:
            return Group(head, line(glance))
        else:
            left = height - 2 - PARAMETERS
            drawn = self._panel.draw(glance, self.watcher.trail, width, left)
        if height < LOW + 2 + PARAMETERS:
            return Group(head, drawn, foot)
        return Group(head, drawn, parameters(self.watcher.reader.config()), foot)


def watch(robot: str | None) -> None:
    """Draw the controller of a robot (None: of the only one) until somebody leaves."""
    attached = Attached(robot)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # gives the terminal back
    with (
        suppress(KeyboardInterrupt),
        _keys(),
        Live(console=Console(), screen=True, auto_refresh=False) as screen,
    ):
        while _pressed(REFRESH) not in ("q", "Q"):
            screen.update(attached.page(*screen.console.size), refresh=True)


@contextmanager
def _keys() -> Iterator[None]:
    """Give single keys, without echo, if there is a keyboard."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed(seconds: float) -> str:
    """The key pressed within that time, or ''."""
    if not sys.stdin.isatty():
        time.sleep(seconds)
        return ""
    return sys.stdin.read(1) if select.select([sys.stdin], [], [], seconds)[0] else ""
