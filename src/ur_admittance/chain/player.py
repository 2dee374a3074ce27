"""A link above: plays a trajectory of poses, with limited speed, acceleration and jerk (`ruckig`).

Each way from one waypoint to the next is straight, with one axis of turning, and starts and ends at
rest; ruckig moves the share of the way that is done.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.chain.compiled import DESIRED_SIZE, TWIST, compiled
from ur_admittance.chain.interfaces import DESIRED, Link, Ports, positions
from ur_admittance.config import Config
from ur_admittance.config.validate import as_transform, within
from ur_admittance.errors import ConfigError, ModelError, RobotError
from ur_admittance.model import RobotModel

_JERK_SECONDS = 0.1  # to full acceleration, where the configuration sets no jerk limit
_LEAVE_SECONDS = 0.3  # to slow down from full pace when the player is switched off


@dataclass(frozen=True)
class Waypoint:
    """Where the probe should be at rest, and when.

    Attributes:
        time: s after activation.
        X_W: pose in W (4, 4).
    """

    time: float
    X_W: ArrayLike


class _Way:
    """One straight way, from rest to rest: what `write_along` needs.

    Attributes:
        duration: s.
    """

    def __init__(self, start: np.ndarray, end: np.ndarray, seconds: float, most: np.ndarray):
        """
        Args:
            start, end: position and orientation (7,).
            seconds: how long it should take at least.
            most: (3, 2) speed, acceleration and jerk, linear and angular.
        """
        self.segment, self.phases = np.zeros(13), np.zeros((7, 5))
        self.duration = seconds
        compiled().way_between(start, end, self.segment)
        lengths = np.linalg.norm(self.segment[7:].reshape(2, 3), axis=1)
        if lengths.max() < 1e-9:
            return
        ruckig = _load_ruckig()
        wish, path = ruckig.InputParameter(1), ruckig.Trajectory(1)
        limits = (most / np.maximum(lengths, 1e-9)).min(axis=1)
        wish.max_velocity, wish.max_acceleration, wish.max_jerk = ([float(v)] for v in limits)
        wish.current_position, wish.target_position = [0.0], [1.0]
        if seconds > 0.0:
            wish.minimum_duration = seconds
        ruckig.Ruckig(1).calculate(wish, path)
        profile = path.profiles[0][0]
        columns = np.cumsum(profile.t), profile.p[:7], profile.v[:7], profile.a[:7], profile.j
        self.phases[:] = np.stack(columns, axis=1)
        self.duration = float(path.duration)


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
        self._times, self._poses = self._checked(waypoints)
        self._later = [
            _Way(a, b, t1 - t0, self._most)
            for a, b, t0, t1 in zip(
                self._poses, self._poses[1:], self._times, self._times[1:], strict=False
            )
        ]
        for n, (way, given) in enumerate(
            zip(self._later, np.diff(self._times), strict=True), start=2
        ):
            if way.duration > given + 1e-9:
                raise ConfigError(
                    f"{name}: waypoint {n} takes {way.duration:.2f} s at {share:g} of the limits, "
                    f"but comes {given:.2f} s after the one before; give it more time, or a larger "
                    "share"
                )

    def declare(self, joints: tuple[str, ...]) -> None:
        self.reads, self.exports = positions(joints), DESIRED

    def configure(self, ports: Ports) -> None:
        self._q, self._exports = ports.read(self.reads), ports.export()
        self._write = compiled().write_along

    def activate(self) -> None:
        start = _seven(self._model.fk(np.array(self._q)))
        self._ways = [_Way(start, self._poses[0], self._times[0], self._most), *self._later]
        self._n, self._t, self._speed, self._leaving = 0, 0.0, 1.0, False

    def update(self, dt: float) -> None:
        if self._leaving:
            self._speed = max(0.0, self._speed - dt / _LEAVE_SECONDS)
        self._t += dt * self._speed
        way = self._ways[self._n]
        if self._t > way.duration and self._n + 1 < len(self._ways):
            self._t -= way.duration
            self._n += 1
            way = self._ways[self._n]
        self._write(way.segment, way.phases, self._t, self._speed, self._exports)

    def deactivate(self) -> bool:
        """Slows down along its way, then ends."""
        self._leaving = True
        return self._speed == 0.0 or self.done

    @property
    def done(self) -> bool:
        """Whether the last waypoint is reached."""
        return self._n + 1 == len(self._ways) and self._t >= self._ways[-1].duration

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
                poses.append(_seven(as_transform(point.X_W, f"waypoint {n}")))
            except ModelError as error:
                raise ConfigError(f"{self.name}: {error}") from error
        return times, poses


def _seven(X: np.ndarray) -> np.ndarray:
    """Position and orientation (w, x, y, z) of a pose."""
    out = np.zeros(DESIRED_SIZE)
    compiled().write_desired(np.ascontiguousarray(X), np.zeros(6), out)
    return out[:TWIST].copy()


def _load_ruckig() -> Any:
    """The `ruckig` module, or how to get it."""
    try:
        return importlib.import_module("ruckig")
    except ImportError as error:
        raise RobotError(
            f"PosePlayer needs ruckig, which cannot be imported here ({error}): "
            'pip install "ur-admittance[chain]"'
        ) from error
