"""Real processes, a blackboard of this one, and one recording for all tests of the commands."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import BRIEF, GUIDED, PATIENCE, SCRIPT, invoke
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard


@pytest.fixture
def start(
    runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the installed command as a user would, in a folder of its own. On a busy machine it
    may be long in coming, and `set` waits for it.
    """
    monkeypatch.setattr(sys.modules["ur_admittance.cli.set"], "_TAKEN_SECONDS", PATIENCE)
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **options) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        options = {"stdout": pipe, "stderr": pipe, "text": True, "cwd": tmp_path, **options}
        started.append(subprocess.Popen([SCRIPT, *arguments], **options))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()


class Board:
    """A blackboard of this process, and the controller whose ticks it shows."""

    def __init__(self, **changes) -> None:
        self.config = Config.preset("hand-guiding").replace(changes)
        self.controller = Controller(RobotModel.ur("ur5e"), self.config)
        self.controller.activate(self.controller.model.home)
        self.board = Blackboard.create("sim:a", 500.0, self.controller.live)

    def tick(self, count: int, push: float = 0.0) -> None:
        q = self.controller.model.home
        for _ in range(count):
            self.board.take_params(self.controller.live)
            self.controller.update(q, np.array([push, 0, 0, 0, 0, 0.0]), 0.002)
            self.board.publish(self.controller.outputs)


@pytest.fixture
def board(runtime) -> Iterator[Board]:
    made = Board()
    yield made
    made.board.close()


@pytest.fixture(scope="session")
def recording(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path_factory.mktemp("runtime")))
        result = invoke(*GUIDED, *BRIEF, "--record", folder / "push.mcap")
    assert result.exit_code == 0, result.output
    assert " ticks recorded\n" in result.stdout
    return folder / "push.mcap"
