"""Scripts that are wrong: what is said, and at which line."""

from __future__ import annotations

import contextlib

import pytest

from tests.ur_fake.scripting import failure, play, said
from ur_fake.urscript import ScriptError, compile_script


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("x = 1 +", 3, "syntax error at 'end'"),
        ("x = (1\ny = 2", 3, "syntax error at 'y'"),
        ("if True:\n x = 1", 4, "syntax error at the end"),
        ("x = @", 2, "syntax error at '@'"),
        ("nobody_knows_this(1)", 2, "function nobody_knows_this is not defined"),
        ("textmsg(unknown)", 2, "unknown is not defined"),
        ("sync()\nmovej()", 3, "movej: needs q"),
        ("sync(1)", 2, "sync: takes 0 arguments, got 1"),
        ("movej([0,0,0,0,0,0], speed=1)", 2, "has no parameter speed"),
        ("def f(a):\nend\nf()", 4, "f: needs a"),
        ("def f(a):\nend\nf(1, 2)", 4, "f: takes 1 arguments, got 2"),
        ("def f():\nend\ndef f():\nend", 4, "f is defined twice"),
        ("break", 2, "break outside of a loop"),
        ("x = p[1, 2, 3]", 2, "a pose has six numbers"),
        ("run nobody()", 2, "thread nobody is not defined"),
        ("f(1) = 2", 2, "only a variable"),
        ("pose_inv(p_from=p[0,0,0,0,0,0], p_from=1)", 2, "given twice"),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_its_line(machine, body, line, words):
    play(machine, body)
    text, where = failure(machine)
    assert words in text and where == line
    assert said(machine, "key") == []  # it never started


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("a = [1, 2]\nsync()\nb = a[2]", 4, "index 2 is out of range"),
        ("a = 1\nb = a[0]", 3, "int has no elements"),
        ("a = 1 / 0", 2, "division by zero"),
        ('a = "x" + 1', 2, "type error: string + int"),
        ("a = [1, 2] + [1]", 2, "type error: list + list"),
        ('if "yes":\nend', 2, "expected True or False, got string"),
        ("def f():\n return 1\nend\ndef g():\n return f() + [1][3]\nend\ng()", 6, "out of range"),
        (
            "def f(b):\n if b:\n  c = 1\n end\n return c\nend\nf(False)",
            6,
            "variable c has no value",
        ),
        ("if False:\n late = 1\nend\ntextmsg(late)", 5, "variable late has no value"),
        ("def f():\nend\nx = f()", 4, "returns nothing"),
        ("movej([1, 2])", 2, "must be 6 finite numbers"),
        ("x = sqrt(-1)", 2, "sqrt(-1) has no value"),
        ("write_output_integer_register(99, 1)", 2, "there are 0 to 47"),
        ("s = struct(a = 1)\nx = s.b", 3, "struct has no member b"),
        ("servoj([0,0,0,0,0,0], lookahead_time=1)", 2, "0.03 to 0.2"),
        ("sync()\nget_inverse_kin(p[9, 9, 9, 0, 0, 0])", 3, "no solution"),
    ],
)
def test_an_error_ends_the_program_and_says_its_line(machine, body, line, words):
    play(machine, body)
    text, where = failure(machine)
    assert words in text and where == line
    assert machine.program is None


def test_an_error_has_its_column(machine):
    play(machine, "x = 1\n  y = [1, 2][7]")
    (message,) = [message for message in machine.messages if message.kind == "exception"]
    assert (message.line, message.column) == (3, 7)


@pytest.mark.parametrize(
    "script",
    [
        "x = " + "(" * 5000 + "1" + ")" * 5000,
        "x = " + "[" * 5000 + "]" * 5000,
        "x = " + "-" * 5000 + "1",
        "x = " + "not " * 5000 + "True",
        "x = " + "+".join(["1"] * 5000),
        "while True:\n" * 400 + "end\n" * 400,
        "if True:\n" * 400 + "end\n" * 400,
        "while True:\n" * 50 + "end\n" * 50,
        "x = 1\n" + "if x == 1:\n y = 1\n" + "elif x == 2:\n y = 2\n" * 3000 + "end\n",
        "#" * 1_000_001,
    ],
    ids=["parentheses", "lists", "signs", "nots", "sum", "loops", "ifs", "fewer loops", "elifs",
         "long"],
)  # fmt: skip
def test_what_nests_or_goes_on_for_ever_is_refused_or_compiled_but_harms_nobody(script):
    with contextlib.suppress(ScriptError):
        compile_script(script)


def test_a_broken_script_does_not_disturb_the_running_program(machine):
    machine.messages.clear()
    machine.load_script("def good():\n sleep(1)\nend\n")
    machine.step()
    assert not machine.load_script("def bad(\n")
    machine.step()
    assert machine.program_name == "good" and machine.program_state == "PLAYING"
    machine.stop_program()
