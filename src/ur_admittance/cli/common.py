"""What the verbs share: how they fail, how they read a configuration, how they print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError, ModelError

FAILED, WRONG = 1, 2  # exit codes: the robot or run failed; usage or configuration is wrong

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RobotUrl = Annotated[
    str, typer.Option(help="Address of the robot: sim, sim:ur3e to sim:ur30, ros2.", metavar="URL")
]
RobotName = Annotated[
    str, typer.Option(help="Name of the robot, say sim:ur5e; not needed when only one runs.")
]


@contextmanager
def explained() -> Iterator[None]:
    """Print an error of ours, or of a file, on stderr, one problem a line, and leave with its exit
    code.
    """
    try:
        yield
    except AdmittanceError as error:
        for line in getattr(error, "problems", None) or [str(error)]:
            typer.echo(line, err=True)
        wrong = isinstance(error, (ConfigError, ModelError))
        raise typer.Exit(WRONG if wrong else FAILED) from None
    except OSError as error:
        if error.filename is None:
            raise
        typer.echo(f"{error.filename}: {error.strerror}", err=True)
        raise typer.Exit(WRONG) from None


def read_config(name: str) -> Config:
    """The configuration in a file, or the one called `preset:NAME`."""
    scheme, _, preset = name.partition(":")
    return Config.preset(preset) if scheme == "preset" else Config.load(name)


def console() -> Console:
    """Prints as it is told: no markup, no guessing of colours."""
    return Console(highlight=False, markup=False)
