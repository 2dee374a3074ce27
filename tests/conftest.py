"""Property tests are the same on every run, and small matrices do not start threads."""

from __future__ import annotations

import os

from hypothesis import settings

# Before NumPy is loaded: on a busy machine its threads wait for each other at every 3 x 3 product.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
settings.load_profile("same every time")
