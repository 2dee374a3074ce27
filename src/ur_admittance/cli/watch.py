"""`watch`: look at a running controller from another terminal."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated, Any

import typer

from ur_admittance.cli.common import FAILED, AsJson, RobotName, console, explained, flag


@explained()
def watch(
    robot: RobotName = "",
    once: Annotated[bool, flag("--once", "Look once and leave.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a running controller from another terminal.

    Shows its mode, force [N], torque [Nm], speed [mm/s], active limits, timing [us] and parameters,
    and waits for it when it is not there. Where there is no terminal, and with --json, it prints
    one line a second instead. The controller does not notice.
    """
    from ur_admittance.live.watch import Attached
    from ur_admittance.live.watch import watch as draw

    if sys.stdout.isatty() and not (once or as_json):
        draw(robot or None)
        return
    attached = Attached(robot or None)
    screen = console()
    try:
        while True:
            _print_once(attached, as_json, screen)
            if once:
                break
            time.sleep(1.0)
    except KeyboardInterrupt:
        return
    if attached.watcher is None:
        raise typer.Exit(FAILED)


def _print_once(attached: Any, as_json: bool, screen: Any) -> None:
    from ur_admittance.live.views import line

    glance = attached.read()
    if as_json:
        seen = {"state": attached.state, "who": attached.words}
        seen |= {"reason": attached.reason and attached.reason.as_dict()}
        print(json.dumps(seen | (glance.as_dict() if glance else {})), flush=True)
    elif glance is None:
        screen.print(f"{attached.state}: {attached.words}", soft_wrap=True)
    else:
        why = f"; it was ended: {attached.reason}" if attached.reason else ""
        screen.print(f"{attached.state}: {line(glance).plain}{why}", soft_wrap=True)
