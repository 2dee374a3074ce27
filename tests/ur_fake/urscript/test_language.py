"""What the words of URScript mean."""

from __future__ import annotations

import math

import pytest

from tests.ur_fake.scripting import failure, play, said


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 / 2", "3.5"),
        ("7 % 4", "3"),
        ("-2 - -3", "1"),
        ("2 - 3 - 4", "-5"),
        ("0x10", "16"),
        ("1e3 + .5", "1000.5"),
        ("1 == 1.0", "True"),
        ("1 != 2 and not False", "True"),
        ("True xor True", "False"),
        ("True xor False", "True"),
        ("False or 2 > 1", "True"),
        ('"a" == "a"', "True"),
        ("[1, 2] + [10, 20]", "[11, 22]"),
        ("[1, 2] * 3", "[3, 6]"),
        ("2 * [1, 2] - [1, 1]", "[1, 3]"),
        ("[1, 2] / 2", "[0.5, 1]"),
        ("-[1, 2]", "[-1, -2]"),
        ("[[1, 2], [3, 4]][1][0]", "3"),
        ("[[1, 2], [3, 4]][1, 0]", "3"),
        ("p[1, 2, 3, 4, 5, 6][2]", "3"),
        ("struct(a = 1, b = [2, 3]).b[1]", "3"),
        ("[]", "[]"),
        ("pi", f"{math.pi:.6g}"),
        ("true and not false", "True"),
    ],
)
def test_an_expression_has_its_value(machine, expression, value):
    play(machine, f"x = {expression}\ntextmsg(x)")
    assert said(machine) == [value]


def test_an_assignment_copies_a_list(machine):
    play(machine, "a = [1, 2]\nb = a\nb[0] = 9\ntextmsg(a, b)")
    assert said(machine) == ["[1, 2][9, 2]"]


def test_an_argument_is_a_copy(machine):
    play(machine, "def f(v):\n v[0] = 9\n return v\nend\na = [1, 2]\nb = f(a)\ntextmsg(a, b)")
    assert said(machine) == ["[1, 2][9, 2]"]


def test_p_may_be_a_variable_and_is_a_pose_with_six_numbers(machine):
    play(machine, "p = p[1, 2, 3, 4, 5, 6]\np[0] = p[1] * 10\ntextmsg(p)")
    assert said(machine) == ["p[20, 2, 3, 4, 5, 6]"]


def test_members_of_structs_inside_lists_can_be_assigned(machine):
    play(machine, "s = struct(a = [1, 2], b = 3)\ns.a[1] = 7\ns.b = 4\ntextmsg(s)")
    assert said(machine) == ["struct(a=[1, 7], b=4)"]


def test_lists_grow_and_shrink_by_their_methods(machine):
    body = "a = [1]\na.append(2)\na.insert(0, 5)\nb = a.pop()\na.remove(0)\ntextmsg(a, b)"
    play(machine, f"{body}\ntextmsg(a.length())\na.clear()\ntextmsg(a)")
    assert said(machine) == ["[1]2", "1", "[]"]


def test_line_ends_are_white_space(machine):
    play(machine, "x = # a comment\n1 y = x +\n 2\nif x == 1 or\n y == 9:\n textmsg(x,\n y)\nend")
    assert said(machine) == ["13"]


def test_a_bare_return_ends_with_its_line(machine):
    body = "def f(n):\n if n > 0:\n  return\n end\n textmsg(n)\nend\nf(1)\nf(0)"
    play(machine, body)
    assert said(machine) == ["0"]


def test_label_lines_are_skipped(machine):
    play(machine, ' $ 1 "Robot Program"\n textmsg("here")\n $ 2 "x"')
    assert said(machine) == ["here"]


def test_if_takes_the_first_branch_that_holds(machine):
    body = (
        "def f(n):\n if n == 1:\n  return 1\n elif n > 1:\n  return 2\n else:\n  return 3\n end\n"
    )
    play(machine, f"{body}end\ntextmsg([f(1), f(5), f(0)])")
    assert said(machine) == ["[1, 2, 3]"]


def test_while_for_break_and_continue(machine):
    body = "n = 0\ns = 0\nwhile True:\n n = n + 1\n if n > 10:\n  break\n end\n if n % 2 == 0:\n"
    body += (
        "  continue\n end\n s = s + n\nend\nfor x in [1, 2, 3]:\n s = s + 100 * x\nend\ntextmsg(s)"
    )
    play(machine, body)
    assert said(machine) == ["625"]


def test_a_function_changes_the_programs_variables_but_not_its_own_names(machine):
    body = "a = 0\nb = 0\ndef f():\n a = 1\n local b = 1\n c = 1\n return c\nend\n"
    play(machine, f"{body}f()\ntextmsg(a, b)")
    assert said(machine) == ["10"]


def test_global_in_a_function_declares_for_the_program(machine):
    play(machine, "def f():\n global g = 5\nend\nf()\ntextmsg(g)")
    assert said(machine) == ["5"]


def test_arguments_may_be_named_and_have_defaults(machine):
    body = "k = 10\ndef f(a, b=k + 1, c=3):\n return [a, b, c]\nend\n"
    play(machine, f"{body}textmsg(f(1))\ntextmsg(f(1, c=5))\ntextmsg(f(b=2, a=7))")
    assert said(machine) == ["[1, 11, 3]", "[1, 11, 5]", "[7, 2, 3]"]


def test_a_function_may_call_itself(machine):
    body = "def f(n):\n if n < 2:\n  return 1\n end\n return n * f(n - 1)\nend\ntextmsg(f(10))"
    play(machine, body)
    assert said(machine) == ["3628800"]


def test_and_does_not_look_further_than_it_must(machine):
    play(machine, "a = [1]\nif False and a[5] == 0:\n textmsg(1)\nelse:\n textmsg(2)\nend")
    assert said(machine) == ["2"]


def test_halt_ends_the_program_at_once(machine):
    play(machine, 'textmsg("a")\nhalt\ntextmsg("b")')
    assert said(machine) == ["a"]


def test_a_script_without_a_function_is_a_program_too(machine):
    machine.messages.clear()
    assert machine.load_script('textmsg("plain")\n')
    machine.step()
    assert said(machine) == ["plain"]


def test_of_several_functions_the_last_is_the_program(machine):
    machine.messages.clear()
    machine.load_script('def help():\n return "h"\nend\ndef main():\n textmsg(help())\nend\n')
    machine.step()
    assert said(machine) == ["h"]
    assert machine.program_name == "main"


def test_numbers_never_grow_without_bound(machine):
    body = "x = 3\nn = 0\nwhile n < 100:\n x = x * x\n n = n + 1\nend\ntextmsg(x)"
    play(machine, body)
    assert said(machine) in (["inf"], []) or failure(machine)[0].startswith("runtime error")


@pytest.mark.parametrize(
    "growth",
    ["x = [x, x]", "x = struct(a = x, b = x)", "x = str_cat(x, x)", "x.append(x)"],
)
def test_values_never_grow_without_bound(machine, growth):
    start = '"ab"' if "str" in growth and "struct" not in growth else "[1]"
    play(machine, f"x = {start}\nwhile True:\n {growth}\nend")
    text, line = failure(machine)
    assert "at most" in text and line == 4
