"""Poses in which a payload shows itself: wrist turns around where the arm stands.

Chosen so that gravity pulls at the sensor from as many sides as the joints, the workspace and the
arm's own links allow, and ordered so that the wrist does not travel far.
"""

from __future__ import annotations

import itertools

import numpy as np

from ur_admittance.calibration.measured import FEWEST
from ur_admittance.config import Config
from ur_admittance.errors import CalibrationError, ConfigError
from ur_admittance.model import RobotModel
from ur_admittance.motion.joints import JointPath, straight

COUNT = 12
TILT = np.radians(75.0)  # of the two joints that tilt the tool, at most
_SPIN = np.radians(120.0)  # of the last joint, at most
_CLEAR = 0.08  # m between the tool and the arm's long links
_ALONG = 9  # points of a way that are looked at


def choose(
    model: RobotModel, config: Config, q: np.ndarray, *, count: int = COUNT, tilt: float = TILT
) -> list[JointPath]:
    """Ways from where the arm stands, pose after pose, all inside limits and workspace.

    Args:
        model: the arm with its tool.
        config: limits and workspace.
        q: (6,) where it stands, rad.
        count: of poses, at least 6.
        tilt: by which the tool is tilted at most, rad.

    Raises:
        CalibrationError: there are not enough of them here.
    """
    found = _spread(model, q, [c for c in _candidates(q, tilt) if _clear(model, q, c)], count)
    ways, here = [], q.copy()
    while found:
        found.sort(key=lambda goal: float(np.abs(goal - here).max()))
        for goal in found:
            try:
                way = straight(model, config, here, goal)
            except ConfigError:
                continue
            if all(_clear(model, q, way.at(t)[0]) for t in np.linspace(0, way.seconds, _ALONG)):
                ways.append(way)
                here = goal
                break
        else:
            break  # none of those that are left can be reached
        found = [goal for goal in found if goal is not here]
    if len(ways) < min(count, FEWEST):
        raise CalibrationError(
            f"calibrate: only {len(ways)} poses can be reached from here inside joint limits and "
            "workspace and clear of the arm itself; bring the arm to a pose with more room around "
            "its wrist (ur-admittance init), widen limits.workspace, or move it by hand (--by-hand)"
        )
    return ways


def points(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """Origins of the joints' frames and the tool point (7, 3), m, in W."""
    X, out = np.eye(4), []
    for n, angle in enumerate(q):
        turn = np.eye(4)
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        X = X @ model.X_chain[n] @ turn
        out.append(X[:3, 3])
    return np.array([*out, model.fk(q)[:3, 3]])


def _candidates(q: np.ndarray, tilt: float) -> list[np.ndarray]:
    steps = np.linspace(-1.0, 1.0, 5)
    return [
        q + np.array([0, 0, 0, a * tilt, b * tilt, c * _SPIN])
        for a, b, c in itertools.product(steps, steps, steps)
    ]


def _spread(
    model: RobotModel, q: np.ndarray, candidates: list[np.ndarray], count: int
) -> list[np.ndarray]:
    """Those whose gravity, in sensor axes, is far from that of all others: farthest first."""
    R_ES = np.linalg.inv(model.X_EP) @ model.X_ES
    down = np.array([-(model.fk(c)[:3, :3] @ R_ES[:3, :3])[2] for c in (q, *candidates)])
    chosen: list[int] = []
    far = np.linalg.norm(down[1:] - down[0], axis=1)
    while candidates and len(chosen) < count:
        n = int(far.argmax())
        if far[n] <= 0.0:
            break
        chosen.append(n)
        far = np.minimum(far, np.linalg.norm(down[1:] - down[n + 1], axis=1))
    return [candidates[n] for n in chosen]


def _clear(model: RobotModel, start: np.ndarray, q: np.ndarray) -> bool:
    """Whether the tool stays away from upper arm and forearm, or as far as it was."""
    here, now = points(model, start), points(model, q)
    tool = np.linspace(now[5], now[6], 5)
    for a, b in ((1, 2), (2, 3)):
        away = min(_distance(p, now[a], now[b]) for p in tool)
        was = min(_distance(p, here[a], here[b]) for p in np.linspace(here[5], here[6], 5))
        if away < min(_CLEAR, was - 1e-6):
            return False
    return True


def _distance(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """From a point to a line's stretch from a to b, m."""
    way = b - a
    share = float(np.clip((p - a) @ way / max(way @ way, 1e-12), 0.0, 1.0))
    return float(np.linalg.norm(p - a - share * way))
