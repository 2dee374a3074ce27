"""Links that come with the package: a policy above the admittance, and servos below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.chain.compiled import COUNT, HAS_POSE, TWIST, compiled
from ur_admittance.chain.interfaces import (
    DESIRED,
    SCALING,
    STREAM,
    WRENCH,
    Link,
    Ports,
    positions,
    velocities,
)
from ur_admittance.config.validate import as_numbers, as_transform, suggest
from ur_admittance.errors import ConfigError
from ur_admittance.kernel.stream import AXES, DAMPING, MASS, STIFFNESS, TARGET

SLOWEST_PACE = 0.002  # below it a chain is paused
FASTEST_RAMP = 4.0  # 1/s, how fast the pace of a chain follows the robot's, at most
_FLOAT64 = np.dtype(np.float64)
_STREAMED = {  # bit, and place among the exports
    "target": (TARGET, slice(0, 6)),
    "orientation": (AXES, slice(6, 9)),
    "mass": (MASS, slice(9, 15)),
    "damping": (DAMPING, slice(15, 21)),
    "stiffness": (STIFFNESS, slice(21, 27)),
}


@dataclass(frozen=True)
class Desired:
    """What a policy wants of the tool, in W axes."""

    # pose of the probe (4, 4); None to move on from where it should be now, by the twist
    X_WD: ArrayLike | None = None
    V_WD: ArrayLike | None = None  # twist [linear; angular] (6,), m/s and rad/s; None for at rest
    age: float = 0.0  # how old this is, s
    # force, axes and gains by the names of `Controller.stream`, such as `{"stiffness": k}` with six
    # numbers. With neither pose nor twist beside it, the desired pose is left alone.
    stream: Mapping[str, ArrayLike] | None = None


Policy = Callable[[float, np.ndarray, np.ndarray], "Desired | ArrayLike | None"]
"""`policy(t, q, wrench)` -> a pose (4, 4), a twist (6,), a `Desired`, or None for nothing new. `t`
in s since activation; `q` (6,) rad; `wrench` (6,) as the sensor reports it."""


class PolicyLink(Link):
    """A Python callable above: a learned policy, a planner, a teleoperation device.

    It is called every cycle, on the loop's time, so it must answer within a few tens of
    microseconds; what takes longer runs in another process, and the callable returns its latest
    answer, or None. What is older than `staleness` is not followed: the last pose is held at zero
    speed, and the arm stays compliant.
    """

    def __init__(self, policy: Policy, *, staleness: float = 0.1, name: str = "policy") -> None:
        """
        Args:
            staleness: s.
        """
        super().__init__(name)
        self._policy = policy
        self._staleness = float(staleness)
        self._last = -np.inf
        self.stale = True
        """Whether the last answer was too old to follow."""

    def declare(self, joints: tuple[str, ...]) -> None:
        self.reads = (*positions(joints), *WRENCH, "time")
        self.exports = (*DESIRED, *STREAM)
        self._joints = joints

    def configure(self, ports: Ports) -> None:
        self._q, self._wrench = ports.read(positions(self._joints)), ports.read(WRENCH)
        exports = ports.export()
        self._time, self._exports = ports.read(["time"]), exports[: len(DESIRED)]
        self._stream = exports[len(DESIRED) :]
        self._write, self._rest = compiled().write_desired, np.zeros(6)

    def activate(self) -> None:
        self._start = self._time.item()
        self._last, self.stale = -np.inf, True
        self._exports[:COUNT] = 0.0
        self._stream[-2] = 0.0

    def update(self, dt: float) -> None:
        now = self._time.item()
        answer = self._policy(now - self._start, self._q, self._wrench)
        if answer is not None:
            if isinstance(answer, Desired):
                X, V, age = answer.X_WD, answer.V_WD, answer.age
                if answer.stream is not None and age <= self._staleness:
                    self._take_stream(answer.stream)
                    if X is None and V is None:
                        return
            else:
                X, V, age = (None, answer, 0.0) if np.ndim(answer) == 1 else (answer, None, 0.0)
            if age <= self._staleness:
                self._last, self.stale = now - age, False
                self._take(X, V)
                return
        if not self.stale and now - self._last > self._staleness:
            self.stale = True
            self._stand()

    def deactivate(self) -> bool:
        if not self.stale:
            self._stand()
        return True

    def _take(self, X: ArrayLike | None, V: ArrayLike | None) -> None:
        V = self._rest if V is None else _doubles(V, (6,), f"{self.name}: V_WD")
        if X is None:
            self._exports[TWIST:HAS_POSE] = V
            self._exports[HAS_POSE] = 0.0
            self._exports[COUNT] += 1.0
            return
        X = _doubles(X, (4, 4), f"{self.name}: X_WD")
        if not self._write(X, V, self._exports):
            self._write(as_transform(X, f"{self.name}: X_WD"), V, self._exports)

    def _take_stream(self, stream: Mapping[str, ArrayLike]) -> None:
        given = 0
        for name, value in stream.items():
            if name not in _STREAMED:
                raise ConfigError(
                    f"{self.name}: cannot stream {name!r}; there are {', '.join(_STREAMED)}"
                    f"{suggest(name, _STREAMED)}"
                )
            bit, place = _STREAMED[name]
            width = place.stop - place.start
            self._stream[place] = _doubles(value, (width,), f"{self.name}: {name}")
            given |= bit
        self._stream[-2] = given
        self._stream[-1] += 1.0

    def _stand(self) -> None:
        """The last pose, at zero speed."""
        self._exports[TWIST:HAS_POSE] = 0.0
        self._exports[COUNT] += 1.0


class VelocityForward(Link):
    """Below: hands a link's `<joint>/velocity` to the robot, as velocity commands."""

    _names = staticmethod(velocities)

    def __init__(self, source: str, *, name: str = "forward") -> None:
        """
        Args:
            source: the link that exports the joint references.
        """
        super().__init__(name)
        self._source = source

    def declare(self, joints: tuple[str, ...]) -> None:
        self._references = self.reads = self._names(joints, self._source)
        self.commands = self._names(joints)

    def configure(self, ports: Ports) -> None:
        self._from, self._to = ports.read(self._references), ports.command(self.commands)

    def update(self, dt: float) -> None:
        self._to[:] = self._from


class PositionForward(VelocityForward):
    """Below: hands a link's `<joint>/position` to the robot, as position commands.

    Over an admittance set `output.mode: position`, so that its reference does not leak.
    """

    _names = staticmethod(positions)


class ScaledTrajectory(PositionForward):
    """Below: position commands at the pace of the robot, as `scaled_joint_trajectory_controller`.

    A UR that is slowed by its slider or its safety reports a `speed_scaling` below 1. With this
    link active, time in the whole chain runs that much slower: a trajectory above takes longer, the
    law moves the arm slower, and neither runs ahead of the arm. At 0 the chain is paused; when the
    robot goes on, so does the chain, from rest, where the arm is.

    A change of pace accelerates the arm as well as the law does. It takes `ramp` of the joints'
    acceleration at most; leave that much to it in the law's `limits.joint_acceleration`.
    """

    def __init__(self, source: str, *, ramp: float = 2.0, name: str = "trajectory") -> None:
        """
        Args:
            source: the link that exports the joint references.
            ramp: rad/s^2.
        """
        super().__init__(source, name=name)
        self._ramp = ramp
        self._pace = 1.0

    def declare(self, joints: tuple[str, ...]) -> None:
        super().declare(joints)
        self._rates = velocities(joints, self._source)
        self.reads = (*self.reads, *self._rates, SCALING)

    def configure(self, ports: Ports) -> None:
        super().configure(ports)
        self._scaling, self._qd = ports.read([SCALING]), ports.read(self._rates)

    def activate(self) -> None:
        self._pace = self._wanted()

    def pace(self, seconds: float) -> float:
        """How fast time runs in the chain now, 0 to 1; asked once a cycle of `seconds`."""
        wanted = self._wanted()
        if self._pace != wanted:
            fastest = max(map(abs, self._qd.tolist()))
            most = seconds * min(FASTEST_RAMP, self._ramp / max(fastest, 1e-9))
            self._pace += min(max(wanted - self._pace, -most), most)
        return self._pace if self._pace >= SLOWEST_PACE else 0.0

    def _wanted(self) -> float:
        scaling = self._scaling.item()
        return min(max(scaling, 0.0), 1.0) if scaling == scaling else 0.0


def _doubles(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """`value` as an array of doubles in one piece; the same one, if it is one."""
    if (
        type(value) is np.ndarray
        and value.shape == shape
        and value.dtype is _FLOAT64
        and value.flags.c_contiguous
    ):
        return value
    return as_numbers(value, name, shape)
