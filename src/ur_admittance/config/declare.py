"""How a parameter is declared: a pydantic field whose checks and words are one `Field`."""

from __future__ import annotations

import dataclasses
from typing import Any

import pydantic

from ur_admittance.config.field import Field, Problem, refuse
from ur_admittance.config.validate import suggest


def declare(kind: str, default: Any, text: str, **more: Any) -> Any:
    """A pydantic field whose checks and metadata are one `Field`."""
    field = Field(kind, text, **more)
    field = dataclasses.replace(field, default=field.clean(default))
    info = pydantic.Field(default=field.default, description=text)
    info.metadata.append(field)
    return info


def number(default: Any, interval: str, unit: str, text: str, **more: Any) -> Any:
    """Numbers inside an interval such as '(0, 10]'."""
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = interval[0] == "("
    return declare("number", default, text, unit=unit, bounds=(low, high), above=above, **more)


def fixed(default: Any, interval: str, unit: str, text: str, **more: Any) -> Any:
    """Numbers that may not change while running."""
    return number(default, interval, unit, text, live=False, **more)


def number_or_none(interval: str, unit: str, text: str, **more: Any) -> Any:
    """Numbers that need not be given."""
    return number(None, interval, unit, text, optional=True, **more)


def six(linear: float, angular: float, interval: str, unit: str, text: str) -> Any:
    """Six numbers; the default is the same for the three translations, and the three rotations."""
    return number((linear,) * 3 + (angular,) * 3, interval, unit, text, size=6)


def choice(*choices: str, text: str, live: bool = False) -> Any:
    """One of some words; the first is the default."""
    return declare("choice", choices[0], text, choices=choices, live=live)


class Section(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except pydantic.ValidationError as error:
            problems = []
            for e in error.errors():
                name = str(e["loc"][0])
                unknown = f"unknown key{suggest(name, type(self).model_fields)}"
                problems.append(Problem(name, str(e.get("ctx", {}).get("error", unknown))))
            refuse(problems)
