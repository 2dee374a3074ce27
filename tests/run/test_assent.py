"""Who may let an arm do what: the table's answers, and what is said where nobody agreed."""

from __future__ import annotations

from functools import cache

import pytest

from tests.cli.support import invoke
from ur_admittance import RobotError
from ur_admittance.run.assent import (
    ACTS,
    ASKS,
    BY_NAME,
    FREE,
    NEVER,
    OPTION,
    SURFACES,
    Act,
    Assent,
    NotPermitted,
)

CELLS = [(act, surface) for act in ACTS for surface in SURFACES]
LEADING = ("run", "play", "init", "calibrate", "identify", "demo")  # verbs that move an arm
NAMES = [f"{act.name}-{surface}" for act, surface in CELLS]


@cache
def helps(verb: str) -> str:
    return invoke(verb, "--help").stdout


class Person:
    """Who answers, and remembers what was asked and told."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.told: list[str] = []

    def ask(self, question: str) -> bool:
        self.asked.append(question)
        return self.answer

    def assent(self, surface: str, *permit: str, verb: str = "run") -> Assent:
        return Assent(surface, permit, ask=self.ask, tell=self.told.append, verb=verb)


@pytest.mark.parametrize(("act", "surface"), CELLS, ids=NAMES)
def test_every_cell_of_the_table_does_as_it_says(act: Act, surface: str) -> None:
    """Free asks nobody; asks takes a yes; option wants leave beforehand; never is never agreed."""
    answer = getattr(act, surface)
    assert answer in (FREE, ASKS, OPTION, NEVER)
    yes = Person(True)
    if answer in (FREE, ASKS):
        yes.assent(surface).require(act.name, "it does this")
    else:
        with pytest.raises(NotPermitted, match="nothing has moved") as refused:
            yes.assent(surface).require(act.name, "it does this")
        assert refused.value.act is act and "it does this; " in str(refused.value)
        assert str(refused.value).startswith("run: ")
    assert yes.asked == ([act.question] if answer == ASKS else [])
    assert yes.told == (["it does this"] if answer == ASKS else [])
    no = Person(False)
    if answer == ASKS:
        assert act.question
        with pytest.raises(NotPermitted, match=act.does):
            no.assent(surface).require(act.name, "it does this")
        assert no.told == ["it does this"], "told once, and not again in the refusal"
    if answer != NEVER:
        permitted = no.assent(surface, act.name)
        permitted.require(act.name, "it does this")
        assert permitted.permits(act.name) and len(no.asked) == (answer == ASKS)


@pytest.mark.parametrize("act", ACTS, ids=BY_NAME)
def test_a_simulated_arm_needs_assent_only_where_the_table_marks_it(act: Act) -> None:
    for surface in SURFACES:
        nobody = Assent(surface)
        if act.simulated and getattr(act, surface) != FREE:
            with pytest.raises(NotPermitted):
                nobody.require(act.name, simulated=True)
        else:
            nobody.require(act.name, simulated=True)


def test_who_agreed_once_is_not_asked_again_and_who_said_no_is() -> None:
    person = Person(True)
    assent = person.assent("terminal")
    for _ in range(3):
        assent.require("lead", "it moves for 2 s")
    assert len(person.asked) == 1 and len(person.told) == 3
    no = Person(False)
    assent = no.assent("terminal")
    for _ in range(2):
        with pytest.raises(NotPermitted):
            assent.require("lead")
    assert len(no.asked) == 2


def test_agreeing_to_one_act_is_agreeing_to_no_other() -> None:
    assent = Person(True).assent("terminal")
    assent.require("lead")
    assert not assent.permits("travel") and not assent.permits("play")


def test_what_there_is_not_is_named_with_what_there_is() -> None:
    with pytest.raises(RobotError, match=r"no 'fly', 'force '; there are start, .*unguarded"):
        Assent(permit={"force ", "fly"})
    with pytest.raises(RobotError, match="no surface 'window', only terminal, script, python"):
        Assent("window")
    assert Assent(permit="force").permits("force"), "one name alone"


@pytest.mark.parametrize(
    ("surface", "verb", "act", "words"),
    [
        ("script", "run", "travel", "--allow-travel lets it, or bring the arm near it first"),
        ("terminal", "run", "travel", "--allow-travel lets it, or bring the arm near it first"),
        ("python", "run", "travel", "permit={'travel'} lets it, or bring the arm near it first"),
        ("page", "run", "travel", "not from a page, or bring the arm near it first"),
        ("script", "init", "lead", "--yes lets it"),
        ("script", "run", "replace", "--replace-program lets it, or stop it on the pendant"),
        ("script", "init", "replace", "nothing has moved; stop it on the pendant"),
        ("python", "run", "replace", "permit={'replace'} lets it, or stop it on the pendant"),
        ("script", "run", "recover", "--reset lets it"),
        ("script", "init", "recover", "nothing has moved; at a terminal it asks"),
        ("terminal", "init", "recover", "last program ended by itself, nothing has moved"),
        ("script", "demo", "demo", "nothing has moved; at a terminal it asks"),
        ("terminal", "demo", "demo", "not permitted to show what the arm does, nothing has moved"),
    ],
)
def test_a_refusal_says_what_would_let_it(surface: str, verb: str, act: str, words: str) -> None:
    """An option of the command line only where the verb has it."""
    with pytest.raises(NotPermitted) as refused:
        Person(False).assent(surface, verb=verb).require(act)
    said = str(refused.value)
    assert said.startswith(f"{verb}: not permitted to ") and words in said
    assert said.endswith(words) or "bring the arm near" in words


@pytest.mark.parametrize("act", [act for act in ACTS if act.option], ids=lambda act: act.name)
def test_the_verbs_that_are_said_to_have_an_option_have_it(act: Act) -> None:
    have = [verb for verb in LEADING if f"  {act.option} " in helps(verb).replace("\n", " ")]
    if act.option == "--no-guard":  # written as a pair there
        assert "--guard" in helps("run") and act.verbs == ("run", "play")
    elif act.option == "--yes":
        assert set(have) == set(BY_NAME["lead"].verbs + BY_NAME["play"].verbs)
        assert set(act.verbs) <= set(have)
    else:
        assert have == [*act.verbs]
