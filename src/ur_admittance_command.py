"""The command `ur-admittance` before anything of it is loaded: Ctrl-C ends it from here on.

Loading the package takes a second, in which Ctrl-C would otherwise end in a traceback. So this
stands beside the package, and imports nothing of it before it listens.
"""

from __future__ import annotations

import os
import signal
from typing import Any


def main() -> None:
    """Entry point of `ur-admittance`."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # started in the background
        signal.signal(signal.SIGINT, _leave)
    from ur_admittance.cli import main as begin

    begin()


def _leave(number: int, _: Any) -> None:
    os.write(2, b"interrupted\n")
    os._exit(128 + number)  # at once: nothing has begun that would have to be ended


if __name__ == "__main__":
    main()
