"""What verbs are to the command line: their help, their order, and options that were renamed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

_TYPE = re.compile(r" <[^<>]*>$")
_WHOLE = 200  # characters: more than the first sentence of any verb


class Verb(TyperCommand):
    """A verb, whose help names its arguments without their types."""

    # spellings of options that are still taken but not shown, and what they are now
    former: Mapping[str, str] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [self._now(word) for word in args])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            params = [each for each in self.get_params(ctx) if each.param_type_name == kind]
            records = [each.get_help_record(ctx) for each in params]
            if rows := [record for record in records if record is not None]:
                if kind == "argument":
                    rows = [(_TYPE.sub("", name), text) for name, text in rows]
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _now(self, word: str) -> str:
        name, sign, value = word.partition("=")
        return self.former.get(name, name) + sign + value


class NumbersVerb(Verb):
    """A verb whose arguments may be negative numbers, which are no options."""

    ignore_unknown_options = True


def formerly(**options: str) -> type[Verb]:
    """A verb whose options had another name: `formerly(robot="arm")` takes --robot for --arm."""
    spellings = {f"--{old}": f"--{new}" for old, new in options.items()}
    return type("Renamed", (Verb,), {"former": spellings})


class Verbs(TyperGroup):
    """All of them, in the order in which they were added, each under its panel's heading."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands))
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, verb in self.commands.items():
            row = name.ljust(width), verb.get_short_help_str(limit=_WHOLE)
            panels.setdefault(getattr(verb, "rich_help_panel", None) or "Commands", []).append(row)
        for heading, rows in panels.items():
            with formatter.section(heading):
                formatter.write_dl(rows)
