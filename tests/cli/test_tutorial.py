"""The tutorial done as it says: every command of docs/first-push.md, in order, in two terminals."""

from __future__ import annotations

import itertools
import re
import signal
from pathlib import Path

import pytest

from tests.cli.support import PATIENCE, Terminal, attached, invoke, until

PAGE = (Path(__file__).parents[2] / "docs/first-push.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
COMMANDS = [line.split()[1:] for line in LINES if line.startswith("ur-admittance ")]
SHOWN = {  # what the page says a command prints
    tuple(command.split()[1:]): text
    for (kind, command), (after, text) in itertools.pairwise(BLOCKS)
    if (kind, after) == ("sh", "text") and command.startswith("ur-admittance set")
}
(SPRING,) = [text for kind, text in BLOCKS if kind == "yaml"]


def test_the_tutorial_uses_every_verb_that_a_newcomer_needs() -> None:
    verbs = {verb for verb, *_ in COMMANDS}
    assert verbs == {"demo", "run", "watch", "set", "get", "report", "replay", "init", "check"}
    assert len(SHOWN) == 2


@pytest.mark.slow
def test_every_command_of_the_tutorial_does_what_it_says(start, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spring.yaml").write_text(SPRING)
    first, *rest = [command for command in COMMANDS if command[0] != "demo"]
    running = start(*first)
    reader = attached(running)
    for command in rest:
        if command[0] == "watch":
            terminal = Terminal()
            watching = start(*command, **terminal.options)
            until(lambda terminal=terminal: terminal.shows("running"))
            terminal.type("q")
            assert watching.wait(PATIENCE) == 0
            continue
        if command[0] == "report":  # after Ctrl-C in the first terminal
            until(lambda: reader.index > 600)
            running.send_signal(signal.SIGINT)
            assert running.wait(PATIENCE) == 0
        if command[0] == "run":
            command += ["--pace", "0"]  # the reader's time, not ours
        result = invoke(*command)
        if tuple(command) in SHOWN:
            assert result.output == SHOWN[tuple(command)]
        else:
            assert result.exit_code == 0, (command, result.output)
    assert Path("push/index.html").is_file()
