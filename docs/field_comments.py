"""For the API reference: what a comment says of a field is shown as its description."""

from __future__ import annotations

import re
from typing import Any

import griffe

_BEHIND = re.compile(r"  # (?!type:|pyright:|noqa|fmt:)(.+)$")
_ABOVE = re.compile(r"\s+# (.+)$")


class FieldComments(griffe.Extension):
    """Adds commented fields to the attributes that the docstring of their class tells of."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        if cls.docstring is None or isinstance(cls.filepath, list):
            return
        lines = cls.lines_collection[cls.filepath]
        rows = []
        for name, field in cls.members.items():
            if not (isinstance(field, griffe.Attribute) and field.lineno and field.endlineno):
                continue
            if words := _words(lines, field.lineno, field.endlineno):
                rows.append(f"    {name}: {words}")
        if rows:
            head = [] if "\nAttributes:\n" in cls.docstring.value else ["", "Attributes:"]
            cls.docstring.value = "\n".join([cls.docstring.value.rstrip(), *head, *rows])


def _words(lines: list[str], first: int, last: int) -> str:
    """The comment behind a field, else the one above it; line numbers count from 1."""
    if behind := _BEHIND.search(lines[last - 1]):
        return behind[1]
    above = []
    while found := _ABOVE.match(lines[first - 2 - len(above)]):
        above.insert(0, found[1])
    return " ".join(above)
