"""A parsed script: plain data with the line and column of everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class ScriptError(Exception):
    """A script that cannot be compiled, or stopped by an error of its own.

    Attributes:
        text: what was wrong.
        line, column: where, from 1; -1 if unknown.
    """

    def __init__(self, text: str, line: int = -1, column: int = -1) -> None:
        super().__init__(text, line, column)
        self.text, self.line, self.column = text, line, column

    def __str__(self) -> str:
        return self.text if self.line < 0 else f"{self.text} (line {self.line})"


@dataclass(slots=True)
class Node:
    line: int
    column: int


@dataclass(slots=True)
class Literal(Node):
    value: Any


@dataclass(slots=True)
class Name(Node):
    name: str


@dataclass(slots=True)
class ListOf(Node):
    items: list[Any]


@dataclass(slots=True)
class PoseOf(Node):
    items: list[Any]


@dataclass(slots=True)
class Call(Node):
    function: Any
    arguments: list[Any]
    keywords: dict[str, Any]


@dataclass(slots=True)
class Subscript(Node):
    base: Any
    index: Any


@dataclass(slots=True)
class Attribute(Node):
    base: Any
    name: str


@dataclass(slots=True)
class Operation(Node):
    """`operator` on one or two operands; "and", "or" and "xor" on two or more."""

    operator: str
    operands: list[Any]


@dataclass(slots=True)
class Run(Node):
    call: Call


@dataclass(slots=True)
class Assign(Node):
    """`scope`: "", "global" or "local"; `value` None declares only."""

    target: Any
    value: Any
    scope: str = ""


@dataclass(slots=True)
class Simple(Node):
    """break, continue, halt, enter_critical, exit_critical, pass."""

    word: str


@dataclass(slots=True)
class Return(Node):
    value: Any


@dataclass(slots=True)
class OnThread(Node):
    """kill or join."""

    word: str
    handle: Any


@dataclass(slots=True)
class Evaluate(Node):
    value: Any


@dataclass(slots=True)
class If(Node):
    branches: list[tuple[Any, list[Any]]]
    otherwise: list[Any]


@dataclass(slots=True)
class While(Node):
    test: Any
    body: list[Any]


@dataclass(slots=True)
class For(Node):
    name: str
    items: Any
    body: list[Any]


@dataclass(slots=True)
class Function(Node):
    """`kind`: "def", "thread" or "sec". Defaults are None where a parameter has none."""

    kind: str
    name: str
    parameters: list[tuple[str, Any]]
    body: list[Any] = field(default_factory=list)
