"""What Numba works out again and again while it compiles, worked out once.

Nothing of it changes what is compiled. A Numba in which such a place looks different goes its own
way there, and takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from numba import types
from numba.core import errors, ir

_LEAVES = frozenset({str, int, float, bool, type(None), ir.Loc})  # of a statement: no variables


@contextmanager
def shortcuts(context: Any) -> Iterator[None]:
    """They are taken meanwhile.

    Args:
        context: Numba's knowledge of types.
    """
    with ExitStack() as restored:
        for place, name, quicker in (
            (context, "resolve_function_type", _resolved_once),
            (context, "resolve_value_type", _answered_once),
            (types.Record, "__repr__", _answered_once),
            (ir.Inst, "_rec_list_vars", _listed_by_type),
            (errors, "termcolor", _without_colour),
        ):
            original = getattr(place, name, None)
            if original is not None:
                restored.callback(_put_back, place, name, vars(place).get(name))
                setattr(place, name, quicker(original))
        yield


def _put_back(place: Any, name: str, original: Any) -> None:
    if original is None:  # it was its class's
        delattr(place, name)
    else:
        setattr(place, name, original)


def _resolved_once(resolve: Callable) -> Callable:
    """What `a + b` makes of two floats is the result of dozens of attempts, and asked for a
    thousand times.
    """
    found: dict[Any, Any] = {}

    def resolve_once(function, args, kws):
        ours = isinstance(function, types.Type) and not isinstance(function, types.Function)
        if ours or kws or not all(isinstance(arg, types.Type) for arg in args):  # a slice is none
            return resolve(function, args, kws)
        asked = (function, tuple(args))
        answer = found.get(asked)
        if answer is None:
            answer = found[asked] = resolve(function, args, kws)
        return answer

    return resolve_once


def _answered_once(answer: Callable) -> Callable:
    """Records have two hundred fields, and are written out for every attempt; and of what type a
    function or a number is, is asked wherever it is named.
    """
    found: dict[int, tuple[Any, Any]] = {}

    def answer_once(value):
        known = found.get(id(value))
        if known is None:
            known = found[id(value)] = (value, answer(value))  # kept, so that its id is its own
        return known[1]

    return answer_once


def _listed_by_type(slower: Callable) -> Callable:
    """Which variables a statement names is asked five times of each."""

    def variables(self, value) -> list:
        kind = type(value)
        if kind is ir.Var:
            return [value]
        if kind in _LEAVES:
            return []
        if kind is dict or kind is list or kind is tuple:
            found = []
            for part in value.values() if kind is dict else value:
                kind = type(part)
                if kind is ir.Var:
                    found.append(part)
                elif kind not in _LEAVES:
                    found += variables(self, part)
            return found
        return slower(self, value)

    return variables


def _without_colour(coloured: Callable) -> Callable:
    """Attempts that fail are errors with a text, which nobody reads: no colours for it."""
    scheme = coloured()

    class Plain(type(scheme)):
        def _markup(self, msg, color=None, style=None):
            return msg

    plain = Plain()
    return lambda: plain
