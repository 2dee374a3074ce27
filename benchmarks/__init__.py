"""Side-by-side timings of the tick: ours, C++ by hand, C++ with KDL, NumPy with Pinocchio."""

import os

# Before NumPy is loaded: threads would only slow its 6 x 6 products down.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
