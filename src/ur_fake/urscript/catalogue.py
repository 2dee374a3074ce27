"""Every function and constant that a script can use, and how each may be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ur_fake.urscript.builtins import (
    arithmetic,
    inputs,
    kinematics,
    modes,
    motion,
    sockets,
    state,
    texts,
)


@dataclass(frozen=True)
class Entry:
    """One function, or a constant.

    Attributes:
        value: the function, whose first argument is the Execution; or the constant.
        constant: whether it is one.
        waits: whether it may end the thread's slice.
        names: of its parameters; required: how many have no default.
        cost: of a call, about in statements; those that cost much more charge for it themselves.
    """

    value: Any
    constant: bool = False
    waits: bool = False
    names: tuple[str, ...] = ()
    required: int = 0
    cost: int = 1

    def refuses(self, count: int, keywords: list[str]) -> str:
        """What is wrong with `count` arguments in order and those named `keywords`, or nothing."""
        for name in keywords:
            if name not in self.names:
                return f"has no parameter {name}"
            if self.names.index(name) < count:
                return f"gets {name} twice"
        if count > len(self.names):
            return f"takes {len(self.names)} arguments, got {count}"
        missing = [n for n in self.names[count : self.required] if n not in keywords]
        return f"needs {', '.join(missing)}" if missing else ""


def _entry(function: Callable, cost: int) -> Entry:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    required = sum(p.default is p.empty for p in parameters)
    names = tuple(p.name for p in parameters)
    waits = inspect.isgeneratorfunction(function)
    return Entry(function, waits=waits, names=names, required=required, cost=cost)


def _functions(module: ModuleType, cost: int) -> dict[str, Entry]:
    """The public functions of a module; a trailing _ keeps a name from being Python's own."""
    return {
        name.rstrip("_"): _entry(value, _COSTS.get(name, cost))
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }


_COSTS = {"set_tcp": 80, "tool_contact": 40, "get_forward_kin": 20, "get_jacobian": 20, "sync": 0}

CATALOGUE: dict[str, Entry] = {
    name: Entry(value, constant=True) for name, value in arithmetic.CONSTANTS.items()
}
for _module, _cost in (
    (arithmetic, 1),
    (texts, 5),
    (kinematics, 8),
    (state, 3),
    (inputs, 1),
    (modes, 5),
    (motion, 20),
    (sockets, 10),
):
    CATALOGUE.update(_functions(_module, _cost))
