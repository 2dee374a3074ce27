"""Ctrl-C before anything has begun: nothing begins, in one line and without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.support import PATIENCE, attached, until
from ur_admittance.blackboard import list_running

RUN = ("run", "--robot", "sim", "--config", "preset:hand-guiding", "--pace", "0", "--seconds", "1")

# Ctrl-C at the moment in which a module is about to be loaded; swallowed, as a callback may do.
SCRIPT = """
import os, signal, sys
_, module, swallow, *sys.argv[1:] = sys.argv

class Presses:
    done = False

    def find_spec(self, name, *_):
        if name == module and not self.done:
            self.done = True
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                if not swallow:
                    raise

sys.meta_path.insert(0, Presses())
import ur_admittance_command
ur_admittance_command.main()
"""


def pressed(module: str, *arguments: str, swallow: bool = False) -> subprocess.CompletedProcess:
    """The command, interrupted when it loads that module."""
    words = [module, "yes" if swallow else "", *arguments]
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("ur_admittance", ("--help",)),
        ("numba", ("watch",)),
        ("typer", RUN),
        ("rich.table", ("check", "preset:hand-guiding")),
        ("mujoco", RUN),
        ("ur_admittance.live.watch", ("watch",)),
    ],
)
def test_ctrl_c_while_it_loads_ends_any_verb_in_one_line(module, arguments, runtime) -> None:
    ended = pressed(module, *arguments)
    assert ended.returncode == 130, ended
    assert ended.stderr == "interrupted\n"
    assert ended.stdout == ""


def test_ctrl_c_that_a_library_swallows_still_means_no_start(runtime) -> None:
    ended = pressed("mujoco", *RUN, swallow=True)
    assert ended.returncode == 130, ended
    assert ended.stderr == "interrupted; the arm has not moved\n"
    assert ended.stdout == ""
    assert list_running() == []


def test_a_run_at_a_millionth_of_the_pace_can_be_interrupted(start) -> None:
    process = start(*RUN[:5], "--pace", "1e-6")
    reader = attached(process)
    until(lambda: reader.index > 0)
    process.send_signal(signal.SIGINT)
    out, problems = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, problems
    assert "the arm is at rest" in out
