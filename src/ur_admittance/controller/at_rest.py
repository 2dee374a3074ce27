"""What an arm at rest is like: it stands still, its angles are possible, and the sensor reports

    F_S = bias + [m g_S; c x m g_S]

while nothing touches the tool. What that leaves unexplained pushes the arm: it drifts.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel

STILL, STILL_TURN = 1e-3, 5e-3  # m/s of the tool, rad/s of a joint
_NEAR = 0.5  # rad that a joint may be outside its range: recovery is possible from there
_MOMENT = 0.01  # s


def expected(model: RobotModel, params: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The reading at joint angles q, rad (6,): N and Nm (6,) in S axes at S's origin.

    Args:
        params: of the tick, see `packing.pack`: bias, payload and gravity.
    """
    return _explained(params, model.fk(q)[:3, :3])


def drift(params: np.ndarray, left: np.ndarray) -> str:
    """How the arm will drift, in words; "" if it will not.

    Args:
        params: of the tick: deadbands, damping and stiffness.
        left: what nothing explains, N and Nm (6,), in S axes at S's origin.
    """
    p = params[0]
    # at P, in its axes: what the law will feel
    f = p["R_PS"] @ left[LINEAR]
    t = p["R_PS"] @ left[ANGULAR] + np.cross(p["p_PS"], f)
    for part, value, deadband, unit, speed in (
        (LINEAR, f, p["deadband_force"], "N", "m/s"),
        (ANGULAR, t, p["deadband_torque"], "Nm", "rad/s"),
    ):
        size = float(np.linalg.norm(value))
        free = (p["stiffness"][part] == 0.0) & (p["enabled"][part] != 0)
        if size > deadband and free.any():
            rate = (size - float(deadband)) / float(p["damping"][part][free].min())
            return (
                f"the sensor feels {size:.3g} {unit} that nothing explains, and the deadband "
                f"takes {float(deadband):g}: the arm will drift at up to {rate:.2g} {speed}"
            )
    return ""


def drift_warning(
    changed: Iterable[str], before: np.ndarray, now: np.ndarray, record: np.record | None
) -> str:
    """See `drift_after`; "" also if neither payload nor bias changed, or no record is there."""
    if record is None or not any(name.startswith("payload.") for name in changed):
        return ""
    return drift_after(before, now, record)


def drift_after(before: np.ndarray, now: np.ndarray, record: np.record) -> str:
    """How a change of payload or bias makes an arm drift that did not, in words; "" if it does not.

    Args:
        before: params of the tick, with the old payload.
        now: likewise, with the new one.
        record: outputs of the last tick, of the pose that the arm has and the force that it feels.
    """
    R_WP, reading = record["X_WP"][:3, :3], record["wrench"]
    once, left = (reading - _explained(params, R_WP) for params in (before, now))
    worse = any(np.linalg.norm(left[p]) > np.linalg.norm(once[p]) for p in (LINEAR, ANGULAR))
    if record["mode"] == bits.INACTIVE or not worse:
        return ""
    return drift(now, left)


def impossible(model: RobotModel, q: np.ndarray) -> str:
    """Which joint cannot be where it is said to be, in words; "" if all can. Angles, rad (6,)."""
    for name, angle, low, high in zip(model.joint_names, q, model.q_min, model.q_max, strict=True):
        if not low - _NEAR <= angle <= high + _NEAR:
            return (
                f"{name} cannot be at {angle:g} rad, its range is {low:.3f} to {high:.3f} rad; are "
                "these degrees?"
            )
    return ""


def moving(model: RobotModel, q: np.ndarray, qd: np.ndarray | None) -> str:
    """That the arm moves, in words; "" if it stands, or if its rates, rad/s (6,), are not known."""
    return "" if qd is None else motion(model, q, q + qd * _MOMENT, _MOMENT)


def motion(model: RobotModel, q: np.ndarray, q_now: np.ndarray, seconds: float) -> str:
    """That the arm moves, in words; "" if it stands. Joint angles, rad (6,), so long apart, s."""
    joint = float(np.abs(q_now - q).max()) / seconds
    way = model.fk(q_now)[:3, 3] - model.fk(q)[:3, 3]
    tool = float(np.linalg.norm(way)) / seconds
    if tool <= STILL and joint <= STILL_TURN:
        return ""
    return (
        f"the arm moves: its tool at {1e3 * tool:.1f} mm/s, a joint at {joint:.4f} rad/s; it must "
        f"stand still (at most {1e3 * STILL:g} mm/s and {STILL_TURN:g} rad/s)"
    )


def _explained(params: np.ndarray, R_WP: np.ndarray) -> np.ndarray:
    """Bias and weight, N and Nm (6,), in S axes at S's origin."""
    p = params[0]
    weight = p["payload_mass"] * ((R_WP @ p["R_PS"]).T @ p["gravity"])
    return p["bias"] + np.concatenate([weight, np.cross(p["payload_com"], weight)])
