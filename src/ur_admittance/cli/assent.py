"""What a person at a terminal is asked, and the options that permit it beforehand."""

from __future__ import annotations

import select
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ur_admittance.run.assent import Assent

AllowTravel = Annotated[
    bool,
    typer.Option(
        "--allow-travel",
        help="Go to an equilibrium more than 50 mm or 0.2 rad away, slowly, without asking.",
    ),
]

AllowForce = Annotated[
    bool,
    typer.Option(
        "--allow-force",
        help="With a configuration that presses: set off to touch, without asking.",
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
        help="Let other processes change parameters either way; else only to what is more careful, "
        "and gains near those it began with.",
    ),
]

Yes = Annotated[bool, typer.Option("--yes", help="Move without asking.")]


def assent_of(verb: str, permit: Iterable[str] = (), asked: Sequence[int] = ()) -> Assent:
    """What whoever typed a command agrees to: by its options, and on a terminal when asked.

    Args:
        verb: that was typed, for messages.
        permit: acts that its options permit.
        asked: grows when a signal comes, see `signals`; it counts as a no.
    """
    from ur_admittance.run.assent import Assent

    return Assent(
        "terminal" if sys.stdin.isatty() else "script",
        permit,
        ask=lambda question: _yes(question, asked),
        tell=lambda line: typer.echo(line, err=True),
        verb=verb,
    )


def permits(**permitted: bool) -> frozenset[str]:
    """The acts that options permit, by name."""
    return frozenset(act for act, yes in permitted.items() if yes)


def _yes(question: str, asked: Sequence[int]) -> bool:
    typer.echo(f"{question} [y/N] ", nl=False, err=True)
    while not asked:
        if select.select([sys.stdin], [], [], 0.1)[0]:
            return sys.stdin.readline().strip().lower() in ("y", "yes")
    return False
