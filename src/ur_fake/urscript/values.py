"""The values of URScript and what its operators do with them.

Numbers and booleans are Python's, strings are `str`, a list is a tuple, a pose a `Pose`, a struct a
`Struct`. None of them can be changed in place, so that an assignment copies, as URScript's does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ur_fake.urscript.tree import ScriptError

LONGEST_TEXT = 8192  # characters
MOST_VALUES = 4096  # in a list or struct, those inside others included
DEEPEST = 8  # lists and structs inside each other
_WHOLE = 2**53  # beyond it a whole number becomes a float

_NUMBERS = (int, float)


class Meter:
    """What the thread that runs now may still do in this cycle, about in statements."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 0


METER = Meter()


class Pose(tuple):
    """Six floats: m and rad."""

    __slots__ = ()


class Struct:
    """Named values; replaced, never changed."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.fields == other.fields

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def make_list(items: tuple) -> tuple:
    """A list of `items`, if it is not too large."""
    if len(items) > MOST_VALUES:
        raise ScriptError(f"a list may hold {MOST_VALUES} values at most")
    METER.left -= len(items) // 32
    for item in items:
        if type(item) is not float and type(item) is not int:
            _measure(items)
            break
    return items


def make_pose(items: tuple) -> Pose:
    return Pose([number(item) for item in items])


def make_struct(fields: dict[str, Any]) -> Struct:
    made = Struct(fields)
    _measure(made)
    return made


def _measure(value: Any) -> None:
    """Refuse values that are too large or too deep."""
    count, depth, level = 0, 0, [value]
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            if isinstance(item, tuple):
                inner.extend(item)
            elif isinstance(item, Struct):
                inner.extend(item.fields.values())
            elif item is None:
                raise ScriptError("a function that returns nothing was used as a value")
            if len(inner) + count > MOST_VALUES:
                raise ScriptError(f"a list or struct may hold {MOST_VALUES} values at most")
        count += len(inner)
        METER.left -= len(inner) // 8
        if depth > DEEPEST:
            raise ScriptError(f"lists and structs may be {DEEPEST} deep at most")
        level = inner


def kind(value: Any) -> str:
    """What a value is called in messages."""
    if value is None:
        return "nothing"
    names = {bool: "bool", int: "int", float: "float", str: "string", tuple: "list", Pose: "pose"}
    return names.get(type(value), "struct")


def number(value: Any) -> float:
    """A number, for a function that needs one."""
    if type(value) is float:
        return value
    if isinstance(value, _NUMBERS):
        return float(value)
    raise ScriptError(f"type error: expected a number, got {kind(value)}")


def whole(value: Any) -> int:
    """A whole number; a float is cut."""
    if type(value) is int:
        return value
    if isinstance(value, _NUMBERS) and math.isfinite(value):
        return int(value)
    raise ScriptError(
        f"type error: expected a whole number, got {kind(value)} {text_of(value):.40}"
    )


def truth(value: Any) -> bool:
    """What `if` and `while` make of a value."""
    if value is True or value is False:
        return value
    if isinstance(value, _NUMBERS):
        return value != 0
    raise ScriptError(f"type error: expected True or False, got {kind(value)}")


def numbers(value: Any, count: int, what: str) -> tuple[float, ...]:
    """A list or pose of `count` finite numbers."""
    if isinstance(value, tuple) and len(value) == count:
        result = tuple([number(item) for item in value])
        if math.isfinite(sum(result)):
            return result
    raise ScriptError(
        f"type error: {what} must be {count} finite numbers, got {kind(value)} {text_of(value):.60}"
    )


# --- operators ---


def _elementwise(symbol: str, operate: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Lists and poses with each other, or with a number."""
    METER.left -= (len(a) if isinstance(a, tuple) else 0) + (len(b) if isinstance(b, tuple) else 0)
    if isinstance(a, tuple):
        made = Pose if type(a) is Pose else tuple
        if isinstance(b, tuple):
            if len(a) == len(b) and symbol in "+-*":
                return made([operate(x, y) for x, y in zip(a, b, strict=True)])
        elif isinstance(b, _NUMBERS):
            return made([operate(x, b) for x in a])
    elif isinstance(b, tuple) and isinstance(a, _NUMBERS) and symbol in "+-*":
        made = Pose if type(b) is Pose else tuple
        return made([operate(a, y) for y in b])
    raise ScriptError(f"type error: {kind(a)} {symbol} {kind(b)}")


def add(a: Any, b: Any) -> Any:
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        result = a + b
        return result if -_WHOLE < result < _WHOLE else float(result)
    return _elementwise("+", add, a, b)


def subtract(a: Any, b: Any) -> Any:
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        result = a - b
        return result if -_WHOLE < result < _WHOLE else float(result)
    return _elementwise("-", subtract, a, b)


def multiply(a: Any, b: Any) -> Any:
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        result = a * b
        return result if -_WHOLE < result < _WHOLE else float(result)
    return _elementwise("*", multiply, a, b)


def divide(a: Any, b: Any) -> Any:
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        if b == 0:
            raise ScriptError("division by zero")
        return a / b
    return _elementwise("/", divide, a, b)


def modulo(a: Any, b: Any) -> Any:
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        if b == 0:
            raise ScriptError("modulo by zero")
        return a % b
    return _elementwise("%", modulo, a, b)


def negative(a: Any) -> Any:
    if isinstance(a, _NUMBERS):
        return -a
    return multiply(-1, a)


def _order(symbol: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def operate(a: Any, b: Any) -> bool:
        if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
            return compare(a, b)
        if isinstance(a, str) and isinstance(b, str):
            return compare(a, b)
        raise ScriptError(f"type error: {kind(a)} {symbol} {kind(b)}")

    return operate


less = _order("<", lambda a, b: a < b)
less_equal = _order("<=", lambda a, b: a <= b)
greater = _order(">", lambda a, b: a > b)
greater_equal = _order(">=", lambda a, b: a >= b)


def exclusive(*values: Any) -> bool:
    result = False
    for value in values:
        result = result != truth(value)
    return result


# --- elements ---


def element(base: Any, index: Any) -> Any:
    """`base[index]`."""
    if not isinstance(base, tuple):
        raise ScriptError(f"type error: {kind(base)} has no elements")
    n = index if type(index) is int else whole(index)
    if not 0 <= n < len(base):
        raise ScriptError(f"index {n} is out of range: the list has {len(base)} elements")
    return base[n]


def member(base: Any, name: str) -> Any:
    """`base.name`."""
    if isinstance(base, Struct) and name in base.fields:
        return base.fields[name]
    raise ScriptError(f"{kind(base)} has no member {name}")


def put(base: Any, index: Any, value: Any) -> Any:
    """`base` with the element at `index` being `value`: the usual case of `replaced`."""
    if type(base) is tuple and type(index) is int and 0 <= index < len(base):
        made = (*base[:index], value, *base[index + 1 :])
        METER.left -= len(made) // 32
        return made if type(value) is float or type(value) is int else make_list(made)
    return replaced(base, (index,), value)


def replaced(base: Any, path: tuple, value: Any) -> Any:
    """`base` with the element at `path` (indices and member names) being `value`."""
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        new = replaced(member(base, step), rest, value) if rest else value
        member(base, step)
        return make_struct({**base.fields, step: new})
    old = element(base, step)
    new = replaced(old, rest, value) if rest else value
    n = whole(step)
    if type(base) is Pose:
        return Pose((*base[:n], number(new), *base[n + 1 :]))
    return make_list((*base[:n], new, *base[n + 1 :]))


def text_of(value: Any) -> str:
    """A value as `textmsg`, `to_str` and `str_cat` write it."""
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "True" if value else "False"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return str(value)
    if value is None:
        return "None"
    if isinstance(value, Struct):
        fields = ", ".join(f"{name}={text_of(item)}" for name, item in value.fields.items())
        return f"struct({fields})"[:LONGEST_TEXT]
    METER.left -= len(value)
    inside = ", ".join([text_of(item) for item in value])
    return f"{'p' if type(value) is Pose else ''}[{inside}]"[:LONGEST_TEXT]
