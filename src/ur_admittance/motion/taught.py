"""A path that was taught by leading the arm, and playing it: the desired pose is led along it.

While it plays, the arm gives way to force around the path, as its configuration says.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import numpy as np
from numpy.lib.recfunctions import repack_fields

from ur_admittance.blackboard import Reader
from ur_admittance.config import Config
from ur_admittance.config.validate import NEARLY, as_numbers, quaternion_of, transform, within
from ur_admittance.controller import Controller
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.motion.approach import Approach, Travel
from ur_admittance.motion.trajectory import PlanTime, apart

KIND = "ur-admittance path"
RATE = 50.0  # Hz, at which a path is taught
LONGEST = 3600.0  # s
SLOWEST, FASTEST = 0.05, 4.0  # times as fast as it was taught
SIMULATED_LATE = 0.024  # s by which a simulated arm follows late, where nobody says
_BRAKING = 0.8  # s before the end, from which on its time passes slower and slower
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
        t = min(max(t, 0.0), self.seconds)
        n = min(int(np.searchsorted(self.times, t, "right")) - 1, len(self.times) - 2)
        h = self.times[n + 1] - self.times[n]
        u = (t - self.times[n]) / h
        a, b = self.poses[n], self.poses[n + 1]
        va, vb = self._rate(n), self._rate(n + 1)
        # Hermite's cubic, of all seven numbers; the quaternion is then made one again.
        value = (
            (2 * u**3 - 3 * u**2 + 1) * a
            + (u**3 - 2 * u**2 + u) * h * va
            + (3 * u**2 - 2 * u**3) * b
            + (u**3 - u**2) * h * vb
        )
        rate = (
            (6 * u**2 - 6 * u) / h * (a - b) + (3 * u**2 - 4 * u + 1) * va + (3 * u**2 - 2 * u) * vb
        )
        wxyz, size = value[3:], float(np.linalg.norm(value[3:]))
        twist = np.zeros(6)
        twist[LINEAR] = rate[LINEAR]
        twist[ANGULAR] = 2.0 * _turning(rate[3:] / size, wxyz / size)
        return transform(value[LINEAR], wxyz / size), twist

    def _rate(self, n: int) -> np.ndarray:
        """Of pose n, per s: that of its neighbours; at the ends, rest."""
        if n in (0, len(self.times) - 1):
            return np.zeros(7)
        return (self.poses[n + 1] - self.poses[n - 1]) / (self.times[n + 1] - self.times[n - 1])

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


class Lesson:
    """Keeps the way of a tool while somebody leads it; the controller does not notice.

    Attributes:
        over: it has seen all it will: the run has ended or begun anew, or it has been too long.
    """

    def __init__(self, reader: Reader) -> None:
        self.over = False
        self._reader, self._next, self._lost = reader, reader.index, 0
        self._step = max(1, round(reader.rate / RATE))
        self._ticks, self._time = 0, -math.inf
        self._seen: list[np.ndarray] = []

    def look(self) -> None:
        """See what the arm has done since the last look, which must not be 16 s ago."""
        if self.over:
            return
        running = self._reader.state in ("running", "silent")
        records, self._next, lost = self._reader.since(self._next)
        self._lost += lost
        fallen = np.flatnonzero(np.diff(records["time"], prepend=self._time) < 0.0)
        if len(fallen):
            records = records[: fallen[0]]
        kept = records[(-self._ticks) % self._step :: self._step]
        self._seen.append(repack_fields(kept[["time", "X_WP", "V_WP_cmd", "q"]]))
        self._ticks += len(records)
        self._time = float(records["time"][-1]) if len(records) else self._time
        full = self._ticks >= LONGEST * self._reader.rate
        self.over = bool(len(fallen)) or full or not running

    def path(self) -> Path:
        """What was taught, until now.

        Raises:
            AdmittanceError: it is no path, the arm has not moved, say; or not all of it was seen.
        """
        self.look()
        if self._lost:
            raise RobotError(f"teach: {self._lost} ticks were seen too late; teach it again")
        return Path.of(np.concatenate(self._seen))


def check(path: Path, speed: float, config: Config) -> None:
    """See that an arm can play a path.

    Args:
        speed: how many times as fast as it was taught.
        config: of the controller.

    Raises:
        ConfigError: a speed at which the limits would hold the arm off the path, or that makes no
            sense; gains with which it would not follow.
    """
    within("speed", speed, SLOWEST, FASTEST, error=ConfigError)
    if not np.all(np.array(config.tracking.velocity_gain) > 0.0):
        raise ConfigError(
            "tracking.velocity_gain: is 0, with which the arm would not keep to a path; a preset "
            "that does is pose-law"
        )
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


def check_arm(path: Path, model: RobotModel) -> None:
    """See that a path is one of this arm, with this tool and base.

    Raises:
        ConfigError: where the path began, this arm's tool would be elsewhere.
    """
    if path.q is None:
        return
    metres, angle = apart(model.fk(path.q), path.at(0.0)[0])
    if metres > _ELSEWHERE or angle > _ELSEWHERE_TURNED:
        raise ConfigError(
            "path: was taught with another arm, tool or base: at the joint angles of its start, "
            f"the tool of {model.name} in {model.base!r} is {1e3 * metres:.0f} mm and "
            f"{angle:.2f} rad from there; teach it on this arm"
        )


class Playing:
    """Leads the desired pose to a path's start, slowly, and along it: call it after every tick.

    An arm that is held back is waited for, as in `trajectory.PlanTime`.

    Attributes:
        begun: whether it is on the path.
    """

    def __init__(
        self,
        controller: Controller,
        path: Path,
        speed: float = 1.0,
        *,
        late: float | None = None,
    ) -> None:
        """
        Args:
            controller: active, or about to be.
            path: see `Path`; see `check` for what is refused.
            speed: how many times as fast as it was taught, 0.05 to 4.
            late: how late the arm follows its commands, s; where the path turns, the desired pose
                leads by as much. Default: `arm.lag` and `arm.delay` of the configuration.
        """
        config = controller.config
        check(path, speed, config)
        check_arm(path, controller.model)
        self.begun = False
        self._controller, self._path, self._speed = controller, path, float(speed)
        self._period = 1.0 / config.control_rate
        arm = config.arm
        self._late = arm.lag + arm.delay if late is None else late
        self._lead, self._v = np.zeros(3), np.zeros(3)
        self._X, _ = path.at(0.0)
        self._approach = Approach(controller, Travel(0.0, 0.0, self._X))
        self._time = PlanTime(path.seconds / self._speed, pace=0.0)

    @property
    def outcome(self) -> str:
        """ "" while it goes on; "reached": the arm is where the path ends; else why not, in words.

        Either way the desired pose then rests.
        """
        return self._time.outcome

    @property
    def done(self) -> float:
        """How much of the path was played, 0 to 1."""
        return min(1.0, self._time.t * self._speed / self._path.seconds)

    def __call__(self) -> None:
        controller, time = self._controller, self._time
        if time.outcome or controller.mode != "active":  # a hold: wait where it is
            return
        if not self._approach.over:
            self._approach()
            return
        self.begun = True
        left = self._path.seconds / self._speed - time.t
        off = apart(controller.outputs["X_WP"][0], self._X)
        time.step(self._period, off, max(0.02, min(1.0, left / _BRAKING)))
        self._X, V = self._path.at(time.t * self._speed)
        X = self._X.copy()
        resting = bool(time.outcome) or left <= 0.0
        V *= 0.0 if resting else time.pace * self._speed
        if not resting:
            self._ahead(X, V)
        controller.set_desired(X, V)

    def _ahead(self, X: np.ndarray, V: np.ndarray) -> None:
        """Move pose and twist ahead, in place, so that an arm that follows late is on the path.

        An arm with `late v' + v = V_cmd` and `V_cmd = V_WD + Kp (D - P)` is at x where D is at
        `x + e`, `e' + Kp e = late x''`.
        """
        gain = np.array(self._controller.params[0]["velocity_gain"])[LINEAR]
        rate = self._late * (V[LINEAR] - self._v) / self._period - gain * self._lead
        self._v = V[LINEAR].copy()
        self._lead += rate * self._period
        X[:3, 3] += self._lead
        V[LINEAR] += rate


def _turning(rate: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
    """The vector part of rate * conjugate(wxyz): half the angular velocity, in W, rad/s."""
    w, v = wxyz[0], wxyz[1:]
    return w * rate[1:] - rate[0] * v - np.cross(rate[1:], v)
