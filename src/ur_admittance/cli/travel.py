"""What has to be asked or allowed: travelling to an equilibrium, moving after a bad end, starting
outside the box, loosening limits.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.errors import RobotError

if TYPE_CHECKING:
    from ur_admittance.motion.approach import Travel

AllowTravel = Annotated[
    bool,
    typer.Option(
        "--allow-travel",
        help="Go to an equilibrium more than 50 mm or 0.2 rad away, slowly, without asking.",
    ),
]

AllowOutside = Annotated[
    bool,
    typer.Option(
        "--allow-outside",
        help="Start with the tool outside the workspace box, from where it can only be moved "
        "inwards.",
    ),
]

AllowLoosening = Annotated[
    bool,
    typer.Option(
        "--allow-loosening",
        help="Let other processes change parameters either way while the arm gives way; else only "
        "to what is more careful, and gains near those it began with.",
    ),
]


def permit(travel: Travel, *, allowed: bool, asked: Sequence[int] = ()) -> None:
    """Say where the arm is about to go, and ask on the terminal unless it is `allowed`.

    Args:
        asked: grows when a signal comes, see `signals`; it counts as a no.

    Raises:
        RobotError: it may not.
    """
    typer.echo(travel.words, err=True)
    if allowed or (sys.stdin.isatty() and _yes(asked)):
        return
    raise RobotError(
        "run: not permitted to travel to the equilibrium, nothing has moved; --allow-travel lets "
        "it go there, or bring the arm near it first, or leave 'equilibrium' out"
    )


def may_move(words: str) -> bool:
    """Say what happened to the arm, and ask whether somebody has looked at it."""
    typer.echo(words, err=True)
    return agreed("Have you looked at the arm, and may it move?")


def agreed(question: str, asked: Sequence[int] = ()) -> bool:
    """Whether somebody at the terminal says yes; nobody there, or a signal, is a no."""
    return sys.stdin.isatty() and _yes(asked, question)


def _yes(asked: Sequence[int], question: str = "Go there?") -> bool:
    typer.echo(f"{question} [y/N] ", nl=False, err=True)
    while not asked:
        if select.select([sys.stdin], [], [], 0.1)[0]:
            return sys.stdin.readline().strip().lower() in ("y", "yes")
    return False
