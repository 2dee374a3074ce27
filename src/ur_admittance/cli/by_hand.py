"""`calibrate --by-hand`: a person moves the arm, and presses a key in each pose."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from ur_admittance.errors import CalibrationError

if TYPE_CHECKING:
    from ur_admittance.calibration.measured import Measured
    from ur_admittance.robots.base import Robot


def guided(
    arm: Robot,
    asked: Sequence[int],
    tell: Callable[[list[Measured]], None],
    most: int | None = None,
) -> list[Measured]:
    """A pose for each Enter, until q, the end of what is typed, or `most` of them."""
    from ur_admittance.calibration.collect import gather

    count = "six poses or more, 12 are better" if most is None else f"{most} poses"
    typer.echo(
        f"Tilt the tool to another side, let go, and press Enter; {count}. q and Enter ends it.",
        err=True,
    )
    measured: list[Measured] = []
    while not asked and len(measured) != most:
        arm.wait()  # what it says meanwhile is not kept
        if not select.select([sys.stdin], [], [], 0.0)[0]:
            continue
        line = sys.stdin.readline()
        if not line or line.strip().lower() == "q":
            break
        typer.echo("taken now, hold it still ...", err=True)
        try:
            measured.append(gather(arm))
        except CalibrationError as error:
            typer.echo(f"{error}; press Enter again", err=True)
            continue
        tell(measured)
    return measured
