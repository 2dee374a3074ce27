"""The last seconds of a run that an error ended, as a recording: `report` and `replay` read it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from ur_admittance.blackboard import Reader
from ur_admittance.model import RobotModel
from ur_admittance.telemetry.scribe import Scribe


def write_trace(reader: Reader, records: np.ndarray, model: RobotModel, why: str) -> Path:
    """Write records, oldest first, to a new file in this folder, or in that for passing files if
    this one cannot be written to; returns its path. `why`: what ended the run.

    Raises:
        OSError: it cannot be written.
        RobotError: the MCAP library is not installed.
    """
    folder = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.gettempdir())
    path = folder / f"error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.mcap"
    scribe = Scribe(reader, path, model)
    scribe.take(records)
    scribe.finish({"error": why})
    return path
