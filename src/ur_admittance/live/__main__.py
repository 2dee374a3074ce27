"""The process that draws for a control process: `python -m ur_admittance.live ROBOT VIEW TITLE`.

Its standard input is a socket to that process: it says there when it is ready, and draws until the
other side closes, by intent or by death.
"""

from __future__ import annotations

import argparse
import select
import signal
import socket
import sys

from rich.console import Console
from rich.live import Live

from ur_admittance.blackboard import Blackboard
from ur_admittance.errors import AdmittanceError
from ur_admittance.live import REFRESH
from ur_admittance.live.glance import Watcher
from ur_admittance.live.plain_text import degrade
from ur_admittance.live.views import Panel, line


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    degrade(sys.stdout, sys.stderr)
    parser = argparse.ArgumentParser(prog="ur_admittance.live")
    parser.add_argument("robot")
    parser.add_argument("view", choices=("line", "panel"))
    parser.add_argument("title")
    given = parser.parse_args()
    try:
        watcher = Watcher(Blackboard.attach(given.robot))
    except AdmittanceError as error:
        sys.exit(str(error))
    panel = Panel(given.title) if given.view == "panel" else None
    link = socket.socket(fileno=sys.stdin.fileno())
    link.send(b"!")
    with Live(console=Console(), auto_refresh=False) as screen:
        last = False
        while not last:
            last = bool(select.select([link], [], [], REFRESH)[0])
            glance = watcher.read()
            if glance is not None:
                size = screen.console.size
                drawn = panel.draw(glance, watcher.trail, *size) if panel else line(glance)
                screen.update(drawn, refresh=True)


if __name__ == "__main__":
    main()
