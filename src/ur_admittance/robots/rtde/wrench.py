"""The wrench of a state: the robot's own sensor, raw or compensated, as S has it.

`ft_raw_wrench` (5.9 and newer): what the sensor feels, weight included, at the flange and in its
axes; S is E. `actual_TCP_force`: what the world does to the tool at the TCP, in `base` axes, less
the payload that is set on the pendant; S is P. Both say what the world does to the tool. The maker
documents both in words only: sign and axes are to be checked by hand on the first arm.
"""

from __future__ import annotations

import numpy as np

from ur_admittance.kernel import layout
from ur_admittance.kernel.kinematics import pose_and_jacobian
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel

RAW, COMPENSATED = "ft_raw_wrench", "actual_TCP_force"
_RAW_SINCE = (5, 9)


def source_of(version: tuple[int, ...], *, compensated: bool) -> str:
    """The RTDE name of the wrench that a version has."""
    return COMPENSATED if compensated or version[:2] < _RAW_SINCE else RAW


class Turn:
    """From `base` axes to those of P."""

    def __init__(self, model: RobotModel) -> None:
        self._params, self._state = layout.new_params(), layout.new_state()
        self._params["chain_R"][0], self._params["chain_p"][0] = model.chain_R, model.chain_p
        self._q, self._R = self._state["q"][0], self._state["R_WP"][0]
        pose_and_jacobian(self._params, self._state)  # compiled or loaded now

    def __call__(self, q: np.ndarray, wrench: np.ndarray) -> None:
        """Turn a wrench (6,) at P, in place, at joint angles q, rad (6,)."""
        self._q[:] = q
        pose_and_jacobian(self._params, self._state)
        wrench[LINEAR] = wrench[LINEAR] @ self._R
        wrench[ANGULAR] = wrench[ANGULAR] @ self._R
