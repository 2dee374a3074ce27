"""A link above: plays a trajectory of poses, with limited speed, acceleration and jerk.

Each way from one waypoint to the next is straight, with one axis of turning, and starts and ends at
rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.chain.compiled import compiled
from ur_admittance.chain.interfaces import DESIRED, Link, Ports, positions
from ur_admittance.config import Config
from ur_admittance.config.validate import as_transform, within
from ur_admittance.errors import ConfigError, ModelError
from ur_admittance.model import RobotModel
from ur_admittance.motion.pace import MotionTime
from ur_admittance.motion.straight import StraightWay

_JERK_SECONDS = 0.1  # to full acceleration, where the configuration sets no jerk limit


@dataclass(frozen=True)
class Waypoint:
    """Where the probe should be at rest, and when.

    Attributes:
        time: s after activation.
        X_W: pose in W (4, 4).
    """

    time: float
    X_W: ArrayLike


class PosePlayer(Link):
    """Plays waypoints to an admittance below it, which gives way to force on top of them.

    The first way starts at the measured pose. If it takes longer than the first waypoint's time,
    everything after it comes later by that much.
    """

    def __init__(
        self,
        model: RobotModel,
        waypoints: Sequence[Waypoint],
        config: Config | None = None,
        *,
        share: float = 0.5,
        name: str = "player",
    ) -> None:
        """
        Args:
            model: the arm, whose probe is moved.
            waypoints: in the order of their times.
            config: whose limits hold; jerk is limited also where the configuration does not.
            share: of the limits that the player uses; the rest is left for giving way.

        Raises:
            ConfigError: a waypoint cannot be reached in its time; the message says how long it
                takes.
        """
        super().__init__(name)
        config = Config() if config is None else config
        share = within(f"{name}: share", share, 0.0, 1.0, above=True, error=ConfigError)
        limits = config.limits
        acceleration = (limits.max_linear_acceleration, limits.max_angular_acceleration)
        jerk = (limits.max_linear_jerk, limits.max_angular_jerk)
        self._most = share * np.array(
            [
                (config.max_linear_velocity, config.max_angular_velocity),
                acceleration,
                [j or a / _JERK_SECONDS for j, a in zip(jerk, acceleration, strict=True)],
            ]
        )
        self._model = model
        times, poses = self._checked(waypoints)
        self._first = times[0], poses[0]
        self._later: list[StraightWay] = []
        for n, given in enumerate(np.diff(times), start=1):
            way = StraightWay(poses[n - 1], poses[n], *self._most, seconds=given)
            if way.seconds > given + 1e-9:
                raise ConfigError(
                    f"{name}: waypoint {n + 1} takes {way.seconds:.2f} s at {share:g} of the "
                    f"limits, but comes {given:.2f} s after the one before; give it more time, or "
                    "a larger share"
                )
            self._later.append(way)

    def declare(self, joints: tuple[str, ...]) -> None:
        self.reads, self.exports = positions(joints), DESIRED

    def configure(self, ports: Ports) -> None:
        self._q, self._exports = ports.read(self.reads), ports.export()
        self._write = compiled().write_along

    def activate(self) -> None:
        seconds, X = self._first
        first = StraightWay(self._model.fk(np.array(self._q)), X, *self._most, seconds=seconds)
        self._ways = [first, *self._later]
        self._ends = np.cumsum([way.seconds for way in self._ways]).tolist()
        self._time = MotionTime(self._ends[-1])

    def update(self, dt: float) -> None:
        time = self._time
        time.pass_by(dt)
        n = min(bisect_right(self._ends, time.t), len(self._ways) - 1)
        way = self._ways[n]
        t = time.t - self._ends[n] + way.seconds
        self._write(way.segment, way.seconds, t, time.pace, self._exports)

    def deactivate(self) -> bool:
        """Slows down along its way, then ends."""
        self._time.brake("it was switched off")
        return bool(self._time.outcome)

    @property
    def done(self) -> bool:
        """Whether the last waypoint is reached."""
        return self._time.outcome == "reached"

    def _checked(self, waypoints: Sequence[Waypoint]) -> tuple[list[float], list[np.ndarray]]:
        if not waypoints:
            raise ConfigError(f"{self.name}: there must be a waypoint at least")
        times, poses = [], []
        for n, point in enumerate(waypoints, start=1):
            time = float(point.time)
            if not (0.0 <= time < np.inf and (not times or time > times[-1])):
                raise ConfigError(
                    f"{self.name}: waypoint {n} has the time {point.time!r:.100}; times are s from "
                    "0 on, each later than the one before"
                )
            times.append(time)
            try:
                poses.append(as_transform(point.X_W, f"waypoint {n}"))
            except ModelError as error:
                raise ConfigError(f"{self.name}: {error}") from error
        return times, poses
