"""From what a user wrote, wherever it was written, to checked values by full name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ur_admittance.config.field import BadValue, Entry, Field, Problem, shown
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError

ALIASES = {"period": "control_rate", "trajectory_time_from_start": "output.time_from_start"}
"""Other names that are accepted, and the parameters they stand for (period = 1/control_rate)."""

EXTENDS = "extends"  # the key of a file that names the one it builds on

_PERIOD = Field("number", "time of one tick", "s", (0.0005, 0.05))


class Schema:
    """The parameters by full name, and the keys of each section."""

    def __init__(self, top: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> None:
        self.sections = {name: tuple(section) for name, section in sections.items()}
        self.fields: dict[str, Field] = {}
        for name, info in top.items():
            inner = {f"{name}.{key}": part for key, part in sections.get(name, {}).items()}
            for full, part in (inner or {name: info}).items():
                self.fields[full] = dataclasses.replace(part.metadata[0], name=full)
        self.heads = {name.partition(".")[0] for name in (*self.fields, *ALIASES)}

    def unknown(self, name: str) -> str:
        """What to say of a name that is no parameter."""
        known = suggest(name, (*self.fields, *self.sections, *ALIASES, EXTENDS))
        keys = self.sections.get(name.partition(".")[0]) or sorted(self.heads)
        return f"unknown key{known or '; the keys here are ' + ', '.join(keys)}"


@dataclasses.dataclass
class Source:
    """What was written, where it came from, and what is wrong with it so far."""

    entries: list[Entry]
    file: str = ""
    problems: list[Problem] = dataclasses.field(default_factory=list)
    places: dict[str, Entry] = dataclasses.field(default_factory=dict)
    base: Source | None = None  # what it extends

    def problem(self, message: str, *names: str) -> Problem:
        """What is wrong between parameters, the one to blame first; it is told at the first of
        them that was written here, else in what this extends.
        """
        line = next((self.places[name].line for name in names if name in self.places), 0)
        if self.base is None:
            return Problem(names[0], message, line)
        if line:
            return Problem(names[0], f"{message} ({self.file} extends {self.base.file})", line)
        return self.below(self.base.problem(message, *names))

    def below(self, problem: Problem) -> Problem:
        """A problem of what this extends, as it is told here: with both files."""
        file = problem.file or (self.base.file if self.base else "")
        return problem._replace(message=f"{problem.message} (extended by {self.file})", file=file)


def given(values: Mapping[str, Any], schema: Schema) -> Source:
    """Keys and values of a mapping, nested or dotted; a model stands for what was set in it."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"parameters must be a mapping, got {shown(values)}")

    def walk(mapping: Mapping[str, Any], prefix: str) -> Iterator[Entry]:
        for key, value in mapping.items():
            if hasattr(value, "model_fields_set"):
                value = {name: getattr(value, name) for name in sorted(value.model_fields_set)}
            if isinstance(value, Mapping) and f"{prefix}{key}" in schema.sections:
                yield from walk(value, f"{prefix}{key}.")
            else:
                yield Entry(f"{prefix}{key}", value)

    return Source(list(walk(values, "")))


def collect(source: Source, schema: Schema) -> tuple[dict[str, Any], Source]:
    """Checked values by full name; what is wrong, and where things are, goes into the source."""
    values: dict[str, Any] = {}
    for entry in _whole(source.entries):
        name = ALIASES.get(entry.name, entry.name)
        place = (entry.line, entry.column)
        if name not in schema.fields:
            if name not in schema.sections:
                source.problems.append(Problem(name, schema.unknown(name), *place))
            elif entry.value is not None:
                wanted = f"must be a section with keys such as {schema.sections[name][0]}"
                message = f"{wanted}, got {shown(entry.value)}"
                source.problems.append(Problem(name, message, entry.line))
            continue
        try:
            if entry.name == "period":
                value = 1.0 / _PERIOD.clean(entry.value)
            else:
                value = schema.fields[name].clean(entry.value)
        except BadValue as error:
            source.problems.append(Problem(entry.name, str(error), entry.line))
            continue
        first = source.places.setdefault(name, entry)
        if first is not entry and first.name == entry.name:
            source.problems.append(twice(name, first.line, *place))
        elif first is not entry and not math.isclose(value, values[name], rel_tol=1e-6):
            message = f"disagrees with {first.name} ({shown(first.value)}); keep one of the two"
            source.problems.append(Problem(entry.name, message, *place))
        else:
            values[name] = value
    return values, source


def twice(name: str, first: int, line: int, column: int) -> Problem:
    lines = f", on lines {first} and {line}" if line else ""
    return Problem(name, f"written twice{lines}; merge the two into one", line, column)


def _whole(entries: list[Entry]) -> list[Entry]:
    """Entries such as equilibrium.position gathered into one equilibrium."""
    whole: list[Entry] = []
    pose: dict[str, Any] = {}
    for entry in entries:
        head, _, part = entry.name.partition(".")
        if head != "equilibrium" or not part:
            whole.append(entry)
            continue
        if not pose:
            whole.append(entry._replace(name=head, value=pose))
        pose[part] = entry.value
    return whole
