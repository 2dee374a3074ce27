"""What the sensor must report while nothing touches the tool, and likely reasons if it does not.

    F_S = bias + [m g_S; c x m g_S]

A wrong payload or a sensor that was not zeroed pushes the arm from the first tick on. So it is
looked at once, before the arm moves.
"""

from __future__ import annotations

import numpy as np

from ur_admittance.config import Config
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel

_ALONG = np.cos(np.radians(20.0))  # directions within this angle count as the same
_ALIKE = 0.2  # share of a force by which another may differ and still count as the same


def expected(model: RobotModel, params: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The reading at joint angles q, rad (6,): N and Nm (6,) in S axes at S's origin.

    Args:
        params: of the tick, see `packing.pack`: bias, payload and gravity.
    """
    weight = params[0]["payload_mass"] * _gravity(model, params, q)
    torque = np.cross(params[0]["payload_com"], weight)
    return params[0]["bias"] + np.concatenate([weight, torque])


def problem(
    model: RobotModel, params: np.ndarray, config: Config, q: np.ndarray, wrench: np.ndarray
) -> str:
    """Why an arm that feels this at rest should not be moved, in words; "" if it may.

    Args:
        params: see `expected`.
        config: gives `safety.start_force` and `safety.start_torque`.
        q: measured joint angles, rad (6,).
        wrench: the reading, N and Nm (6,), in S axes at S's origin.
    """
    due, safety = expected(model, params, q), config.safety
    for part, name, unit, most in (
        (LINEAR, "force", "N", safety.start_force),
        (ANGULAR, "torque", "Nm", safety.start_torque),
    ):
        left = float(np.linalg.norm(wrench[part] - due[part]))
        if most > 0.0 and left > most:  # NaN is the tick's to judge
            reason = _reason(
                wrench[LINEAR],
                due[LINEAR],
                _gravity(model, params, q),
                float(params[0]["payload_mass"]),
            )
            return (
                f"at rest the sensor reports a {name} of {_three(wrench[part])} {unit}, its bias "
                f"and the payload make {_three(due[part])}: {left:.3g} {unit} are unexplained, "
                f"safety.start_{name} allows {most:g}; {reason}"
            )
    return ""


def _reason(force: np.ndarray, due: np.ndarray, g_S: np.ndarray, mass: float) -> str:
    """The likeliest cause, and what to do. Forces in N, gravity in m/s^2, the payload in kg."""
    size, left = float(np.linalg.norm(due)), force - due
    if np.linalg.norm(force + due) < _ALIKE * size:
        return "it is the opposite: the sensor reports the reaction, turn its sign"
    if abs(np.linalg.norm(force) - size) < _ALIKE * size:
        return "its size is right, not its direction: check how the sensor is mounted (ft_frame)"
    more = float(left @ g_S) / max(float(g_S @ g_S), 1e-9)  # kg
    if abs(more) * np.linalg.norm(g_S) > _ALONG * np.linalg.norm(left) and mass + more >= 0.0:
        return (
            f"it points along gravity: payload.mass is {mass:g} kg, {mass + more:.2f} kg would "
            "explain it"
        )
    return "does something touch the tool? Else zero the sensor, and check payload and ft_frame"


def _gravity(model: RobotModel, params: np.ndarray, q: np.ndarray) -> np.ndarray:
    """In S axes, m/s^2 (3,)."""
    return (model.fk(q)[:3, :3] @ params[0]["R_PS"]).T @ params[0]["gravity"]


def _three(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in values) + "]"
