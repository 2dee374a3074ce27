"""One stretch of a trace, and what is known of each of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.limits import Limits
from ur_admittance.kernel import bits, layout

LINEAR, ANGULAR = slice(0, 3), slice(3, 6)
ROW = np.dtype([("said", layout.OUTPUTS), ("events", np.int64), ("seeding", np.int64)])
"""What is known of a tick: its outputs, the events so far, and what it took from the measurement,
see `bits.SEED_NOTHING`.
"""


class Piece:
    """Some rows of a trace, one after the other, and what is known of each of them.

    Attributes:
        said: their outputs.
        new: those that were not judged before.
        follows: there is a row of the tick before.
        seeded: those that took the arm's place for their own: a start, the end of a hold.
        own: as `follows`, and the law's time went on in between.
        tool: those whose tool is held to speed, acceleration and jerk.
        inside, within: those whose joints must be in their range, whose tool within the walls.
        strayed: rad, by which others have moved each joint since it rests.
        late, rises: s, by which an arm that brakes is later than it may be, and gets faster.
        free: those whose gains are the parameters'.
        unnoted: those with more or fewer events than faults.
        events: of each that has any.
    """

    def __init__(self, rows: np.ndarray, first: int, params: Any, limits: Limits) -> None:
        said, n = rows["said"], len(rows)
        self.said, self.params, self.limits = said, params, limits
        self.new = np.arange(n) >= first
        mode = said["mode"]
        self.start = self.after(np.diff(said["tick"]) != 1, True)
        self.follows = ~self.start
        before = self.after(mode[:-1], bits.INACTIVE)
        woken = (mode == bits.ACTIVE) & (before == bits.HOLDING)
        self.seeded = (said["tick"] == 1) | (rows["seeding"] != 0) | woken
        self.own = self.follows & (rows["seeding"] == 0)
        self.still = (said["qd"] == 0).all(axis=1)
        self.tool = np.ones(n, bool)
        self.inside, self.within = np.zeros((2, n), bool)
        self.strayed = np.zeros((n, 6))
        self.late, self.rises = np.full((2, n), -np.inf)
        self.free, self.unnoted = np.zeros((2, n), bool)
        self.events: list[tuple[int, Any]] = []
        self._J: np.ndarray | None = None
        self._X: tuple[np.ndarray, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.said)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.said[name]

    def after(self, values: np.ndarray, first: Any = 0, ticks: int = 1) -> np.ndarray:
        """One value a row, of which the first `ticks` have nothing before them."""
        shape = (min(ticks, len(self.said)), *values.shape[1:])
        return np.concatenate([np.full(shape, first, values.dtype), values])

    @property
    def steady(self) -> np.ndarray:
        """Rows with two ticks before them, all of one time."""
        return self.own & self.after(self.own[:-1], False)

    def kinematics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """R_WP, p_WP and J of each row, by products of transforms."""
        if self._J is None:
            p, q, n = self.params, self["q"], len(self)
            R, t = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
            axes, origins = np.zeros((6, n, 3)), np.zeros((6, n, 3))
            for k in range(7):
                t = t + R @ p["chain_p"][k]
                R = R @ p["chain_R"][k]
                if k == 6:
                    break
                axes[k], origins[k] = R[:, :, 2], t
                c, s = np.cos(q[:, k])[:, None], np.sin(q[:, k])[:, None]
                x, y = R[:, :, 0], R[:, :, 1]
                R = np.stack([c * x + s * y, c * y - s * x, R[:, :, 2]], axis=2)
            J = np.concatenate([np.cross(axes, t - origins), axes], axis=2)
            self._X, self._J = (R, t), np.moveaxis(J, 0, 2)
        assert self._X is not None
        return *self._X, self._J

    def law(self) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque in the axes of the law, (n, 6); the stiffness in force, (n, 6)."""
        p, R_WP, R = self.params, self["X_WP"][:, :3, :3], matrix(self.params["wxyz_task"])
        if p["frame"] == bits.PROBE:
            R = self["X_WD"][:, :3, :3] @ R
        R_LP = np.swapaxes(np.broadcast_to(R, R_WP.shape), 1, 2) @ R_WP
        F = self["F_P"]
        F_law = np.hstack([(R_LP @ F[:, part, None])[..., 0] for part in (LINEAR, ANGULAR)])
        return F_law, self["engagement"][:, None] * p["stiffness"]

    def law_alone(self) -> np.ndarray:
        """Rows in which the law goes on from the last one, by gains that are known."""
        p, active = self.params, self["mode"] == bits.ACTIVE
        if p["pressing"] or p["integrator"] != bits.EXACT:
            return np.zeros(len(self), bool)
        goes_on = self.own & active & self.after(active[:-1], False) & ~self.seeded & self.free
        goes_on &= self["contact_stiffness"] == 0.0
        return goes_on & (self["inputs"]["stream_count"] == 0)


def matrix(wxyz: np.ndarray) -> np.ndarray:
    """The rotation of a quaternion, (3, 3)."""
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turns(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The rotation vectors (n, 3) that lead from the first (n, 3) to the second."""
    a, b = quaternions(first), quaternions(second)
    a[:, 1:] *= -1.0
    w = b[:, 0] * a[:, 0] - (b[:, 1:] * a[:, 1:]).sum(axis=1)
    v = b[:, :1] * a[:, 1:] + a[:, :1] * b[:, 1:] + np.cross(b[:, 1:], a[:, 1:])
    size = lengths(v)
    angle = 2.0 * np.arctan2(size, np.abs(w)) * np.where(w < 0, -1.0, 1.0)
    return v * np.divide(angle, size, out=np.full(len(v), 2.0), where=size > 1e-12)[:, None]


def quaternions(vectors: np.ndarray) -> np.ndarray:
    """Of rotation vectors (n, 3): wxyz (n, 4)."""
    half = 0.5 * lengths(vectors)
    return np.hstack([np.cos(half)[:, None], 0.5 * np.sinc(half / np.pi)[:, None] * vectors])


def lengths(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=-1)
