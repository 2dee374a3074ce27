"""Every row of the fault matrix has tests that show it, and they are where the matrix says."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parents[1]
ROWS: dict[int, dict] = yaml.safe_load((Path(__file__).parent / "matrix.yaml").read_text("utf-8"))
LAST = 67
BEYOND = [70, 71, 72]  # rows after that
# What nobody looks for, in the words of the page of the guarantees.
WITHOUT = {41: "The arm may hit itself, the table or a person."}


@cache
def claims(file: Path) -> dict[str, set[int]]:
    """The rows that each test of a file names at the beginning of its docstring."""
    found: dict[str, set[int]] = {}
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            head = re.match(r"Rows? ([\d and,]+)", ast.get_docstring(node) or "")
            found[node.name] = set(map(int, re.findall(r"\d+", head[1]))) if head else set()
    return found


def test_every_row_is_there_or_it_is_said_that_nobody_looks_for_it() -> None:
    assert sorted([*ROWS, *WITHOUT]) == [*range(1, LAST + 1), *BEYOND]
    page = (TESTS.parent / "docs" / "guarantees.md").read_text("utf-8")
    assert all(words in page for words in WITHOUT.values())


@pytest.mark.parametrize("number", ROWS)
def test_the_tests_of_a_row_exist_and_speak_of_no_other_row(number: int) -> None:
    files = {name: tests for name, tests in ROWS[number].items() if name != "what"}
    assert files and all(files.values()), "no test shows it"
    for name, tests in files.items():
        claimed = claims(TESTS / name)
        for test in tests:
            assert test in claimed, f"{name} has no {test}"
            assert not claimed[test] or number in claimed[test], f"{test} is of {claimed[test]}"


def test_a_test_that_names_a_row_names_one_that_there_is() -> None:
    unknown = {
        f"{file.name}: {test}": rows - set(ROWS)
        for file in TESTS.rglob("test_*.py")
        for test, rows in claims(file).items()
        if rows - set(ROWS)
    }
    assert unknown == {}
