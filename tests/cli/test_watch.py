"""`watch`: another terminal looks at a controller."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest

from tests.cli.support import PUSHED, Terminal, invoke, until
from ur_admittance import StopReason


def test_watch_once_shows_the_newest_tick(board) -> None:
    board.tick(200, push=20.0)
    result = invoke("watch", "--once")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("running: active    20.0 N")
    assert "mm/s" in result.stdout


def test_watch_json_has_the_same_in_si_units(board) -> None:
    board.tick(200, push=20.0)
    result = invoke("watch", "--once", "--json")
    seen = json.loads(result.stdout)
    out = board.controller.outputs[0]
    assert seen["state"] == "running"
    assert seen["mode"] == "active"
    assert seen["force"] == pytest.approx(20.0, abs=0.1)
    assert seen["speed"] == pytest.approx(np.linalg.norm(out["V_WP_cmd"][:3]))
    assert seen["p_WP"] == pytest.approx(out["X_WP"][:3, 3])
    assert seen["reason"] is None


def test_watch_tells_why_the_run_was_stopped(board) -> None:
    board.tick(20)
    why = StopReason.of("asked", "door open; cell 3")
    board.board.reason = why
    assert json.loads(invoke("watch", "--once", "--json").stdout)["reason"] == why.as_dict()
    shown = " ".join(invoke("watch", "--once").stdout.split())
    assert f"it was ended: {why}" in shown


def test_watch_once_without_a_controller_says_so_and_leaves_with_one(runtime) -> None:
    result = invoke("watch", "--once")
    assert result.exit_code == 1
    assert "waiting: no controller runs" in result.stdout
    named = invoke("watch", "--once", "--robot", "sim:b")
    assert named.exit_code == 1
    assert "no controller runs for sim:b" in named.stdout


@pytest.mark.slow
def test_watch_sees_a_controller_come_fall_silent_die_and_come_back(start) -> None:
    terminal = Terminal()
    watching = start("watch", **terminal.options)
    until(lambda: terminal.shows("no controller runs"))
    first = start(*PUSHED)
    until(lambda: terminal.shows("running"))
    until(lambda: terminal.shows("from above") and terminal.shows("damping"))
    first.send_signal(signal.SIGSTOP)
    until(lambda: terminal.shows("silent"))
    first.kill()
    first.wait()
    until(lambda: terminal.shows("died without a word"))
    since = len(terminal.text)
    start(*PUSHED)
    until(lambda: "running" in terminal.text[since:])
    terminal.type("q")
    assert watching.wait(120) == 0
    until(lambda: terminal.shows("\x1b[?1049l"))  # back from the alternate screen
