"""Scripts are compiled in a process of their own, and none of them can hold it up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from ur_admittance.errors import RobotError
from ur_fake import reader
from ur_fake.reader import Reader
from ur_fake.urscript import Program, ScriptError

GOOD = "def good():\n  textmsg(1)\nend\n"


@pytest.fixture(scope="module")
def made() -> Iterator[Reader]:
    one = Reader()
    yield one
    one.close()


def result(one: Reader) -> Any:
    """The next one."""
    for _ in range(60_000):
        if (done := one.poll()) is not None:
            return done
        time.sleep(0.001)
    raise AssertionError("waited in vain")


def test_a_reader_that_is_ready_says_so(made: Reader) -> None:
    made.wait()
    assert made.poll() is None


def test_a_program_comes_back(made: Reader) -> None:
    assert made.submit(GOOD)
    program = result(made)
    assert isinstance(program, Program)
    assert program.name == "good"


def test_what_is_wrong_with_a_script_comes_back_with_its_line(made: Reader) -> None:
    made.submit("def bad():\n  x = = 1\nend\n")
    error = result(made)
    assert isinstance(error, ScriptError)
    assert error.line == 2


def test_they_come_back_in_order(made: Reader) -> None:
    names = [f"p{i}" for i in range(5)]
    for name in names:
        assert made.submit(GOOD.replace("good", name))
    assert [result(made).name for _ in names] == names


def test_too_many_are_refused(made: Reader) -> None:
    taken = [made.submit(GOOD) for _ in range(reader.QUEUE + 3)]
    assert taken.count(False) == 3
    for _ in range(reader.QUEUE):
        result(made)


@pytest.mark.parametrize("text", ["(" * 20_000, "x = " + "[" * 5000 + "]" * 5000 + "\n", "\0" * 99])
def test_nests_are_survived(made: Reader, text: str) -> None:
    made.submit(f"def nest():\n  {text}\nend\n")
    assert isinstance(result(made), ScriptError)
    made.submit(GOOD)
    assert result(made).name == "good"


def test_one_that_takes_too_long_is_given_up() -> None:
    """Processor time counts: a busy machine is no reason."""
    one = Reader(patience=0.02)
    try:
        one.wait()
        one.submit(GOOD.replace("textmsg(1)", "textmsg(1)\n" * 5000))
        error = result(one)
        assert isinstance(error, ScriptError) and "longer than 0.02 s" in error.text
        one.wait()  # the next one is there
    finally:
        one.close()


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.sys, "executable", "/bin/false")
    one = Reader()
    try:
        with pytest.raises(RobotError, match="the process that reads scripts"):
            one.wait()
    finally:
        one.close()
