"""Every tick to a file, written by another process that the control loop never waits for.

The control process starts the writer (`writer.py`) before its loop and tells it to end
after. In between they share nothing but the blackboard, from which the writer reads as anybody may.
What it cannot write in time or in space is counted as lost.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.telemetry.mcap_file import library
from ur_admittance.telemetry.recording import model_to_json, read

_START = 120.0  # s, for a writer that may have to compile something first
_FINISH = 30.0  # s, for a slow disk


@dataclass(frozen=True)
class Recorded:
    """How a recording ended."""

    path: Path  # of the file
    written: int  # ticks
    lost: int  # ticks
    problem: str  # in words; "" if there was none


class Recorder:
    """Records a robot's blackboard, from its first tick on unless told otherwise.

    with Blackboard.create("sim", 500.0, controller.live) as board:
        with Recorder("sim", "push.mcap", robot.model) as recorder:
            summary = ua.run(robot, controller, board=board)
            recorder.close({"ticks": summary.ticks})
    """

    def __init__(self, robot: str, path: str | Path, model: RobotModel, first: int = 0) -> None:
        """
        Args:
            robot: name of the blackboard.
            path: of the file, which must not exist.
            model: of the arm, for whoever reads the file.
            first: how many ticks of a run that goes on already are passed over: its
                `Reader.index` records it from now on.

        Raises:
            RobotError: the file exists or cannot be made, or the MCAP library is not installed.
        """
        library()
        self.robot, self.path, self.model, self._first = robot, Path(path), model, first
        folder = self.path.absolute().parent
        if os.path.lexists(self.path):
            raise RobotError(f"recording: {path} exists already; remove it or give another name")
        if not folder.is_dir():
            raise RobotError(f"recording: there is no folder {folder}; make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise RobotError(f"recording: the folder {folder} cannot be written to")
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: Reader | None = None
        self._recorded: Recorded | None = None

    def __enter__(self) -> Self:
        """Start the writer; returns when it is attached to the blackboard."""
        self._reader = Blackboard.attach(self.robot)
        module, path = "ur_admittance.telemetry.writer", str(self.path.absolute())
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, self.robot, path, str(self._first)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for the loop; the writer ends after it
        )
        self._tell(model_to_json(self.model) + "\n")
        answer = self._answer(_START)
        if "ready" not in answer:
            process.kill()
            process.wait()
            self._hang_up()
            problem = answer.get("problem") or "the process that writes it did not start"
            raise RobotError(f"recording to {self.path}: {problem}")
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self, summary: Mapping[str, Any] | None = None) -> Recorded:
        """Let the writer take what is left and finish the file, with the summary in it as JSON."""
        if self._recorded is None:
            self._recorded = self._finish(summary)
        return self._recorded

    def _finish(self, summary: Mapping[str, Any] | None) -> Recorded:
        process, reader = self._process, self._reader
        if process is None or reader is None or process.stdin is None:
            return Recorded(self.path, 0, 0, "the recording was never started")
        late = summary is not None and not self._tell(json.dumps(summary, default=_plain))
        process.stdin.close()
        answer = self._answer(_FINISH)
        if "written" in answer:
            process.wait()
            self._hang_up()
            written, lost, problem = answer["written"], answer["lost"], answer["problem"]
            if problem:
                lost = self._count(reader) - written
            elif late:
                problem = "the summary came after the end of the recording and is not in it"
            return Recorded(self.path, written, lost, problem)
        self._hang_up()
        try:
            problem = f"the process that writes it died ({process.wait(1.0)})"
        except subprocess.TimeoutExpired:
            problem = f"the file is still being written after {_FINISH:g} s; not waited for"
        with suppress(RobotError):
            written = len(read(self.path).records)
            return Recorded(self.path, written, self._count(reader) - written, problem)
        return Recorded(self.path, 0, self._count(reader), problem)

    def _count(self, reader: Reader) -> int:
        """How many ticks there were to record."""
        return reader.index - self._first

    def _tell(self, text: str) -> bool:
        """Whether the writer is there to hear it."""
        data = memoryview(text.encode())
        try:
            while data:
                data = data[self._process.stdin.write(data) :]  # type: ignore[union-attr]
        except (OSError, ValueError):  # ValueError: closed already
            return False
        return True

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The next line of the writer; {} if it has died or says nothing for so long."""
        stdout = self._process.stdout  # type: ignore[union-attr]
        if not stdout or not select.select([stdout], [], [], seconds)[0]:
            return {}
        return json.loads(stdout.readline() or "{}")

    def _hang_up(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):  # type: ignore[union-attr]
            if pipe:
                pipe.close()


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
