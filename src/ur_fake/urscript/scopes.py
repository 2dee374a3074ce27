"""Which names a program has, whose they are, and which of its functions may wait.

Names assigned in the program's own body, or declared `global` anywhere, belong to the program and
are seen by all its functions; parameters, `local` names and other names that a function assigns are
its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ur_fake.urscript.catalogue import CATALOGUE
from ur_fake.urscript.tree import (
    Assign,
    Call,
    For,
    Function,
    If,
    Name,
    OnThread,
    ScriptError,
    While,
)


def collect(body: list[Any]) -> tuple[dict[str, Function], set[str]]:
    """The functions of a program, by name, and the names of its own variables."""
    functions: dict[str, Function] = {}
    shared: set[str] = set()

    def visit(statements: list[Any], *, program: bool) -> None:
        for statement in statements:
            match statement:
                case Function(name=name):
                    if name in functions:
                        raise ScriptError(
                            f"{name} is defined twice", statement.line, statement.column
                        )
                    functions[name] = statement
                    visit(statement.body, program=False)
                case Assign(target=Name(name=name), scope=scope):
                    if scope == "global" or (program and not scope):
                        shared.add(name)
                case If(branches=branches, otherwise=otherwise):
                    for _, inner in branches:
                        visit(inner, program=program)
                    visit(otherwise, program=program)
                case While(body=inner):
                    visit(inner, program=program)
                case For(name=name, body=inner):
                    if program:
                        shared.add(name)
                    visit(inner, program=program)

    visit(body, program=True)
    return functions, shared


def waiting(functions: dict[str, Function]) -> set[str]:
    """Functions that may wait: they loop, wait for something, or call one that does."""
    calls: dict[str, set[str]] = {name: set() for name in functions}
    waits: set[str] = set()
    for name, function in functions.items():
        if function.kind == "thread":
            waits.add(name)
        for node in _walk(function.body):
            if isinstance(node, While | For | OnThread):
                waits.add(name)
            elif isinstance(node, Call) and isinstance(node.function, Name):
                called = node.function.name
                if called in functions:
                    calls[name].add(called)
                elif called in CATALOGUE and CATALOGUE[called].waits:
                    waits.add(name)
    waits |= {name for name in functions if _reaches(name, calls)}
    changed = True
    while changed:
        more = {name for name, called in calls.items() if called & waits} - waits
        waits |= more
        changed = bool(more)
    return waits


def own_names(body: list[Any], shared: set[str], *, program: bool) -> set[str]:
    """Names that a function assigns and that are not the program's, or that it calls local."""
    own: set[str] = set()
    for node in _walk(body):
        if isinstance(node, Assign):
            root = node.target
            while not isinstance(root, Name):
                root = root.base
            if node.scope == "local" or (root.name not in shared and not program):
                own.add(root.name)
        elif isinstance(node, For) and node.name not in shared:
            own.add(node.name)
    return own


def _walk(body: list[Any]) -> Iterator[Any]:
    """Every node below, functions inside left out."""
    stack = list(body)
    while stack:
        item = stack.pop()
        if isinstance(item, Function):
            continue
        if isinstance(item, list | tuple):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif hasattr(item, "line"):
            yield item
            stack.extend(getattr(item, slot) for slot in type(item).__slots__)


def _reaches(name: str, calls: dict[str, set[str]]) -> bool:
    """Whether a function calls itself, over others or not."""
    seen: set[str] = set()
    stack = list(calls[name])
    while stack:
        called = stack.pop()
        if called == name:
            return True
        if called not in seen:
            seen.add(called)
            stack.extend(calls[called])
    return False
