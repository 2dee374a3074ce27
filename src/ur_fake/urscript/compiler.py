"""From the tree of a script to Python code objects.

Every function becomes a Python function, or a generator where it may wait: a generator is run until
it yields, which ends its slice of the cycle. The code keeps the lines of the script, so that an
error in it has the script's line.
"""

from __future__ import annotations

import ast
import marshal
from dataclasses import dataclass
from typing import Any

from ur_fake.urscript.expressions import (
    DEEPEST,
    At,
    Expressions,
    call,
    load,
    store,
)
from ur_fake.urscript.parser import parse
from ur_fake.urscript.scopes import collect, own_names, waiting
from ur_fake.urscript.tree import (
    Assign,
    Evaluate,
    For,
    Function,
    If,
    ListOf,
    Literal,
    Name,
    OnThread,
    Operation,
    PoseOf,
    Return,
    ScriptError,
    Simple,
    Subscript,
    While,
)

FILE = "<urscript>"  # of the code objects; errors look for it in their traceback
MAIN = "f__main"
_STRETCH = 50  # statements that are charged for at once


@dataclass(frozen=True)
class Program:
    """A compiled script.

    Attributes:
        name: of the program.
        secondary: a `sec`, which runs beside the program and does not wait.
        code: marshalled code object that defines the functions.
        variables: names of the program's own variables.
    """

    name: str
    secondary: bool
    code: bytes
    variables: tuple[str, ...] = ()


def compile_script(text: str) -> Program:
    """The program in `text`, or a ScriptError that says where it is wrong."""
    statements = parse(text)
    try:
        return _Compiler(statements).program()
    except (RecursionError, MemoryError):
        raise ScriptError("the script is nested too deeply", 1) from None


def _split(statements: list[Any]) -> tuple[str, bool, list[Any]]:
    """Name, whether it is a secondary program, and body."""
    functions = [s for s in statements if isinstance(s, Function) and s.kind != "thread"]
    if statements and len(functions) == len(statements):
        last = functions[-1]
        if last.parameters:
            raise ScriptError(
                f"program {last.name} must not have parameters", last.line, last.column
            )
        return last.name, last.kind == "sec", [*functions[:-1], *last.body]
    return "unnamed", False, statements


class _Compiler(Expressions):
    def __init__(self, statements: list[Any]) -> None:
        self._name, self._secondary, body = _split(statements)
        self._main = Function(1, 1, "def", MAIN, [], body)
        functions, names = collect(body)
        super().__init__(functions, names, waiting(functions))
        self._loops = 0

    def program(self) -> Program:
        definitions = [self._function(f) for f in self._functions.values()]
        definitions.append(self._function(self._main))
        module = ast.Module(body=definitions, type_ignores=[])
        ast.fix_missing_locations(module)
        try:
            code = compile(module, FILE, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, OverflowError) as error:
            line = getattr(error, "lineno", None) or 1
            raise ScriptError(f"the script cannot be compiled: {error.args[0]}", line) from None
        names = tuple(sorted(self._globals))
        return Program(self._name, self._secondary, marshal.dumps(code), names)

    # --- functions ---

    def _function(self, function: Function) -> Any:
        main = function is self._main
        parameters = [name for name, _ in function.parameters]
        self._locals = set(parameters) | own_names(function.body, self._globals, program=main)
        self._generator = main or function.name in self._waits
        self._loops = self._depth = self._serial = self._cost = 0
        at = At(function)
        body: list[Any] = []
        shared = sorted(self._globals - self._locals)
        if shared:
            body.append(at(ast.Global([f"v_{name}" for name in shared])))
        body.append(self._check(at))
        for name, default in function.parameters:
            if default is not None:
                missing = ast.Compare(load(f"v_{name}"), [ast.Is()], [load("_MISSING")])
                assign = ast.Assign([store(f"v_{name}")], self._value(default))
                body.append(at(ast.If(missing, [at(assign)], [])))
        body.extend(self._block(function.body))
        if self._generator:  # even if nothing in it yields
            never = ast.If(ast.Constant(False), [ast.Expr(ast.Yield(None))], [])
            body.append(at(never))
        defaults: list[Any] = [
            load("_MISSING") for _, default in function.parameters if default is not None
        ]
        required = [name for name, default in function.parameters if default is None]
        if parameters[: len(required)] != required:
            raise ScriptError(
                f"{function.name}: a parameter without a default follows one with a default",
                function.line,
                function.column,
            )
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(f"v_{name}") for name in parameters],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=defaults,
        )
        name = MAIN if main else f"f_{function.name}"
        return at(ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[]))

    def _check(self, at: At) -> Any:
        """Who has used up its share of the cycle goes on in the next one."""
        spent = ast.Compare(
            ast.Attribute(load("_meter"), "left", ast.Load()), [ast.Lt()], [ast.Constant(0)]
        )
        pause = ast.Yield(None) if self._generator else call("_spent")
        return at(ast.If(spent, [at(ast.Expr(at(pause)))], []))

    def _count(self, at: At, cost: ast.Constant) -> Any:
        """Charge for what follows."""
        left = ast.Attribute(load("_meter"), "left", ast.Store())
        return at(ast.AugAssign(left, ast.Sub(), cost))

    # --- statements ---

    def _block(self, statements: list[Any], before: int = 0) -> list[Any]:
        """Statements, charged for in stretches; `before`: the cost of what led here."""
        self._depth += 1
        if self._depth > DEEPEST:
            first = statements[0] if statements else self._main
            raise ScriptError("blocks are nested too deeply", first.line, first.column)
        outside, self._cost = self._cost, before
        made: list[Any] = []
        cost: Any = ast.Constant(1)
        for n, statement in enumerate(statements):
            if n % _STRETCH == 0:
                cost, at = ast.Constant(0), At(statement)
                made.append(self._count(at, cost))
                if n > 0:
                    made.append(self._check(at))
            made.extend(self._statement(statement))
            cost.value += 1 + self._cost
            self._cost = 0
        self._cost = outside
        self._depth -= 1
        return made or [self._count(At(self._main), cost)]

    def _statement(self, node: Any) -> list[Any]:
        at = At(node)
        match node:
            case Evaluate(value=value):
                return [at(ast.Expr(self._value(value)))]
            case Assign():
                return self._assign(node, at)
            case If(branches=branches, otherwise=otherwise):
                return [self._if(branches, otherwise)]
            case While(test=test, body=body):
                before = self._cost
                condition = at(self._test(test))
                self._loops += 1
                turn = [self._check(at), *self._block(body, self._cost - before)]
                self._loops -= 1
                return [at(ast.While(condition, turn, []))]
            case For(name=name, items=items, body=body):
                self._loops += 1
                turn = [self._check(at), *self._block(body)]
                self._loops -= 1
                items = at(call("_items", self._value(items)))
                return [at(ast.For(store(f"v_{name}"), items, turn, []))]
            case Return(value=value):
                return [at(ast.Return(None if value is None else self._value(value)))]
            case OnThread(word=word, handle=handle):
                return [at(ast.Expr(at(self._wait(call(f"_{word}", self._value(handle))))))]
            case Simple(word=word):
                return [self._simple(word, at, node)]
            case Function():
                return []
        raise ScriptError("unknown statement", node.line, node.column)

    def _simple(self, word: str, at: At, node: Any) -> Any:
        if word in ("break", "continue"):
            if not self._loops:
                raise ScriptError(f"{word} outside of a loop", node.line, node.column)
            return at(ast.Break() if word == "break" else ast.Continue())
        if word == "pass":
            return at(ast.Pass())
        return at(ast.Expr(at(call(f"_{word}"))))

    def _if(self, branches: list[tuple[Any, list[Any]]], otherwise: list[Any]) -> Any:
        tail = self._block(otherwise) if otherwise else []
        for test, body in reversed(branches):
            at = At(test)
            tail = [at(ast.If(at(self._test(test)), self._block(body), tail))]
        return tail[0]

    def _assign(self, node: Assign, at: At) -> list[Any]:
        if node.value is None:
            return []
        value = at(call("_given", self._value(node.value)))
        if isinstance(node.value, Literal | ListOf | PoseOf | Operation):
            value = value.args[0]
        if isinstance(node.target, Name):
            return [at(ast.Assign([store(f"v_{node.target.name}")], value))]
        path: list[Any] = []
        root: Any = node.target
        if isinstance(root, Subscript) and isinstance(root.base, Name):
            new = call("_put", self._value(root.base), self._value(root.index), value)
            return [at(ast.Assign([store(f"v_{root.base.name}")], at(new)))]
        while not isinstance(root, Name):
            if isinstance(root, Subscript):
                path.insert(0, self._value(root.index))
            else:
                path.insert(0, ast.Constant(root.name))
            root = root.base
        new = call("_replaced", self._value(root), ast.Tuple(path, ast.Load()), value)
        return [at(ast.Assign([store(f"v_{root.name}")], at(new)))]
