"""A path that was taught by leading the arm, and playing it: the desired pose is led along it.

While it plays, the arm gives way to force around the path, as its configuration says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import NEARLY, as_numbers, within
from ur_admittance.errors import ConfigError
from ur_admittance.kernel.spatial import (
    ANGULAR,
    LINEAR,
    inverse,
    multiply,
    quaternion_of,
    write_pose,
)
from ur_admittance.model import RobotModel
from ur_admittance.motion.base import Goal, must_follow
from ur_admittance.motion.curves import Curve
from ur_admittance.motion.pace import PATIENCE, Paced, apart
from ur_admittance.motion.straight import Straight, travel_to

KIND = "ur-admittance path"
RATE = 50.0  # Hz, at which a path is taught
LONGEST = 3600.0  # s
SLOWEST, FASTEST = 0.05, 4.0  # times as fast as it was taught
SIMULATED_LATE = 0.024  # s by which a simulated arm follows late, where nobody says
_ELSEWHERE, _ELSEWHERE_TURNED = 0.02, 0.1  # m and rad: more than an arm lags behind its command
_ROOM = 1.05  # of a speed limit: a path that was taught at the limit is played, too


@dataclass(frozen=True)
class Path:
    """Where the tool was, and when.

    Attributes:
        times: (n,) s from 0 on, each later than the one before.
        poses: (n, 7) of P in W: x y z in m, and the quaternion w x y z.
        q: (6,) joint angles at its start, rad, by which another arm, tool or base is known; None:
            not known.
    """

    times: np.ndarray
    poses: np.ndarray
    q: np.ndarray | None = None
    _curve: Curve = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        times = as_numbers(self.times, "path: times", None, unit="s", error=ConfigError)
        poses = np.array(as_numbers(self.poses, "path: poses", None, error=ConfigError))
        if times.ndim != 1 or len(times) < 2 or poses.shape != (len(times), 7):
            raise ConfigError("path: must be two poses of seven numbers or more, each with a time")
        if times[0] != 0.0 or not (np.diff(times) > 0).all() or times[-1] > LONGEST:
            raise ConfigError(f"path: times must begin at 0 s, grow, and end before {LONGEST:g} s")
        sizes = np.linalg.norm(poses[:, 3:], axis=1)
        if not (np.abs(sizes - 1.0) <= NEARLY).all():
            raise ConfigError("path: orientations must be unit quaternions, w x y z")
        if self.q is not None:
            q = as_numbers(self.q, "path: q", (6,), unit="rad", error=ConfigError)
            object.__setattr__(self, "q", q)
        poses[:, 3:] /= sizes[:, None]
        for n in range(1, len(poses)):  # of a quaternion and its negative the nearer one
            if poses[n, 3:] @ poses[n - 1, 3:] < 0.0:
                poses[n, 3:] *= -1.0
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "poses", poses)
        rates = np.zeros_like(poses)  # those of the neighbours; at the ends, rest
        rates[1:-1] = (poses[2:] - poses[:-2]) / (times[2:] - times[:-2])[:, None]
        object.__setattr__(self, "_curve", Curve(times, poses, rates))

    @classmethod
    def of(cls, records: np.ndarray) -> Path:
        """The way of the tool in output records, from its first motion to its last."""
        if len(records) < 2:
            raise ConfigError("path: the arm has not been seen for long enough")
        moving = np.flatnonzero(np.abs(records["V_WP_cmd"]).max(axis=1) > 1e-4)
        if not len(moving):
            raise ConfigError("path: the arm has not moved")
        records = records[max(0, moving[0] - 1) : moving[-1] + 2]
        times = records["time"] - records["time"][0]
        step = max(1, round(1.0 / RATE / float(np.median(np.diff(times)))))
        kept = np.append(np.arange(0, len(records) - 1, step), len(records) - 1)
        poses = [[*X[:3, 3], *quaternion_of(X)] for X in records["X_WP"][kept]]
        return cls(times[kept], np.array(poses), records["q"][0])

    @property
    def seconds(self) -> float:
        """How long it took."""
        return float(self.times[-1])

    @property
    def metres(self) -> float:
        """How far the tool went."""
        return float(np.linalg.norm(np.diff(self.poses[:, LINEAR], axis=0), axis=1).sum())

    @property
    def fastest(self) -> tuple[float, float]:
        """The greatest speeds between two of its poses, m/s and rad/s."""
        seconds, steps = np.diff(self.times), np.diff(self.poses, axis=0)
        turns = 2.0 * np.linalg.norm(steps[:, 3:], axis=1)  # of unit quaternions close together
        metres = np.linalg.norm(steps[:, LINEAR], axis=1)
        return float((metres / seconds).max()), float((turns / seconds).max())

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and twist, m/s and rad/s (6,) in W, after t, s: a curve through all poses
        whose velocity does not leap.
        """
        value, rate = self._curve.at(max(t, 0.0))
        size = float(np.linalg.norm(value[3:]))  # the quaternion is made one again
        wxyz = (value[3:] / size).tolist()
        X, twist = np.empty((4, 4)), np.zeros(6)
        write_pose(X, value[LINEAR], wxyz)
        twist[LINEAR] = rate[LINEAR]
        twist[ANGULAR] = 2.0 * np.array(multiply((rate[3:] / size).tolist(), inverse(wxyz))[1:])
        return X, twist

    def there_and_back(self) -> Path:
        """The path, and then the same way back."""
        times = np.concatenate((self.times, 2 * self.seconds - self.times[-2::-1]))
        return Path(times, np.concatenate((self.poses, self.poses[-2::-1])), self.q)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write it as JSON."""
        poses = self.poses.round(7).tolist()
        content = {"kind": KIND, "times": self.times.round(5).tolist(), "poses": poses}
        content |= {} if self.q is None else {"q": self.q.round(7).tolist()}
        File(file).write_text(json.dumps(content), "utf-8")

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Path:
        """Read what `save` wrote; ConfigError for anything else."""
        try:
            content: Any = json.loads(File(file).read_text("utf-8"))
        except ValueError:
            content = None
        if not isinstance(content, Mapping) or content.get("kind") != KIND:
            raise ConfigError(f"{file}: is no path; 'ur-admittance teach' writes one")
        if not content.keys() >= {"times", "poses"}:
            raise ConfigError(f"{file}: must have 'times' and 'poses' of numbers")
        try:
            return cls(content["times"], content["poses"], content.get("q"))
        except ConfigError as error:
            raise ConfigError(f"{file}: {error}") from None


def check(path: Path, speed: float, config: Config, model: RobotModel | None = None) -> None:
    """See that an arm can play a path.

    Args:
        speed: how many times as fast as it was taught.
        config: of the controller.
        model: the arm, if it is known.

    Raises:
        ConfigError: a speed at which the limits would hold the arm off the path, or that makes no
            sense; gains with which it would not follow; a path of another arm, tool or base.
    """
    within("speed", speed, SLOWEST, FASTEST, error=ConfigError)
    must_follow(config.velocity_gain())
    for fastest, most, unit, name in zip(
        path.fastest,
        (config.max_linear_velocity, config.max_angular_velocity),
        ("m/s", "rad/s"),
        ("max_linear_velocity", "max_angular_velocity"),
        strict=True,
    ):
        if speed * fastest > _ROOM * most:
            raise ConfigError(
                f"speed: {speed:g} times as fast as taught would be {speed * fastest:.3g} {unit}, "
                f"above {name}, {most:g} {unit}; at most {_ROOM * most / fastest:.2g}"
            )
    if path.q is None or model is None:
        return
    metres, angle = apart(model.fk(path.q), path.at(0.0)[0])
    if not (metres <= _ELSEWHERE and angle <= _ELSEWHERE_TURNED):
        raise ConfigError(
            "path: was taught with another arm, tool or base: at the joint angles of its start, "
            f"the tool of {model.name} in {model.base!r} is {1e3 * metres:.0f} mm and "
            f"{angle:.2f} rad from there; teach it on this arm"
        )


class Playing(Paced):
    """Leads D to a path's start, slowly, and along it.

    Attributes:
        begun: whether it is on the path.
    """

    def __init__(
        self,
        path: Path,
        model: RobotModel,
        config: Config,
        speed: float = 1.0,
        *,
        late: float | None = None,
    ) -> None:
        """
        Args:
            path: see `Path`; see `check` for what is refused.
            model: the arm.
            config: in force.
            speed: how many times as fast as it was taught, 0.05 to 4.
            late: how late the arm follows its commands, s; where the path turns, D leads by as
                much. Default: `arm.lag` and `arm.delay` of the configuration.
        """
        check(path, speed, config, model)
        super().__init__(path.seconds / speed, gently=True)
        self.begun = False
        self._path, self._speed = path, float(speed)
        self._late = config.arm.lag + config.arm.delay if late is None else late
        self._gain = np.array(config.velocity_gain())[LINEAR]
        self._lead, self._v = np.zeros(3), np.zeros(3)
        self._way = Straight(path.at(0.0)[0], patience=PATIENCE)

    @property
    def done(self) -> float:
        """How much of the path was played, 0 to 1."""
        return self.t / self.seconds

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        X, V = self._path.at(t * self._speed)
        return X, V * self._speed

    def step(self, out: np.void) -> Goal | None:
        if self.begun:
            return super().step(out)
        goal = self._way.step(out)
        self.begun = self._way.outcome == "reached"
        self.outcome = "" if self.begun else self._way.outcome
        return goal

    def brake(self, why: str) -> None:
        self._way.brake(why)
        super().brake(why)

    def rest(self) -> None:
        super().rest()
        self._lead[:] = self._v[:] = 0.0

    def advance(self, dt: float, X_WP: np.ndarray, q: np.ndarray | None = None) -> Goal:
        """On the path, and where it turns ahead of it, so that an arm that follows late is there.

        An arm with `late v' + v = V_cmd` and `V_cmd = V_WD + Kp (D - P)` is at x where D is at
        `x + e`, `e' + Kp e = late x''`.
        """
        goal = super().advance(dt, X_WP, q)
        if self.outcome or self.t >= self.seconds:
            return goal
        X, V = goal.X_WD.copy(), goal.V_WD
        rate = self._late * (V[LINEAR] - self._v) / dt - self._gain * self._lead
        self._v = V[LINEAR].copy()
        self._lead += rate * dt
        X[:3, 3] += self._lead
        V[LINEAR] += rate
        return Goal(X, V)


@dataclass(frozen=True)
class Played:
    """A path that is to be played.

    Attributes:
        path: as it was taught, or there and back.
        speed: how many times as fast.
        late: by how much the arm follows late, s.
    """

    path: Path
    speed: float = 1.0
    late: float | None = None

    def words(self, name: str, X_WP: np.ndarray) -> str:
        """Where a robot of this name, its tool at X_WP (4, 4), is about to be led."""
        path, first = self.path, travel_to(self.path.at(0.0)[0], X_WP, "the path's start")
        words = f"{name} is led along {path.metres:.2f} m in {path.seconds / self.speed:.1f} s"
        return f"{words}; {first.words}" if first else words
