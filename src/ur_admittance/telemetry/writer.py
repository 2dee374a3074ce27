"""The process that writes a recording: it reads the blackboard, and hears when to end.

python -m ur_admittance.telemetry.writer ROBOT FILE FIRST
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ur_admittance.blackboard import Blackboard
from ur_admittance.errors import AdmittanceError
from ur_admittance.telemetry.recording import model_from_json
from ur_admittance.telemetry.scribe import Scribe

_POLL = 0.005  # s
_GRACE = 5.0  # s, after the end of the loop, for a summary to come


class Ear:
    """What the control process says on the standard input: the model on one line; at the end a
    summary, or nothing.
    """

    def __init__(self) -> None:
        self._heard = b""
        self.over = False

    def listen(self, seconds: float) -> None:
        """Wait so long, or until something is said."""
        if select.select([0], [], [], seconds)[0]:
            data = os.read(0, 1 << 16)
            self._heard += data
            self.over = not data

    def line(self) -> str:
        while b"\n" not in self._heard and not self.over:
            self.listen(1.0)
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def summary(self) -> dict[str, Any]:
        try:
            return json.loads(self._heard)
        except ValueError:  # the control process died
            return {}


def write(robot: str, path: Path, first: int) -> int:
    """The process that writes, from its start to its end."""
    asked: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    _step_back()
    ear = Ear()
    try:
        reader = Blackboard.attach(robot)
        scribe = Scribe(reader, path, model_from_json(ear.line()), first)
    except OSError as error:
        return _say({"problem": error.strerror or str(error)}, 1)
    except AdmittanceError as error:
        return _say({"problem": str(error)}, 1)
    _say({"ready": True})
    patience, done = None, False
    while not done:
        ear.listen(_POLL)
        done = ear.over or bool(asked) or (patience is not None and time.monotonic() > patience)
        if scribe.poll() == 0 and patience is None and reader.state in ("ended", "gone"):
            patience = time.monotonic() + _GRACE
    scribe.finish(ear.summary(), "the process that writes it was told to end" if asked else "")
    return _say({"written": scribe.written, "lost": scribe.lost, "problem": scribe.problem})


def _step_back() -> None:
    """Ordinary priority, below others, on any core: whatever the control process has for itself."""
    with suppress(OSError, AttributeError):
        if os.sched_getscheduler(0) != os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    os.nice(10)


def _say(answer: Mapping[str, Any], code: int = 0) -> int:
    with suppress(BrokenPipeError):  # nobody is there any more to hear it
        os.write(1, json.dumps(answer).encode() + b"\n")
    return code


if __name__ == "__main__":
    sys.exit(write(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
