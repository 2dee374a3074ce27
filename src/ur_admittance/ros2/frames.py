"""Frames of the graph in which a force, or the axes of the law, may be given."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import quaternion_of
from ur_admittance.controller import Controller
from ur_admittance.errors import ModelError, RobotError
from ur_admittance.robots.ros2.relation import Relation
from ur_admittance.robots.ros2.tf import Transforms

_MAX_AGE = 0.5  # s, that a transform which is not static may be old before that is said
_MOST = 10  # frames


class Frames:
    """The axes of frames, in those that the law's are given in: `admittance.frame`.

    Attributes:
        task: the frame whose axes the law has; "": as configured, or streamed.
    """

    def __init__(
        self, transforms: Transforms, warn: Callable[[str], None], config: Config, task: str = ""
    ) -> None:
        """
        Args:
            warn: told of a transform that is old.

        Raises:
            RobotError: this ROS has no transforms, and `task` needs one.
        """
        self._transforms, self._warn, self.task = transforms, warn, task
        self._base, self._tip = config.base_link, config.tip
        self._law = self._base if config.admittance.frame == "base" else self._tip
        self._relations: dict[str, Relation] = {}
        if task not in ("", self._base, self._tip):
            try:
                self._relation(task)
            except RobotError as error:
                raise RobotError(f"--task-frame: {error}") from None

    def problem(self) -> str:
        """Why the axes of the law are not known now, in words; "" if they are."""
        relation = self._relations.get(self.task)
        found = "" if relation is None else relation.absent(time.monotonic())
        return found and f"--task-frame: {found}"

    def axes(self, frame: str, controller: Controller) -> np.ndarray:
        """R (3, 3): the axes of `frame`. An old transform is held, and that is said.

        Raises:
            RobotError: where they are is not known.
        """
        out = controller.outputs[0]
        if frame == self._law:
            return np.eye(3)
        if frame in (self._base, self._tip):  # no transform is newer than what the tick knows
            by_law = self._law == self._base
            return out["X_WP"][:3, :3] if by_law else out["X_WD"][:3, :3].T
        relation = self._relation(frame)
        found = relation.absent(time.monotonic())
        if relation.X is None:
            raise RobotError(found)
        if found:
            self._warn(
                f"the transform {relation.names} has not come for {_MAX_AGE:g} s; its last axes "
                "are held"
            )
        return relation.X[:3, :3]

    def _relation(self, frame: str) -> Relation:
        """Where `frame` is, kept up to date from now on.

        Raises:
            RobotError: this ROS has no transforms, or too many frames are asked for.
        """
        found = self._relations.get(frame)
        if found is None:
            if len(self._relations) >= _MOST:
                raise RobotError(f"frame {frame!r}: {_MOST} others are followed already, no more")
            try:
                found = self._transforms.follow(Relation(self._law, frame, _MAX_AGE))
            except ModelError as error:
                raise RobotError(
                    f"frame {frame!r} is neither {self._base} nor {self._tip}, and {error}"
                ) from None
            self._relations[frame] = found
            self._transforms.look()
        return found


def turned(R: np.ndarray) -> np.ndarray:
    """The rotation vector (3,), rad, of a rotation (3, 3)."""
    w, *xyz = quaternion_of(R)
    size = math.hypot(*xyz)
    return np.array(xyz) * (2.0 * math.atan2(size, w) / size if size > 0.0 else 0.0)
