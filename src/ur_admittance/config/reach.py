"""Whether an arm can do what a configuration asks: joints, start, box and equilibrium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ur_admittance.config.sections import Limits
from ur_admittance.config.validate import transform

if TYPE_CHECKING:
    from ur_admittance.config.schema import Config
    from ur_admittance.model import RobotModel

TRAVEL = 0.05  # m from start to equilibrium that are worth a word
_TRIES, _STEPS, _STEP = 16, 100, 0.3  # of the search for joint angles; rad a step
_NEAR, _TURNED = 1e-4, 1e-3  # m, rad: close enough to a pose
_FAR = 2.0  # times the reach, beyond which a wall is more likely a mistake


def reach_of(model: RobotModel) -> float:
    """How far the tool gets from the shoulder at most, m: all links in one line."""
    return float(np.linalg.norm(model.chain_p[1:], axis=1).sum())


def problems_on(config: Config, model: RobotModel, q: np.ndarray) -> Iterator[str]:
    """Why this arm cannot be run with this configuration from joint angles q, rad (6,)."""
    yield from _joint_problems(config, model)
    for joint, angle, low, high in zip(config.joints, q, model.q_min, model.q_max, strict=True):
        if not low <= angle <= high:
            yield f"--q: {joint}: must be from {low:.4g} to {high:.4g} rad, got {angle:.4g}"
    p_WP, walls = model.fk(q)[:3, 3], config.limits
    for axis, at, low, high in zip(
        "xyz", p_WP, walls.workspace_min, walls.workspace_max, strict=True
    ):
        if not low <= at <= high:
            key, wall = ("min", low) if at < low else ("max", high)
            yield (
                f"limits.workspace_{key}: axis {axis}: the tool starts at {at:.3f} m, outside the "
                f"wall at {wall:g} m; move the wall, or give the joint angles of the start with --q"
            )
    pose = config.equilibrium_pose()
    if pose is not None and (away := _away(model, pose.position)) > reach_of(model):
        yield (
            f"equilibrium: must be within reach of a {model.name}, {reach_of(model):.3g} m from "
            f"its shoulder, got {away:.3g} m"
        )


def advice_on_arm(config: Config, model: RobotModel, q: np.ndarray) -> Iterator[str]:
    """What is allowed but unwise with this arm, from joint angles q, rad (6,)."""
    reach, walls, default = reach_of(model), config.limits, Limits()
    for key in ("workspace_min", "workspace_max"):
        rows = zip(getattr(walls, key), getattr(default, key), model.chain_p[0], strict=True)
        far = [
            wall for wall, off, middle in rows if wall != off and abs(wall - middle) > _FAR * reach
        ]
        if far:
            shown = ", ".join(f"{wall:g} m" for wall in far)
            yield (
                f"limits.{key}: {shown} is far beyond the {reach:.3g} m that a {model.name} "
                "reaches, so this wall holds nothing back; is a point missing?"
            )
    pose = config.equilibrium_pose()
    if pose is None or _away(model, pose.position) > reach:
        return
    X_WD = transform(*pose)
    low, high = np.array(walls.workspace_min), np.array(walls.workspace_max)
    if not ((low <= X_WD[:3, 3]) & (X_WD[:3, 3] <= high)).all():
        yield "equilibrium: lies outside the box, so the tool will stand at a wall; move one"
    if not _reachable(model, X_WD, q):
        yield (
            f"equilibrium: no joint angles of a {model.name} were found for it; the arm will "
            "stretch towards it, and stay singular"
        )
    travel = float(np.linalg.norm(X_WD[:3, 3] - model.fk(q)[:3, 3]))
    if travel > TRAVEL:
        yield f"equilibrium: is {travel:.2f} m from the start; the arm goes there when it starts"


def has_walls(config: Config, model: RobotModel) -> bool:
    """Whether the tool can come to any wall of the box."""
    low, high = np.array(config.limits.workspace_min), np.array(config.limits.workspace_max)
    middle, reach = model.chain_p[0], reach_of(model)
    return bool((low > middle - reach).any() or (high < middle + reach).any())


def _away(model: RobotModel, position: tuple[float, ...]) -> float:
    """From the shoulder, m."""
    return float(np.linalg.norm(np.array(position) - model.chain_p[0]))


def _joint_problems(config: Config, model: RobotModel) -> Iterator[str]:
    """Joint limits that ask for more than the arm has."""
    limits = config.limits
    for key, wanted, own, unit in (
        ("joint_velocity", limits.joint_velocity, model.qd_max, "rad/s"),
        ("joint_acceleration", limits.joint_acceleration, model.qdd_max, "rad/s^2"),
    ):
        if wanted is None:
            continue
        asked = wanted if isinstance(wanted, tuple) else (wanted,) * 6
        for joint, ask, most in zip(config.joints, asked, own, strict=True):
            if ask > most * (1 + 1e-9):
                bound = f"must be <= {most:.4g} {unit}, the most a {model.name} can, got {ask:g}"
                yield f"limits.{key}: {joint}: {bound}"


def _reachable(model: RobotModel, X_WD: np.ndarray, q: np.ndarray) -> bool:
    """Whether joint angles for a pose are found: damped Gauss-Newton from here and elsewhere."""
    random = np.random.default_rng(0)
    low, high = np.maximum(model.q_min, -np.pi), np.minimum(model.q_max, np.pi)
    starts = [q, *random.uniform(low, high, (_TRIES - 1, 6))]
    return any(_found(model, X_WD, start) for start in starts)


def _found(model: RobotModel, X_WD: np.ndarray, q: np.ndarray) -> bool:
    for _ in range(_STEPS):
        X_WP, J = model.fk(q), model.jacobian(q)
        # half the sum of R_i x R_Di over the columns: axis times sine of the angle between them
        turn = 0.5 * np.cross(X_WP[:3, :3].T, X_WD[:3, :3].T).sum(axis=0)
        angle = np.arccos(np.clip((np.trace(X_WP[:3, :3].T @ X_WD[:3, :3]) - 1) / 2, -1, 1))
        away = X_WD[:3, 3] - X_WP[:3, 3]
        if np.linalg.norm(away) < _NEAR and angle < _TURNED:
            return True
        step = J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(6), np.concatenate([away, turn]))
        step *= min(1.0, _STEP / max(float(np.abs(step).max()), 1e-9))
        q = np.clip(q + step, model.q_min, model.q_max)
    return False
