"""One parameter: what it means and what it may be; and how a wrong one is told to the user."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError

AXES = ("x", "y", "z", "rx", "ry", "rz")
"""Names of the six entries of every 6-vector: translations, then rotations."""

TRANSLATIONS = AXES[:3]

FRAMES = {"probe": "the desired pose", "base": "the base"}
"""Whose axes those of the law are, for each `admittance.frame`."""

_COUNT = {3: "three", 4: "four", 6: "six"}
_NAME = re.compile(r"[A-Za-z_/][\w./-]{0,199}", re.ASCII)
_COMMA = re.compile(r"\s*([-+]?\d+),(\d+)\s*([^\d\s,].*)?")
_NUMBER_AND_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?\s*")


class Entry(NamedTuple):
    """One key as the user wrote it, and where (line and column from 1; 0 = not from a file)."""

    name: str
    value: Any
    line: int = 0
    column: int = 0


class Problem(NamedTuple):
    """One thing that is wrong; `line` and `column` as in `Entry`, `file` if it is in another."""

    name: str
    message: str
    line: int = 0
    column: int = 0
    file: str = ""

    def text(self, file: str) -> str:
        """The line a user reads: file, place, key, what is wrong."""
        file = self.file or file
        place = ":".join(str(part) for part in (file, self.line, self.column) if part)
        name = self.name if self.name.isprintable() else repr(self.name)
        return ": ".join(part for part in (place if file else "", name, self.message) if part)


class BadValue(ValueError):
    """A value that its field refuses; pydantic collects these, users see a `ConfigError`."""


def refuse(problems: Sequence[Problem], file: str = "") -> NoReturn:
    """Raise one `ConfigError` that holds every problem, in the order of the file."""
    ordered = sorted(dict.fromkeys(problems), key=lambda p: (p.file, p.line or math.inf))
    lines = tuple(problem.text(file) for problem in ordered)
    if len(lines) == 1:
        raise ConfigError(lines[0], lines)
    heading = f"{file or 'configuration'}: {len(lines)} problems"
    raise ConfigError("\n  ".join((heading, *lines)), lines)


def shown(value: Any, limit: int = 40) -> str:
    """A value as a user would write it, on one line, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "a mapping"
    text = "a huge number" if isinstance(value, int) and abs(value) > 1e30 else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


@dataclass(frozen=True)
class Field:
    """One parameter and what it may be: what generated texts, forms and checks read."""

    kind: str  # 'number', 'integer', 'boolean', 'choice', 'text', 'pose' or 'file'
    text: str  # what it means, in words
    unit: str = ""  # of a six-vector two units, "translation, rotation"
    # lowest and highest of each number, both allowed unless `above`
    bounds: tuple[float, float] | None = None
    above: bool = False  # the lowest itself is not allowed
    size: int = 0  # how many values; 0: one value
    or_scalar: bool = False  # one value is accepted where `size` are
    optional: bool = False  # may be none
    choices: tuple[str, ...] = ()  # the words that are allowed
    live: bool = True  # may change while running
    name: str = ""  # in full, such as 'admittance.mass'
    default: Any = None  # when nothing is given
    cleaner: Callable[[Any], Any] | None = None  # does all of `clean`

    @property
    def type(self) -> str:
        """The kind of value, in words."""
        one, many = {
            "number": ("a number", "numbers"),
            "integer": ("a whole number", "whole numbers"),
            "boolean": ("true or false", "of true or false"),
            "choice": (f"one of {', '.join(self.choices)}", ""),
            "text": ("a name of letters, digits and _ / . -", "different names"),
            "pose": ("the path of a YAML file, or position and orientation", ""),
            "file": ("the path of an OBJ or binary STL file", ""),
        }[self.kind]
        words = f"{_COUNT[self.size]} {many}" if self.size else one
        return f"{one} or {words}" if self.or_scalar else words

    @property
    def allowed(self) -> str:
        """Everything this field accepts, in words: type, bounds, unit."""
        words = self.type
        if self.bounds:
            low, high = self.bounds
            words += f" {'>' if self.above else '>='} {low:g} and <= {high:g}"
        words += f" ({self.unit})" if self.unit else ""
        return words + (", or none" if self.optional else "")

    def clean(self, value: Any) -> Any:
        """The value in its one canonical form (floats, tuples), or `BadValue` with the reason."""
        if hasattr(value, "tolist"):  # NumPy arrays and scalars
            value = value.tolist()
        if self.optional and (value is None or (isinstance(value, str) and value in ("", "none"))):
            return None
        many = isinstance(value, (list, tuple))
        if self.cleaner is not None:
            return self.cleaner(value)
        if not self.size or (self.or_scalar and not many):
            return self._one(value, "")
        if not many:
            single = f"the single value {shown(value)}" if _is_number(value) else shown(value)
            self._refuse(f"{single}{self._hint(value)}")
        if len(value) != self.size:
            got = f"{len(value)}{' names' if self.kind == 'text' else ' values'}"
            commas = self.kind == "number" and len(value) == 2 * self.size
            hint = "; a comma separates values, write decimals with a point, as 0.25"
            self._refuse(got + hint * commas)
        values = tuple(self._one(v, f" as value {i}") for i, v in enumerate(value, 1))
        if self.kind == "text" and len(set(values)) < len(values):
            self._refuse(next(f"{v!r} twice" for v in values if values.count(v) > 1))
        return values

    def _one(self, value: Any, where: str) -> Any:
        if self.kind in ("number", "integer"):
            good = _is_number(value) and abs(value) < 1e300  # NaN and infinity fail here
            if good and self.bounds:
                low, high = self.bounds
                good = (low < value if self.above else low <= value) and value <= high
            if good and self.kind == "number":
                return float(value)
            if good and value == int(value):
                return int(value)
        elif (
            (self.kind == "boolean" and isinstance(value, bool))
            or (self.kind == "choice" and isinstance(value, str) and value in self.choices)
            or (self.kind == "text" and isinstance(value, str) and _NAME.fullmatch(value))
        ):
            return value
        self._refuse(shown(value) + where + self._hint(value))

    def _hint(self, value: Any) -> str:
        if self.kind == "boolean" and (_is_number(value) or isinstance(value, str)):
            return "; write true or false"
        if self.kind == "choice" and isinstance(value, str):
            return suggest(value, self.choices)
        if self.kind in ("number", "integer") and isinstance(value, str):
            if comma := _COMMA.fullmatch(value):
                unit = " and without a unit" if comma[3] else ""
                return f"; write {comma[1]}.{comma[2]}, with a point{unit}"
            match = _NUMBER_AND_UNIT.fullmatch(value)
            if match and match[2]:
                return f"; write {match[1]} alone, without a unit"
            return f"; write {match[1]} without quotes" if match else ""
        return ""

    def _refuse(self, got: str) -> NoReturn:
        raise BadValue(f"must be {self.allowed}, got {got}")

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.clean)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        kinds: dict[str, Any] = dict.fromkeys(("choice", "text", "file"), "string")
        kinds["pose"] = ["string", "object"]
        one: dict[str, Any] = {"type": kinds.get(self.kind, self.kind)}
        if self.bounds:
            low, one["maximum"] = self.bounds
            one["exclusiveMinimum" if self.above else "minimum"] = low
        if self.choices:
            one["enum"] = list(self.choices)
        many = {"type": "array", "items": one, "minItems": self.size, "maxItems": self.size}
        options = [many] if self.size else [one]
        options += [one] if self.or_scalar else []
        options += [{"type": "null"}] if self.optional else []
        return {"anyOf": options, "unit": self.unit, "live": self.live}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
