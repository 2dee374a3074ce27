"""Typed functions are translated by two processes, and none of that can be told from the result."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from ur_admittance.kernel import translation
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.inner import TRANSLATION, Inner

HERE = os.getpid()
MANY = 15


def a_chain_of_functions() -> tuple[Callable, float]:
    """One that Python calls, over many others, each of which calls the one before; and what it
    makes of 1.0.
    """

    @jit
    def link(x):
        return 1.5 * x + 0.25

    expected = 1.75
    for n in range(MANY):
        link = longer_by_one(link, n)
        expected = max(expected - n, 1.25 * expected)

    @jit(entry=True)
    def chain(x):
        return link(x)

    return chain, expected


def longer_by_one(link: Inner, n: int) -> Inner:
    @jit
    def longer(x):
        y = link(x)
        return max(y - n, 1.25 * y)  # max: of Numba's own functions, which are compiled, too

    return longer


@pytest.fixture
def done_by(monkeypatch) -> list[str]:
    """Who translated: "here", or "copy" for what came from there."""
    who: list[str] = []
    here, there = translation.Typed.translate, translation._Translator.results

    def translate(typed):
        who.append("here")
        here(typed)

    def results(copy):
        for result in there(copy):
            who.append("copy")
            yield result

    monkeypatch.setattr(translation.Typed, "translate", translate)
    monkeypatch.setattr(translation._Translator, "results", results)
    monkeypatch.setattr(translation, "may_fork", lambda: True)
    return who


def only_in_a_copy(monkeypatch, do: Callable[[], None]) -> None:
    """What a copy does instead of translating."""
    before = translation.Typed.translate

    def translate(typed):
        if os.getpid() != HERE:
            do()
        before(typed)

    monkeypatch.setattr(translation.Typed, "translate", translate)


def wait_for_the_copy(monkeypatch) -> None:
    """This process begins to translate only when the copy has ended."""
    finish = translation.Translation.finish

    def patient(self):
        while self._copy is not None and not self._copy.has_ended():
            time.sleep(0.001)
        finish(self)

    monkeypatch.setattr(translation.Translation, "finish", patient)


def no_child_is_left() -> bool:
    return TRANSLATION._copy is None and not TRANSLATION._waiting


def test_what_a_copy_translates_is_what_this_process_would_have(monkeypatch, done_by):
    wait_for_the_copy(monkeypatch)
    function, expected = a_chain_of_functions()
    assert function(1.0) == expected
    assert done_by.count("copy") >= translation._WORTH_A_COPY, done_by
    alone, _ = a_chain_of_functions()
    monkeypatch.setattr(translation, "may_fork", lambda: False)
    done_by.clear()
    assert alone(1.0) == expected
    assert set(done_by) == {"here"}
    values = np.random.default_rng(1).normal(size=100)
    assert [function(x) for x in values] == [alone(x) for x in values]
    assert no_child_is_left()


@pytest.mark.parametrize(
    "do",
    [
        pytest.param(lambda: os._exit(1), id="ends"),
        pytest.param(lambda: os.kill(os.getpid(), signal.SIGKILL), id="is killed"),
        pytest.param(lambda: time.sleep(1e6), id="hangs"),
        pytest.param(lambda: 1 / 0, id="fails"),
    ],
)
def test_a_copy_that_comes_to_nothing_costs_time_alone(monkeypatch, done_by, do):
    only_in_a_copy(monkeypatch, do)
    function, expected = a_chain_of_functions()
    assert function(1.0) == expected
    assert set(done_by) == {"here"}
    assert no_child_is_left()


def test_where_no_copy_can_be_made_there_is_none(monkeypatch, done_by):
    def refuse() -> int:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(os, "fork", refuse)
    function, expected = a_chain_of_functions()
    assert function(1.0) == expected
    assert set(done_by) == {"here"}


def test_an_interrupt_while_it_translates_leaves_all_for_the_next_time(monkeypatch, done_by):
    def interrupt(function: Callable) -> None:
        if done_by.count("here") == MANY // 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(translation, "may_fork", lambda: False)
    function, expected = a_chain_of_functions()
    monkeypatch.setattr(TRANSLATION, "step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        function(1.0)
    monkeypatch.setattr(TRANSLATION, "step", None)
    assert function(1.0) == expected
    assert no_child_is_left()


def test_no_copy_is_made_beside_threads():
    """They are not in it, and it might wait for one of them."""
    go = threading.Event()
    thread = threading.Thread(target=go.wait)
    thread.start()
    try:
        assert not translation.may_fork()
    finally:
        go.set()
        thread.join()
