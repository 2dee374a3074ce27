"""Numbers, lists, vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ur_fake.arm import poses
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import (
    MOST_VALUES,
    Pose,
    kind,
    make_list,
    number,
    text_of,
    truth,
    whole,
)

CONSTANTS = {"pi": math.pi}


def _checked(function: Any, *values: Any) -> float:
    try:
        return function(*[number(value) for value in values])
    except (ValueError, OverflowError, ZeroDivisionError):
        given = ", ".join(text_of(value) for value in values)
        raise ScriptError(f"{function.__name__}({given:.80}) has no value") from None


def acos(rt: Any, f: Any) -> float:
    return _checked(math.acos, f)


def asin(rt: Any, f: Any) -> float:
    return _checked(math.asin, f)


def atan(rt: Any, f: Any) -> float:
    return _checked(math.atan, f)


def atan2(rt: Any, x: Any, y: Any) -> float:
    return _checked(math.atan2, x, y)


def cos(rt: Any, f: Any) -> float:
    return _checked(math.cos, f)


def sin(rt: Any, f: Any) -> float:
    return _checked(math.sin, f)


def tan(rt: Any, f: Any) -> float:
    return _checked(math.tan, f)


def sqrt(rt: Any, f: Any) -> float:
    return _checked(math.sqrt, f)


def log(rt: Any, b: Any, f: Any) -> float:
    """The logarithm of f to the base b."""
    return _checked(math.log, f, b)


def pow_(rt: Any, base: Any, exponent: Any) -> float:
    return _checked(math.pow, base, exponent)


def ceil(rt: Any, f: Any) -> int:
    return int(_checked(math.ceil, f))


def floor(rt: Any, f: Any) -> int:
    return int(_checked(math.floor, f))


def round_(rt: Any, f: Any) -> int:
    return int(_checked(math.floor, number(f) + 0.5))


def d2r(rt: Any, d: Any) -> float:
    return math.radians(number(d))


def r2d(rt: Any, r: Any) -> float:
    return math.degrees(number(r))


def random_(rt: Any) -> float:
    """0 to 1, the same in every run of a program."""
    return float(rt.random.random())


def norm(rt: Any, a: Any) -> float:
    """The length of a vector; of a number, its absolute value."""
    if isinstance(a, tuple):
        return math.sqrt(sum(number(item) ** 2 for item in a))
    return abs(number(a))


def normalize(rt: Any, v: Any) -> tuple:
    length = norm(rt, v)
    if not length > 0:
        raise ScriptError("normalize: the vector has no length")
    return tuple([number(item) / length for item in v])


def max_(rt: Any, a: Any, b: Any) -> Any:
    return a if number(a) >= number(b) else b


def min_(rt: Any, a: Any, b: Any) -> Any:
    return a if number(a) <= number(b) else b


def abs_(rt: Any, f: Any) -> Any:
    number(f)
    return abs(f)


def integer_to_binary_list(rt: Any, x: Any) -> tuple:
    word = whole(x) & 0xFFFFFFFF
    return tuple([bool(word >> n & 1) for n in range(32)])


def binary_list_to_integer(rt: Any, l: Any) -> int:  # noqa: E741
    if not isinstance(l, tuple) or len(l) > 32:
        raise ScriptError("binary_list_to_integer: at most 32 booleans")
    word = sum(truth(bit) << n for n, bit in enumerate(l))
    return word - 2**32 if word >= 2**31 else word


def get_list_length(rt: Any, v: Any) -> int:
    if not isinstance(v, tuple):
        raise ScriptError(f"get_list_length: expected a list, got {kind(v)}")
    return len(v)


def length(rt: Any, v: Any) -> int:
    """The number of elements of a list, or of characters of a string."""
    return len(v) if isinstance(v, str) else get_list_length(rt, v)


def size(rt: Any, v: Any) -> Any:
    """The length of a list; rows and columns of a matrix."""
    if isinstance(v, tuple) and v and isinstance(v[0], tuple):
        return (len(v), len(v[0]))
    return get_list_length(rt, v)


def make_list_(rt: Any, length: Any, initial_value: Any, capacity: Any = 0) -> tuple:
    count = whole(length)
    if not 0 <= count <= MOST_VALUES:
        raise ScriptError(f"make_list: a length of 0 to {MOST_VALUES}, got {count}")
    return make_list((initial_value,) * count)


def transpose(rt: Any, m: Any) -> tuple:
    matrix = _matrix(m)
    rt.left -= matrix.size // 8
    return _rows(matrix.T)


def inv(rt: Any, m: Any) -> Any:
    """The inverse of a matrix, or of a pose."""
    if type(m) is Pose:
        return Pose(poses.inverse(m))
    matrix = _matrix(m)
    rt.left -= 20 + matrix.size * len(matrix) // 16
    try:
        return _rows(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        raise ScriptError("inv: the matrix has no inverse") from None


def _matrix(m: Any) -> np.ndarray:
    try:
        matrix = np.array(m, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise ScriptError("expected a matrix of numbers")
    return matrix


def _rows(matrix: np.ndarray) -> tuple:
    return tuple(tuple(row) for row in matrix.tolist())


def _method(name: str, base: Any, *arguments: Any) -> tuple[Any, Any]:
    """A method of a list: the list after it, and its value."""
    if not isinstance(base, tuple) or type(base) is Pose:
        raise ScriptError(f"{kind(base)} has no method {name}")
    if name in ("length", "capacity"):
        return base, len(base)
    if name == "clear":
        return (), None
    if name == "append":
        return make_list((*base, arguments[0])), None
    if name == "pop":
        if not base:
            raise ScriptError("pop: the list is empty")
        return base[:-1], base[-1]
    n = whole(arguments[0])
    if not 0 <= n < len(base) + (name == "insert"):
        raise ScriptError(f"{name}: index {n} is out of range")
    if name == "remove":
        return (*base[:n], *base[n + 1 :]), None
    return make_list((*base[:n], arguments[1], *base[n:])), None
