"""From the text of a script to its tree."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError

from ur_fake.urscript.tree import (
    Assign,
    Attribute,
    Call,
    Evaluate,
    For,
    Function,
    If,
    ListOf,
    Literal,
    Name,
    Node,
    OnThread,
    Operation,
    PoseOf,
    Return,
    Run,
    ScriptError,
    Simple,
    Subscript,
    While,
)

LONGEST = 1_000_000  # characters of a script
_POSE = "p"


def parse(text: str) -> list[Any]:
    """The statements at the top of `text`, or a ScriptError."""
    if len(text) > LONGEST:
        raise ScriptError(f"the script has {len(text)} characters; at most {LONGEST} are taken", 1)
    try:
        return _parser().parse(text)  # pyright: ignore[reportReturnType]
    except VisitError as error:
        if isinstance(error.orig_exc, ScriptError):
            raise error.orig_exc from None
        raise
    except UnexpectedCharacters as error:
        found = text[error.pos_in_stream : error.pos_in_stream + 1]
        raise ScriptError(f"syntax error at {found!r}", error.line, error.column) from None
    except UnexpectedToken as error:
        token: Any = error.token  # pyright: ignore[reportAttributeAccessIssue]
        ended = token.type == "$END"
        found = "the end of the script" if ended else f"{str(token)!r:.80}"
        line, column = error.line or -1, error.column or -1
        if ended:
            line, column = text.rstrip("\n").count("\n") + 1, 1
        raise ScriptError(f"syntax error at {found}", line, column) from None
    except UnexpectedInput as error:
        raise ScriptError("syntax error", error.line, error.column) from None


@functools.cache
def _parser() -> Lark:
    package = resources.files("ur_fake.urscript")
    grammar = (package / "grammar.lark").read_text("utf-8")
    lexer: Any = "basic"  # lark's own annotation lacks it
    return Lark(grammar, parser="lalr", lexer=lexer, transformer=_Build())


def _place(token: Token) -> tuple[int, int]:
    return (token.line or -1, token.column or -1)


def _at(node: Any) -> tuple[int, int]:
    return (node.line, node.column)


class _Build(Transformer):
    """Makes a node of each rule as soon as it is read."""

    def start(self, statements: list[Any]) -> list[Any]:
        return statements

    block = start
    items = start

    def arguments(self, children: list[Any]) -> list[Any]:
        return [child for child in children if child is not None]

    # --- atoms ---

    def name(self, children: list[Token]) -> Name:
        return Name(*_place(children[0]), str(children[0]))

    def number(self, children: list[Token]) -> Literal:
        token = children[0]
        text = str(token)
        if text[:2] in ("0x", "0X"):
            value: float = int(text, 16)
        elif text.isdigit():
            value = int(text) if len(text) < 10 else float(text)
            if isinstance(value, float) and value < 2**53:
                value = int(value)
        else:
            value = float(text)
        return Literal(*_place(token), value)

    def string(self, children: list[Token]) -> Literal:
        return Literal(*_place(children[0]), str(children[0])[1:-1])

    def true(self, children: list[Token]) -> Literal:
        return Literal(*_place(children[0]), True)

    def false(self, children: list[Token]) -> Literal:
        return Literal(*_place(children[0]), False)

    def list(self, children: list[Any]) -> ListOf:
        items = children[1] or []
        return ListOf(*_place(children[0]), [item for item in items if item is not None])

    # --- what follows an atom ---

    def call(self, children: list[Any]) -> Call:
        function, given = children
        arguments: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument in given or []:
            if isinstance(argument, tuple):
                name, value = argument
                if str(name) in keywords:
                    raise ScriptError(f"argument {name} is given twice", *_place(name))
                keywords[str(name)] = value
            elif keywords:
                raise ScriptError(
                    "an argument without a name follows one with a name", *_at(argument)
                )
            else:
                arguments.append(argument)
        return Call(*_at(function), function, arguments, keywords)

    def keyword(self, children: list[Any]) -> tuple[Token, Any]:
        return (children[0], children[1])

    def subscript(self, children: list[Any]) -> Node:
        base, items = children
        items = [item for item in items if item is not None]
        if len(items) == 1:
            return Subscript(*_at(base), base, items[0])
        if isinstance(base, Name) and base.name == _POSE:
            if len(items) != 6:
                raise ScriptError(f"a pose has six numbers, got {len(items)}", *_at(base))
            return PoseOf(*_at(base), items)
        if len(items) == 2:
            inner = Subscript(*_at(base), base, items[0])
            return Subscript(*_at(base), inner, items[1])
        raise ScriptError(f"an index is one or two numbers, got {len(items)}", *_at(base))

    def attribute(self, children: list[Any]) -> Attribute:
        return Attribute(*_at(children[0]), children[0], str(children[1]))

    # --- operators ---

    def _words(self, children: list[Any], operator: str) -> Node:
        if len(children) == 1:
            return children[0]
        operands = [child for child in children if not isinstance(child, Token)]
        return Operation(*_at(operands[0]), operator, operands)

    def or_(self, children: list[Any]) -> Node:
        return self._words(children, "or")

    def and_(self, children: list[Any]) -> Node:
        return self._words(children, "and")

    def xor(self, children: list[Any]) -> Node:
        return self._words(children, "xor")

    def not_(self, children: list[Any]) -> Node:
        return Operation(*_place(children[0]), "not", [children[1]])

    def comparison(self, children: list[Any]) -> Node:
        left, operator, right = children
        if operator is None:
            return left
        return Operation(*_at(left), str(operator), [left, right])

    def chain(self, children: list[Any]) -> Node:
        result = children[0]
        for operator, right in zip(children[1::2], children[2::2], strict=True):
            result = Operation(*_at(result), str(operator), [result, right])
        return result

    def negative(self, children: list[Any]) -> Node:
        value = children[1]
        if isinstance(value, Literal) and type(value.value) in (int, float):
            return Literal(*_place(children[0]), -value.value)
        return Operation(*_place(children[0]), "negative", [value])

    def positive(self, children: list[Any]) -> Node:
        return children[1]

    def run(self, children: list[Any]) -> Run:
        token, call = children
        if not (isinstance(call, Call) and isinstance(call.function, Name)):
            raise ScriptError("run needs a thread: run name()", *_place(token))
        return Run(*_place(token), call)

    # --- statements ---

    def assignment(self, children: list[Any]) -> Assign:
        target, value = children
        root = target
        while isinstance(root, Subscript | Attribute):
            root = root.base
        if not isinstance(root, Name):
            raise ScriptError(
                "only a variable, or an element of one, can be assigned", *_at(target)
            )
        return Assign(*_at(target), target, value)

    def declaration(self, children: list[Any]) -> Assign:
        scope, name, value = children
        return Assign(*_place(scope), Name(*_place(name), str(name)), value, str(scope))

    def simple(self, children: list[Token]) -> Simple:
        return Simple(*_place(children[0]), str(children[0]))

    def return_value(self, children: list[Any]) -> Return:
        return Return(*_place(children[0]), children[1])

    def return_nothing(self, children: list[Any]) -> Return:
        return Return(*_place(children[0]), None)

    def kill(self, children: list[Any]) -> OnThread:
        return OnThread(*_place(children[0]), "kill", children[1])

    def join(self, children: list[Any]) -> OnThread:
        return OnThread(*_place(children[0]), "join", children[1])

    def expression_statement(self, children: list[Any]) -> Evaluate:
        return Evaluate(*_at(children[0]), children[0])

    def elif_(self, children: list[Any]) -> tuple[Any, list[Any]]:
        return (children[1], children[2])

    def else_(self, children: list[Any]) -> list[Any]:
        return children[1]

    def if_(self, children: list[Any]) -> If:
        token, test, body, *more, otherwise, _ = children
        return If(*_place(token), [(test, body), *more], otherwise or [])

    def while_(self, children: list[Any]) -> While:
        return While(*_place(children[0]), children[1], children[2])

    def for_(self, children: list[Any]) -> For:
        return For(*_place(children[0]), str(children[1]), children[3], children[4])

    def parameter(self, children: list[Any]) -> tuple[str, Any]:
        return (str(children[0]), children[1])

    def parameters(self, children: list[Any]) -> list[Any]:
        return children

    def function(self, children: list[Any]) -> Function:
        kind, name, parameters, body, _ = children
        names = [parameter for parameter, _ in parameters or []]
        if len(set(names)) != len(names):
            raise ScriptError(f"{name}: two parameters have one name", *_place(name))
        return Function(*_place(kind), str(kind), str(name), parameters or [], body)

    thread = function

    def secondary(self, children: list[Any]) -> Function:
        kind, name, body, _ = children
        return Function(*_place(kind), str(kind), str(name), [], body)


for _word in ("if", "elif", "else", "while", "for"):
    setattr(_Build, _word, getattr(_Build, f"{_word}_"))
