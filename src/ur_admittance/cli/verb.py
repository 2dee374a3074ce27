"""What verbs are to the command line: their help and their order."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

_TYPE = re.compile(r" <[^<>]*>$")
_WHOLE = 200  # characters: more than the first sentence of any verb


class Verb(TyperCommand):
    """A verb, whose help names its arguments without their types."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            params = [each for each in self.get_params(ctx) if each.param_type_name == kind]
            records = [each.get_help_record(ctx) for each in params]
            if rows := [record for record in records if record is not None]:
                if kind == "argument":
                    rows = [(_TYPE.sub("", name), text) for name, text in rows]
                with formatter.section(title):
                    formatter.write_dl(rows)


class NumbersVerb(Verb):
    """A verb whose arguments may be negative numbers, which are no options."""

    ignore_unknown_options = True


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
