"""What the verbs share: how they fail, how they read a configuration, how they print."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ur_admittance.cli.interrupts import INTERRUPTED
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError, ModelError

FAILED, WRONG = 1, 2  # exit codes: the robot or run failed; usage or configuration is wrong
_ADVICE = {
    errno.ENOSPC: "; make room there, and do it again",
    errno.EDQUOT: "; make room there, and do it again",
    errno.EIO: "; the disk may be failing",
    errno.EMFILE: "; allow more with 'ulimit -n'",
    errno.ENOMEM: "; end other programs, and do it again",
}


def option(help: str, metavar: str | None = None, **more: Any) -> Any:
    """An option that takes a value."""
    return typer.Option(help=help, metavar=metavar, **more)


def flag(name: str, help: str, **more: Any) -> Any:
    """An option without a value, such as --quick."""
    return typer.Option(name, help=help, **more)


def argument(help: str, metavar: str, **more: Any) -> Any:
    """What stands behind a verb without a name."""
    return typer.Argument(help=help, metavar=metavar, **more)


SIM_URLS = "sim, sim:ur3e to sim:ur30"
AsJson = Annotated[bool, flag("--json", "Print one JSON object.")]
RobotUrl = Annotated[
    str, option(f"Address of the robot: {SIM_URLS}, rtde://192.168.1.10, ros2.", "URL")
]
RobotName = Annotated[
    str,
    option(
        "Name of the robot that a controller runs for already, no address to connect to: "
        "sim:ur5e or rtde://192.168.1.10, say. Not needed when only one runs.",
        "NAME",
    ),
]
RunSeconds = Annotated[float | None, option("How long to run [s]; else until Ctrl-C.")]
ArmModel = Annotated[str, option("Which arm: ur3e to ur30.", "MODEL")]
FORCE, WRENCH = "FX FY FZ", "FX FY FZ TX TY TZ"  # for help texts: what an option takes
POSE, JOINTS = "X Y Z RX RY RZ", "Q1 Q2 Q3 Q4 Q5 Q6"

RecordingFile = Annotated[Path, argument("A recording (MCAP).", "FILE")]


@contextmanager
def explained() -> Iterator[None]:
    """Print an error of ours, or of the system, a problem a line, and leave with its exit code."""
    try:
        yield
    except AdmittanceError as error:
        for line in getattr(error, "problems", None) or [str(error)]:
            typer.echo(line, err=True)
        wrong = isinstance(error, (ConfigError, ModelError))
        raise typer.Exit(WRONG if wrong else FAILED) from None
    except KeyboardInterrupt as error:
        typer.echo("; ".join(("interrupted", *map(str, error.args))), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.EPIPE or error.strerror is None:  # nobody reads any more
            raise
        advice = _ADVICE.get(error.errno or 0, "")
        where = [] if error.filename is None else [str(error.filename)]
        typer.echo(": ".join((*where, error.strerror + advice)), err=True)
        raise typer.Exit(FAILED if error.errno in _ADVICE else WRONG) from None


def warn(line: str) -> None:
    """Say it on stderr."""
    typer.echo(f"warning: {line}", err=True)


def check_output(path: Path, *, force: bool) -> None:
    """See that a file can be written, before anything moves or takes its time."""
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; --force replaces it")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{path}: {path.parent} is no folder that can be written to")


def check_seconds(seconds: float | None) -> None:
    """See that a run has a length, if it is to have one."""
    if seconds is not None and not seconds >= 0:
        raise ConfigError(f"--seconds: must be 0 or more, got {seconds}")


def read_config(name: str) -> Config:
    """The configuration in a file, or the one called `preset:NAME`."""
    scheme, _, preset = name.partition(":")
    if scheme == "preset":
        return Config.preset(preset)
    stem = name.removesuffix(".yaml")
    if stem in Config.presets() and not Path(name).exists():
        raise ConfigError(f"{name}: no such file; did you mean preset:{stem}?")
    return Config.load(name)


def console() -> Console:
    """Prints as it is told: no markup, no guessing of colours."""
    return Console(highlight=False, markup=False)


@contextmanager
def progress_bar(*, hidden: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr for each part of some work; told the part, what is done, and of how much."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f} of "
               "{task.total:.0f}"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bars:
        current = None

        def progress(part: str, done: int, of: int) -> None:
            nonlocal current
            if done == 0 or current is None:
                current = bars.add_task(part, total=of)
            bars.update(current, completed=done)

        yield progress
