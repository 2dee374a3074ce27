"""The equilibrium pose: the way home inside the limits, and the file that says where it ended.

The way is straight in the joints, all of them starting and arriving together at rest:

    q(t) = q0 + s(t / T) (q1 - q0),    s(u) = 10 u^3 - 15 u^4 + 6 u^5

with T so long that no joint and no tool limit is more than half used. The other half is left for
braking on the way; `bring` goes along it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import as_numbers
from ur_admittance.controller.packing import pack
from ur_admittance.errors import ConfigError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR, quaternion_of
from ur_admittance.model import RobotModel

SHARE = 0.5  # of every limit
_SHORTEST = 0.5  # s
_SAMPLES = 201


@dataclass(frozen=True)
class Way:
    """A way from joints to joints, rad (6,), that takes `seconds`."""

    start: np.ndarray
    goal: np.ndarray
    seconds: float

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Joints and their rates at time t, s: rad and rad/s (6,)."""
        s, ds, _ = _steps(min(max(t / self.seconds, 0.0), 1.0))
        way = self.goal - self.start
        return self.start + s * way, ds / self.seconds * way


def plan(model: RobotModel, config: Config, start: ArrayLike, goal: ArrayLike) -> Way:
    """The way from `start` to `goal`, rad (6,), inside the limits of arm and configuration.

    Raises:
        ConfigError: the goal is outside the joints' range, or the tool would leave the workspace.
    """
    q0, q1 = as_numbers(start, "start", (6,)), as_numbers(goal, "home", (6,))
    limits = pack(config, model)[0]
    for joint, q, low, high in zip(model.joint_names, q1, limits.q_min, limits.q_max, strict=True):
        if not low <= q <= high:
            raise ConfigError(f"home: {joint} must be from {low:.3f} to {high:.3f} rad, got {q:g}")
    u = np.linspace(0.0, 1.0, _SAMPLES)
    s, ds, dds = _steps(u)
    q = q0 + np.outer(s, q1 - q0)
    joint_rates = np.outer(ds, q1 - q0)
    twists = np.array([model.jacobian(a) @ b for a, b in zip(q, joint_rates, strict=True)])
    changes = np.gradient(twists, u, axis=0)
    points = np.array([model.fk(a)[:3, 3] for a in q])
    outside = ((points < limits.workspace_min) | (points > limits.workspace_max)).any(axis=1)
    if outside.any():
        where = ", ".join(f"{x:.3f}" for x in points[outside.argmax()])
        raise ConfigError(
            f"home: the way there leaves the workspace at [{where}] m; widen "
            "limits.workspace_min and limits.workspace_max, or bring the arm nearer by hand"
        )

    def most(vectors: np.ndarray) -> float:
        return float(np.linalg.norm(vectors, axis=1).max())

    rates = [
        np.abs(joint_rates).max(axis=0) / limits.qd_max,
        most(twists[:, LINEAR]) / limits.v_max,
    ]
    rates.append(most(twists[:, ANGULAR]) / limits.w_max)
    gains = [np.abs(np.outer(dds, q1 - q0)).max(axis=0) / limits.qdd_max]
    gains.append(most(changes[:, LINEAR]) / limits.a_max)
    gains.append(most(changes[:, ANGULAR]) / limits.alpha_max)
    by_speed = float(np.hstack(rates).max()) / SHARE
    by_acceleration = float(np.sqrt(np.hstack(gains).max() / SHARE))
    return Way(q0, q1, max(by_speed, by_acceleration, _SHORTEST))


def save(path: Path, X_WP: np.ndarray, note: str) -> None:
    """Write a pose (4, 4) as the configuration's key `equilibrium` reads it."""
    numbers = [", ".join(repr(float(x)) for x in part) for part in _parts(X_WP)]
    path.write_text(
        "# The pose of the tool point in the robot's base frame to which a spring returns.\n"
        f"# {note}\n"
        "equilibrium:\n"
        f"  position: [{numbers[0]}]  # m\n"
        f"  orientation: [{numbers[1]}]  # w, x, y, z\n",
        encoding="utf-8",
    )


def check_file(path: Path, *, force: bool) -> None:
    """See that `save` will succeed, before anything moves."""
    folder = path.parent
    if path.suffix not in (".yaml", ".yml"):
        raise ConfigError(f"{path}: the name must end in .yaml, or no configuration can name it")
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; --force replaces it, --out chooses another")
    if not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ConfigError(f"{path}: cannot be written; is {folder} a folder of yours?")


def _steps(u):
    """s(u), its first and its second derivative."""
    return (
        u**3 * (10 - 15 * u + 6 * u**2),
        30 * u**2 * (1 - u) ** 2,
        60 * u * (1 - u) * (1 - 2 * u),
    )


def _parts(X_WP: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X_WP[:3, 3], np.array(quaternion_of(np.ascontiguousarray(X_WP[:3, :3])))
