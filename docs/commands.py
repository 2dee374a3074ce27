"""The page of all commands, from what the command line is made of; `generate.py` writes it.

It reads the annotations of the functions themselves, not the help that is made of them: that looks
otherwise with every version of typer.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from ur_admittance.cli import app
from ur_admittance.cli.common import FAILED, WRONG
from ur_admittance.cli.interrupts import INTERRUPTED
from ur_admittance.cli.kinds import KINDS, TITLES, RunCommand

KIND = "With `--robot {}`: {}"  # heading of the options that one kind of robot has
TYPES = {float: "number", int: "whole number", str: "text", Path: "path", bool: ""}

HEAD = """\
Every verb of `ur-admittance`, with what it takes. `ur-admittance VERB --help` says the same, \
`ur-admittance --version` which one it is. Units stand in brackets. What follows `--ros-args` is \
for ROS.

| it leaves with | when |
| --- | --- |
| 0 | done |
| {failed} | the robot or the run failed, or what was looked at is wrong |
| {wrong} | usage or configuration is wrong; nothing was done |
| {interrupted} | Ctrl-C before the start: there was none |
"""


def verbs() -> dict[str, tuple[Callable[..., Any], bool]]:
    """The function of each verb, in the order of the help, and whether it takes the options of a
    kind of robot.
    """
    found = {}
    for command in app.registered_commands:
        function = command.callback
        if function is None:
            raise SystemExit(f"docs/commands.py: {command.name} has no function")
        name = command.name or function.__name__.replace("_", "-")
        found[name] = function, command.cls is RunCommand
    return found


def parameters(function: Callable[..., Any]) -> list[tuple[Any, Any, str, Any]]:
    """What a verb takes: what typer knows of it, its type, its name, its default."""
    hints, found = get_type_hints(function, include_extras=True), []
    for name, parameter in inspect.signature(function).parameters.items():
        kind, *notes = get_args(hints[name]) or (hints[name],)
        known = [note for note in notes if isinstance(note, ArgumentInfo | OptionInfo)]
        if kind is not typer.Context:
            found.append((known[-1], kind, name, parameter.default))
    return found


def names_of(info: Any, kind: Any, name: str) -> tuple[str, str]:
    """How an option is written, and how its opposite is, if it has one."""
    words = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    given = [word for word in words if word.startswith("-")]
    plain = f"--{name.strip('_').replace('_', '-')}"
    opposite = f"/--no-{plain[2:]}" if kind is bool else ""
    positive, _, negative = (given[0] if given else plain + opposite).partition("/")
    return positive.strip(), negative.strip()


def taken(info: Any, kind: Any) -> str:
    """What an option wants after its name, in words."""
    if info.metavar:
        return f"`{info.metavar}`"
    if NoneType in get_args(kind):
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is tuple:
        return f"{len(get_args(kind))} {TYPES[get_args(kind)[0]]}s"
    if get_origin(kind) is list:
        return f"{TYPES[get_args(kind)[0]]}, may be repeated"
    words = TYPES[kind]
    if info.min is not None and info.max is not None:
        return f"{words}, {info.min:g} to {info.max:g}"
    return words if info.min is None else f"{words}, {info.min:g} or more"


def written(default: Any, names: tuple[str, str]) -> str:
    """A default as one would type it; nothing where there is none."""
    if default is inspect.Parameter.empty:
        return "required"
    if isinstance(default, bool):
        return f"`{names[0]}`" if default else ""
    if default is None or default == "":
        return ""
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def rows(function: Callable[..., Any]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The rows of the arguments, and of the options."""
    arguments, options = [], []
    for info, kind, name, default in parameters(function):
        if isinstance(info, ArgumentInfo):
            what = (info.metavar or name.upper()).strip("[]")
            arguments.append((f"`{what}`", written(default, ("", "")), told(info.help)))
            continue
        names = names_of(info, kind, name)
        shown = " ".join(f"`{one}`" for one in names if one)
        options.append((shown, taken(info, kind), written(default, names), told(info.help)))
    return arguments, options


def told(words: str | None) -> str:
    """A help text inside Markdown: options, addresses, topics and names are set as code."""
    address = r"(?:preset|sim):\w[\w-]*|(?:rtde|netft|tcp)://[\w.:]+\w"
    word = rf"--[a-z][\w-]*|{address}|~?/[a-z][\w/]*|\w+_\w+|[A-Z]+:[A-Z]+\S*\]"
    return re.sub(rf"(?<![`\w/.])({word})(?![`\w])", r"`\1`", words or "")


def described(function: Callable[..., Any]) -> str:
    """What a verb says of itself. What it marks as not to be filled is a block of commands."""
    text, blocks = inspect.getdoc(function) or "", r"\x08\n((?:.+\n?)+)"
    return re.sub(blocks, lambda block: f"```sh\n{block[1].strip()}\n```\n", text).strip()


def commands_page(note: str, table: Callable[..., str]) -> str:
    """Every verb: what it is for, its arguments and options.

    Args:
        note: that the page is written.
        table: makes a Markdown table of heads and rows.
    """
    found = verbs()
    summary = [
        (f"[`{name}`](#{name})", sentence(function)) for name, (function, _) in found.items()
    ]
    parts = [
        "# Commands\n",
        note,
        HEAD.format(failed=FAILED, wrong=WRONG, interrupted=INTERRUPTED),
        table(("verb", "for"), summary),
    ]
    of_kinds = [name for name, (_, kinds) in found.items() if kinds]
    for name, (function, kinds) in found.items():
        arguments, options = rows(function)
        parts += [f"## {name}\n", f"{described(function)}\n"]
        if arguments:
            parts.append(table(("argument", "default", "what"), arguments))
        parts.append(table(("option", "takes", "default", "what"), options))
        if kinds and name == of_kinds[0]:
            for kind, own in KINDS.items():
                parts.append(f"### {KIND.format(kind, TITLES[kind])}\n")
                parts.append(table(("option", "takes", "default", "what"), rows(own)[1]))
        elif kinds:
            parts.append(f"And the options of each kind of robot, [as `{of_kinds[0]}` has them]"
                         f"(#{of_kinds[0]}).\n")  # fmt: skip
    return "\n".join(parts)


def sentence(function: Callable[..., Any]) -> str:
    """The first sentence of what a verb says of itself."""
    first = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    return told(first)
