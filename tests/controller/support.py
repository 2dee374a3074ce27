"""What the tests of the controller share: one in motion, and one that comes to rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import (
    LINEAR,
    arm,
    controller_of,
    lengths,
    q_after,
    run,
)
from ur_admittance import Config, Controller

HOME = arm().home

JERK = {"limits.max_linear_jerk": 50.0, "limits.max_angular_jerk": 200.0}

PUSH = np.array([0.0, 0, -30, 0, 0, 0])  # up: the probe looks down at home


def moving_controller(**changes: Any) -> tuple[Controller, np.ndarray]:
    """A controller in motion, its jerk limited unless said otherwise, and the joints now."""
    controller = controller_of(Config.from_dict({**JERK, **changes}))
    history = run(controller, HOME, PUSH, 200)
    assert lengths(history["V_WP_cmd"][-1, LINEAR]) > 0.05
    return controller, q_after(history)
