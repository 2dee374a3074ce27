"""What `run` and `play` can ask of the machine, so that the loop is on time."""

from __future__ import annotations

from typing import Annotated

import typer

from ur_admittance.cli.common import flag, option
from ur_admittance.cli.useless import refuse_useless

Priority = Annotated[int, option("Real-time priority, 1 to 99; 0 asks for none.", min=0, max=99)]
Cpu = Annotated[int | None, option("Core to stay on; else any.", min=0)]
Awake = Annotated[bool, option("Keep the machine's cores from falling asleep: less late, warmer.")]
Spin = Annotated[bool, flag("--spin", "Wait actively for the last 300 us of a cycle: less late.")]
Strict = Annotated[bool, flag("--strict", "Do not move unless real time is granted.")]


def see_time(context: typer.Context, *, own_time: bool) -> None:
    """Refuse them for an arm that lives in a time of its own."""
    if own_time:
        why = "does nothing for a simulated arm, which lives in a time of its own; add --real-time"
        refuse_useless(context, why, "priority", "cpu", "awake", "spin", "strict")
