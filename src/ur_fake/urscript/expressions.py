"""Expressions of a script as expressions of Python, and what calls cost."""

from __future__ import annotations

import ast
from typing import Any

from ur_fake.urscript.catalogue import CATALOGUE
from ur_fake.urscript.tree import (
    Attribute,
    Call,
    Function,
    ListOf,
    Literal,
    Name,
    Operation,
    PoseOf,
    Run,
    ScriptError,
    Subscript,
)

DEEPEST = 90  # expressions and blocks inside each other
_OPERATORS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "negative": "negative", "xor": "exclusive",
}  # fmt: skip
_TRUTHS = {"<", "<=", ">", ">=", "==", "!=", "xor", "and", "or", "not"}
_METHODS = {"append": 1, "insert": 2, "remove": 1, "pop": 0, "clear": 0, "length": 0, "capacity": 0}


class At:
    """Gives Python's nodes the place of a script's node."""

    __slots__ = ("column", "line")

    def __init__(self, node: Any) -> None:
        self.line, self.column = max(1, node.line), max(0, node.column - 1)

    def __call__(self, made: Any) -> Any:
        made.lineno = made.end_lineno = self.line
        made.col_offset = made.end_col_offset = self.column
        return made


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def call(name: str, *arguments: Any) -> ast.Call:
    return ast.Call(load(name), list(arguments), [])


class Expressions:
    """Compiles expressions, in the function that is under way."""

    def __init__(self, functions: dict[str, Function], names: set[str], waits: set[str]) -> None:
        """
        Args:
            functions: of the program, by name.
            names: of the program's own variables.
            waits: names of functions that may wait.
        """
        self._functions, self._globals, self._waits = functions, names, waits
        self._locals: set[str] = set()
        self._generator = True
        self._depth = self._serial = 0
        self._cost = 0  # of the calls compiled since it was last looked at

    def _test(self, node: Any) -> Any:
        """A condition: a Python bool."""
        value = self._value(node)
        certain = (isinstance(node, Operation) and node.operator in _TRUTHS) or (
            isinstance(node, Literal) and isinstance(node.value, bool)
        )
        return value if certain else At(node)(call("_truth", value))

    def _value(self, node: Any) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ScriptError("expressions are nested too deeply", node.line, node.column)
        made = At(node)(self._expression(node))
        self._depth -= 1
        return made

    def _expression(self, node: Any) -> Any:
        match node:
            case Literal(value=value):
                return ast.Constant(value)
            case Name(name=name):
                if name not in self._locals and name not in self._globals:
                    if name in CATALOGUE and CATALOGUE[name].constant:
                        return load(f"b_{name}")
                    raise ScriptError(f"{name} is not defined", node.line, node.column)
                return load(f"v_{name}")
            case ListOf(items=items):
                return call("_list", ast.Tuple([self._value(i) for i in items], ast.Load()))
            case PoseOf(items=items):
                return call("_pose", ast.Tuple([self._value(i) for i in items], ast.Load()))
            case Subscript(base=base, index=index):
                return call("_element", self._value(base), self._value(index))
            case Attribute(base=base, name=name):
                return call("_member", self._value(base), ast.Constant(name))
            case Operation(operator="and" | "or" as word, operands=operands):
                operator = ast.And() if word == "and" else ast.Or()
                return ast.BoolOp(operator, [self._test(operand) for operand in operands])
            case Operation(operator="not", operands=[operand]):
                return ast.UnaryOp(ast.Not(), self._test(operand))
            case Operation(operator="==" | "!=" as operator, operands=[left, right]):
                compare = ast.Eq() if operator == "==" else ast.NotEq()
                return ast.Compare(self._value(left), [compare], [self._value(right)])
            case Operation(operator=operator, operands=operands):
                return call(f"_{_OPERATORS[operator]}", *[self._value(o) for o in operands])
            case Call():
                return self._call(node)
            case Run(call=started):
                return self._run(started)
        raise ScriptError("unknown expression", node.line, node.column)

    def _call(self, node: Call) -> Any:
        if isinstance(node.function, Attribute):
            return self._method(node, node.function)
        if not isinstance(node.function, Name):
            raise ScriptError("only a function can be called", node.line, node.column)
        name = node.function.name
        if name == "struct":
            if node.arguments:
                raise ScriptError("struct needs names: struct(a = 1)", node.line, node.column)
            values = [self._value(value) for value in node.keywords.values()]
            return call("_struct", ast.Dict([ast.Constant(k) for k in node.keywords], values))
        function = self._functions.get(name)
        if function is not None:
            if function.kind == "thread":
                raise ScriptError(f"{name} is a thread: use run", node.line, node.column)
            self._check_arguments(node, function)
            made = self._called(f"f_{name}", node, "v_")
            return self._wait(made) if name in self._waits else made
        known = CATALOGUE.get(name)
        if known is None or known.constant:
            raise ScriptError(f"function {name} is not defined", node.line, node.column)
        problem = known.refuses(len(node.arguments), list(node.keywords))
        if problem:
            raise ScriptError(f"{name}: {problem}", node.line, node.column)
        self._cost += known.cost
        made = self._called(f"b_{name}", node, "")
        return self._wait(made) if known.waits else made

    def _wait(self, made: Any) -> Any:
        if not self._generator:
            raise ScriptError("a function that waits was called where nothing can wait")
        return ast.YieldFrom(made)

    def _called(self, function: str, node: Call, prefix: str) -> Any:
        keywords = [ast.keyword(prefix + k, self._value(v)) for k, v in node.keywords.items()]
        return ast.Call(load(function), [self._value(a) for a in node.arguments], keywords)

    def _run(self, node: Call) -> Any:
        name = node.function.name
        function = self._functions.get(name)
        if function is None:
            raise ScriptError(f"thread {name} is not defined", node.line, node.column)
        if function.kind != "thread":
            raise ScriptError(f"{name} is not a thread", node.line, node.column)
        self._check_arguments(node, function)
        return call("_run", self._called(f"f_{name}", node, "v_"), ast.Constant(name))

    def _check_arguments(self, node: Call, function: Function) -> None:
        names = [name for name, _ in function.parameters]
        required = {name for name, default in function.parameters if default is None}
        given = names[: len(node.arguments)] + list(node.keywords)
        unknown = [name for name in node.keywords if name not in names]
        missing = sorted(required - set(given))
        problem = ""
        if len(node.arguments) > len(names):
            problem = f"takes {len(names)} arguments, got {len(node.arguments)}"
        elif unknown:
            problem = f"has no parameter {unknown[0]}"
        elif len(set(given)) < len(given):
            problem = "gets an argument twice"
        elif missing:
            problem = f"needs {', '.join(missing)}"
        if problem:
            raise ScriptError(f"{function.name}: {problem}", node.line, node.column)

    def _method(self, node: Call, attribute: Attribute) -> Any:
        """A method of a list: it puts the new list in the variable's place and has a value."""
        count = _METHODS.get(attribute.name)
        if count is None or count != len(node.arguments) or node.keywords:
            raise ScriptError(f"no such method: {attribute.name}", node.line, node.column)
        at = At(node)
        arguments = [self._value(argument) for argument in node.arguments]
        base = self._value(attribute.base)
        pair_of = at(call("_method", ast.Constant(attribute.name), base, *arguments))
        if not isinstance(attribute.base, Name) or attribute.name in ("length", "capacity"):
            return ast.Subscript(pair_of, ast.Constant(1), ast.Load())
        self._serial += 1
        pair = f"_pair{self._serial}"
        first = ast.Subscript(load(pair), ast.Constant(0), ast.Load())
        second = ast.Subscript(load(pair), ast.Constant(1), ast.Load())
        steps: list[Any] = [
            ast.NamedExpr(store(pair), pair_of),
            ast.NamedExpr(store(f"v_{attribute.base.name}"), first),
            second,
        ]
        return ast.Subscript(ast.Tuple(steps, ast.Load()), ast.Constant(2), ast.Load())
