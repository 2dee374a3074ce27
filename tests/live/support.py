"""What the tests of the live views share."""

from __future__ import annotations

import numpy as np

from ur_admittance.kernel import bits, layout


def records(count: int = 10, **values) -> np.ndarray:
    made = np.zeros(count, layout.OUTPUTS)
    made["mode"] = bits.ACTIVE
    made["X_WP"][:] = made["X_WD"][:] = np.eye(4)
    for name, value in values.items():
        made[name] = value
    return made
