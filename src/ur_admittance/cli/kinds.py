"""The kinds of robot that `run` knows, and the options that each has for itself."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from ur_admittance.cli import run_ros2, run_rtde, run_sim
from ur_admittance.cli.verb import Verb
from ur_admittance.errors import ConfigError

KINDS = {"sim": run_sim.options, "rtde": run_rtde.options, "ros2": run_ros2.options}
TITLES = {
    "sim": "a simulated arm",
    "rtde": "a UR controller, without ROS",
    "ros2": "an arm on a ROS 2 graph",
}


def asked_of(robot: str, arguments: list[str]) -> Any:
    """The options of a robot's kind, from what `run` did not understand; others are refused."""
    kind = kind_of(robot)
    ours = _spellings(kind)
    for other in KINDS:
        theirs = _spellings(other) - ours
        for word in (word.partition("=")[0] for word in arguments):
            if word in theirs:
                raise ConfigError(f"{word}: is for {TITLES[other]}, got --robot {robot}")
    return command(kind).main(list(arguments), prog_name="run", standalone_mode=False)


def kind_of(robot: str) -> str:
    """The kind of an address; what cannot be read is `sim`, whose `connect` says what is wrong."""
    scheme = robot.strip().partition(":")[0].lower()
    return scheme if scheme in KINDS else "sim"


def _spellings(kind: str) -> set[str]:
    """All ways to write the options of a kind, such as --guard and --no-guard."""
    params = command(kind).params
    return {word for option in params for word in (*option.opts, *option.secondary_opts)}


def command(kind: str) -> TyperCommand:
    """The options of a kind as a command of their own."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(add_help_option=False)(KINDS[kind])
    made = typer.main.get_command(app)
    if not isinstance(made, TyperCommand):
        raise TypeError(f"{kind}: expected one command, got {made!r:.100}")
    return made


class RunCommand(Verb):
    """`run` and `play`, whose help also shows what only one kind of robot can be asked for."""

    allow_extra_args = ignore_unknown_options = True  # for `asked_of`

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        for kind, title in TITLES.items():
            records = [param.get_help_record(ctx) for param in command(kind).params]
            with formatter.section(f"Options for --robot {kind}, {title}"):
                formatter.write_dl([record for record in records if record is not None])
