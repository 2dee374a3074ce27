"""Every Python that a test starts begins here, by `PYTHONPATH`: what it drives is watched, too.

Nothing is loaded but `taps.py`, and that only once there is something to watch.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

if "UR_ADMITTANCE_TRACES" in os.environ:
    _spec = importlib.util.spec_from_file_location(
        "ur_admittance_taps", Path(__file__).parents[1] / "taps.py"
    )
    assert _spec is not None and _spec.loader is not None
    _taps = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_taps)
    _taps.begin()
