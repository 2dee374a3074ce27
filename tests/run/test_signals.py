"""Ctrl-C, SIGTERM and a closed terminal end a run at rest."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ur_admittance.run import loop


@pytest.fixture
def hangup() -> Iterator[None]:
    """A closed terminal is heard of, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("hangup")
def test_a_signal_brakes_the_arm_to_rest_and_ends_the_run_cleanly(number):
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.run.loop_process"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "moving"
    process.send_signal(number)
    rest, _ = process.communicate(timeout=120)
    assert rest.strip().endswith("inactive True True")
    assert process.returncode == 0


@pytest.mark.usefixtures("hangup")
def test_a_terminal_that_closes_counts_once_however_often_it_is_said():
    before = signal.getsignal(signal.SIGHUP)
    with loop.signals() as asked:
        for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
            signal.raise_signal(number)
    assert asked == [signal.SIGHUP, signal.SIGTERM]
    assert signal.getsignal(signal.SIGHUP) == before
