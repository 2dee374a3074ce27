"""What `run` and `play` can ask of the machine, so that the loop is on time."""

from __future__ import annotations

from typing import Annotated

import typer

from ur_admittance.cli.useless import refuse_useless

Priority = Annotated[
    int, typer.Option(min=0, max=99, help="Real-time priority, 1 to 99; 0 asks for none.")
]
Cpu = Annotated[int | None, typer.Option(min=0, help="Core to stay on; else any.")]
Awake = Annotated[
    bool, typer.Option(help="Keep the machine's cores from falling asleep: less late, warmer.")
]
Spin = Annotated[
    bool, typer.Option("--spin", help="Wait actively for the last 300 us of a cycle: less late.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Do not move unless real time is granted.")]


def see_time(context: typer.Context, *, own_time: bool) -> None:
    """See that none of these was asked for an arm that lives in a time of its own.

    Raises:
        ConfigError: one was.
    """
    if own_time:
        why = "does nothing for a simulated arm, which lives in a time of its own; add --real-time"
        refuse_useless(context, why, "priority", "cpu", "awake", "spin", "strict")
