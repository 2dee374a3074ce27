"""What the arm does now and why, in one sentence that a person understands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ur_admittance.controller import MODES
from ur_admittance.faults import BY_NAME, StopReason, names_of
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

_FAR = 5.0  # m: a box so large is none
_MOVES, _TURNS = 0.003, 0.01  # m/s and rad/s
_SHORT = {
    "singularity": "near a singularity",
    "lead_limit": "the arm is held back",
    "contact_damping": "touches something stiff",
    "contact_braking": "brakes against what it touches",
    "contact_oscillation": "calms a swinging force",
    "stopping_distance": "keeps room to stop",
    "joint_velocity_limit": "a joint is at its speed limit",
    "wrench_saturated": "the push is cut to its maximum",
}
_QUIET = ("acceleration_limit", "jerk_limit", "joint_acceleration_limit", "beyond_acceleration")


def sentence(
    record: np.record,
    params: np.record,
    status: int | None = None,
    reason: StopReason | None = None,
) -> str:
    """The mode, and what it is due to.

    Args:
        record: outputs of the newest tick.
        params: what it was done with.
        status: bits of faults.py, gathered over some ticks; default: the record's own.
        reason: why the arm was stopped, if it was.
    """
    mode = MODES[record["mode"]]
    names = names_of(int(record["status"]) if status is None else status)
    if mode == "inactive":
        return "at rest: the controller commands nothing"
    if mode == "leaving":
        return "braking to rest"
    if mode == "stopped" and reason is not None:
        return f"stopped: {reason.text}"
    if mode in ("holding", "stopped"):
        causes = [n for n in names if BY_NAME[n].reaction in ("hold", "stop")]
        why = "; ".join(BY_NAME[n].words for n in causes[:2]) or "waiting for good samples"
        return f"{mode}: {why}"
    held = [n for n in names if BY_NAME[n].reaction == "limit" and n not in _QUIET]
    limits = ", ".join(_limit(name, record, params) for name in held[:2])
    V = record["V_WP_cmd"]
    if math.hypot(*V[LINEAR]) > _MOVES or math.hypot(*V[ANGULAR]) > _TURNS:
        return f"slowed: {limits}" if limits else "gives way"
    if np.any(record["F_P"] != 0.0):
        return f"held back: {limits}" if limits else "feels a push"
    return f"waits for a push; {limits}" if limits else "waits for a push"


def nearest_wall(p_WP: np.ndarray, params: Any) -> tuple[str, float] | None:
    """The side of the workspace box that is nearest, such as '+y', and how far, m; or None."""
    low, high = params["workspace_min"], params["workspace_max"]
    sides = [("-", axis, p_WP[n] - low[n], low[n]) for n, axis in enumerate("xyz")]
    sides += [("+", axis, high[n] - p_WP[n], high[n]) for n, axis in enumerate("xyz")]
    near = [(gap, sign + axis) for sign, axis, gap, at in sides if abs(at) < _FAR]
    if not near:
        return None
    gap, side = min(near)
    return side, float(gap)


def _limit(name: str, record: np.record, params: np.record) -> str:
    if name in ("workspace_limit", "outside_workspace"):
        wall = nearest_wall(record["X_WP"][:3, 3], params)
        if wall is not None:
            side, gap = wall
            return f"wall in {side}, {1e3 * abs(gap):.0f} mm" + (" outside" if gap < 0 else "")
    if name == "speed_limit":
        return f"speed limit, {1e3 * params['v_max']:.0f} mm/s"
    if name == "joint_position_limit":
        room = np.minimum(record["q"] - params["q_min"], params["q_max"] - record["q"])
        n = int(np.argmin(room))
        return f"joint {n + 1} is {math.degrees(max(0.0, room[n])):.0f} degrees from its end"
    return _SHORT.get(name, BY_NAME[name].words)
