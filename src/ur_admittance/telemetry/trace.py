"""The last seconds of a run that an error ended, as a recording: `report` and `replay` read it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from ur_admittance.blackboard import Reader
from ur_admittance.config import Config
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel
from ur_admittance.telemetry.scribe import Scribe


class _Kept:
    """Records that were kept, where a scribe looks for new ones."""

    def __init__(self, reader: Reader, records: np.ndarray) -> None:
        self._reader, self._records = reader, records
        self.robot, self.rate = reader.robot, reader.rate

    @property
    def reason(self) -> StopReason | None:
        return self._reader.reason

    def config(self) -> Config:
        return self._reader.config()

    def text_of(self, generation: int) -> str | None:
        return self._reader.text_of(generation)

    def since(self, index: int) -> tuple[np.ndarray, int, int]:
        return self._records[index:], len(self._records), 0


def write_trace(reader: Reader, records: np.ndarray, model: RobotModel, why: str) -> Path:
    """Write records to a new file in this folder, or in that for passing files if this one cannot
    be written to; returns its path.

    Args:
        reader: of the blackboard, for the configuration.
        records: outputs records, oldest first.
        why: what ended the run.

    Raises:
        OSError: it cannot be written.
        RobotError: the MCAP library is not installed.
    """
    folder = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.gettempdir())
    path = folder / f"error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.mcap"
    scribe = Scribe(_Kept(reader, records), path, model)
    scribe.poll()
    scribe.finish({"error": why})
    return path
