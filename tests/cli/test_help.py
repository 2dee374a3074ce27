"""What `--help` says, on a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest
import typer

from tests.cli.support import invoke
from ur_admittance.cli import app, kinds

VERBS = list(typer.main.get_group(app).commands)
OPTION = re.compile(r"^  (--?\S.*?)(?:  |\n)", re.MULTILINE)
UNIT = re.compile(r"\[([^\]]*\W)?(s|N|Nm|m|rad|degrees|kg|Hz)(\W[^\]]*)?\]")
RATIOS = ("--pace", "--speed")  # times as fast


def options(verb: str) -> dict[str, str]:
    """What the help says of each option, on one line."""
    text = invoke(verb, "--help").stdout
    heads = [*OPTION.finditer(text)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return {
        head[1]: " ".join(text[head.end(1) : end].split())
        for head, end in zip(heads, ends, strict=True)
    }


def test_the_verbs_stand_in_the_order_in_which_a_user_comes_to_need_them() -> None:
    text = invoke("--help").stdout
    order = ("demo", "check", "doctor", "calibrate", "init", "run", "watch", "report", "bench")
    places = [text.index(f"\n  {verb} ") for verb in order]
    assert places == sorted(places)
    headings = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert headings == [
        "Options",
        "Without a robot",
        "Before an arm gives way",
        "Giving way",
        "While it does, from another terminal",
        "Afterwards",
        "For tests and ROS 2",
    ]


def test_every_verb_is_listed_with_its_whole_first_sentence() -> None:
    text = " ".join(invoke("--help").stdout.split())
    for verb in VERBS:
        paragraph = invoke(verb, "--help").stdout.split("\n\n")[1]
        sentence = " ".join(paragraph.split()).partition(". ")[0]
        assert f" {verb} {sentence}" in text
    assert "..." not in text.replace("[ARGS]...", "")


@pytest.mark.parametrize("verb", VERBS)
def test_no_option_shows_the_type_of_a_text_a_path_or_a_list(verb: str) -> None:
    text = invoke(verb, "--help").stdout
    assert not re.findall(r"<(?:str|path|list|Path|float,|float\.)\S*", text)
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_that_takes_a_quantity_says_its_unit(verb: str) -> None:
    for name, words in options(verb).items():
        if ("<float" in name or re.search(r" (FX|X Y|Q1) ", f"{name} ")) and not name.startswith(
            RATIOS
        ):
            assert UNIT.search(words), f"{verb} {name}: {words}"


def test_the_robots_that_verbs_connect_to_are_named_alike() -> None:
    for verb in VERBS:
        for name, words in options(verb).items():
            if name == "--robot URL" and verb != "demo":
                assert "sim, sim:ur3e to sim:ur30" in words, verb
            if name.startswith("--robot") and "URL" not in name:
                assert name == "--robot NAME" and "no address to connect to" in words, verb


def test_an_option_has_one_meaning_in_all_verbs() -> None:
    metavars: dict[str, set[str]] = {}
    for verb in VERBS:
        for name in options(verb):
            option, _, value = name.partition(" ")
            metavars.setdefault(option, set()).add(value)
    assert metavars["--arm"] == {"MODEL"}
    assert metavars["--robot"] == {"URL", "NAME"}
    assert metavars["--model"] == {"MODEL"}


def test_run_and_play_list_what_each_kind_of_robot_can_be_asked_for() -> None:
    for verb in ("run", "play"):
        text = " ".join(invoke(verb, "--help").stdout.split())
        for kind, title in kinds.TITLES.items():
            assert f"Options for --robot {kind}, {title}:" in text
