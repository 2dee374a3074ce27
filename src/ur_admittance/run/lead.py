"""Lead an arm stiffly along a way, watched as in a run: samples that age, force, other senders.

How far it has come along the way is a time of its own, which passes at a rate from 0 to 1. To brake
is to take that rate to 0, within the half of every limit that the way leaves free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller.at_rest import expected
from ur_admittance.controller.packing import pack
from ur_admittance.errors import RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.motion.joints import SHARE, JointPath
from ur_admittance.robots.base import Robot, State

_GAIN = 2.0  # 1/s, from what the joints are behind to their speed
_BEHIND = 0.2  # rad, then the arm does not follow
_THERE = 1e-4  # rad, rad/s
_PATIENCE = 5.0  # s, for arriving after the way is over


Problem = Callable[[np.ndarray, np.ndarray, float], str]
"""Why an arm must not be moved any further, in words, from what was seen of it; "" if it may."""


def lead(
    robot: Robot, config: Config, way: JointPath, asked: Sequence[int] = (), *, verb: str = "lead"
) -> None:
    """Lead the arm along the way. Whatever ends it, the arm is braked inside its limits.

    Samples of joints or wrench that are older than `safety.joint_timeout` and
    `safety.wrench_timeout` make it wait, and after `safety.lost_timeout` give up.

    Args:
        robot: connected, and at rest at the way's start.
        config: limits, timeouts, and the greatest force and torque, against bias and payload.
        way: from `motion.joints.straight`.
        asked: stops the arm when it is no longer empty: what `signals` collects.
        verb: who asks, for messages.

    Raises:
        RobotError: it was stopped; it now stands somewhere on the way.
    """
    leader = _Leader(robot, config, way)
    try:
        while not leader.arrived():
            reason = "interrupted" if asked else leader.problem() or robot.trouble()
            if reason:
                raise RobotError(f"{verb}: {reason}; the arm was braked on the way")
            leader.step(going=leader.fresh)
    finally:
        leader.come_to_rest()


def shake(
    robot: Robot, rates: np.ndarray, problem: Problem, asked: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Turn all joints together at rates, see `Run.shake`."""
    q, wrench = np.zeros((len(rates), 6)), np.zeros((len(rates), 6))
    try:
        for k, rate in enumerate(rates):
            state = robot.wait()
            q[k], wrench[k] = state.q, state.wrench
            age = robot.clock() - state.wrench_time
            why = problem(q[: k + 1], wrench[: k + 1], age) or robot.trouble()
            if why := "interrupted" if asked else why:
                raise RobotError(f"{why}; the arm was stopped")
            robot.send_velocity(np.full(6, rate))
    finally:
        robot.stop()
    return q, wrench


@dataclass(frozen=True)
class _Limits:
    qd: np.ndarray
    qdd: np.ndarray
    a: float
    alpha: float


class _Leader:
    """Where on the way the arm is, and what it is told."""

    def __init__(self, robot: Robot, config: Config, way: JointPath) -> None:
        self._robot, self._config, self._way = robot, config, way
        self._params = pack(config, robot.model)
        limits = self._params[0]
        self._limits = _Limits(
            limits.qd_max.copy(), limits.qdd_max.copy(), float(limits.a_max), limits.alpha_max
        )
        self._period = 1.0 / robot.rate
        self._t, self._rate = 0.0, 1.0  # s along the way, and how fast that passes
        self._sent = np.zeros(6)  # rad/s
        self._state: State = robot.wait()
        self._over = 0.0  # s since the end of the way was reached
        self._felt = robot.clock()

    @property
    def fresh(self) -> bool:
        """Whether joints and wrench are as new as they must be to go on."""
        safety = self._config.safety
        joints, wrench = self._ages()
        least = 2.0 * self._period
        return joints <= max(safety.joint_timeout, least) and wrench <= max(
            safety.wrench_timeout, least
        )

    def arrived(self) -> bool:
        state = self._state
        there = np.abs(state.q - self._way.goal).max() < _THERE
        return bool(self._t >= self._way.seconds and there and np.abs(state.qd).max() < _THERE)

    def problem(self) -> str:
        """Why it must not go on, in words; or ""."""
        safety = self._config.safety
        for what, age in zip(("joint state", "wrench"), self._ages(), strict=True):
            if age > max(safety.lost_timeout, 5.0 * self._period):
                why = self._robot.wrench_problem if what == "wrench" else ""
                lost = f"no {what} for {age:.2f} s, safety.lost_timeout is {safety.lost_timeout:g}"
                return f"{lost}; {why}" if why else lost
        state = self._state
        left = state.wrench - expected(self._robot.model, self._params, state.q)
        for part, name, unit in ((LINEAR, "force", "N"), (ANGULAR, "torque", "Nm")):
            size, most = float(np.linalg.norm(left[part])), getattr(safety, f"max_{name}")
            if size > most:  # what is not a number counts as no sample
                return (
                    f"the sensor feels {size:.3g} {unit} beyond bias and payload, "
                    f"safety.max_{name} is {most:g}; free the tool and start again"
                )
        behind = np.abs(self._behind())
        joint = int(behind.argmax())
        if behind[joint] > _BEHIND or self._over > _PATIENCE:
            return (
                f"{self._robot.model.joint_names[joint]} is {behind[joint]:.3f} rad behind and "
                "does not follow; look at the speed slider and at what holds the arm"
            )
        return ""

    def step(self, *, going: bool) -> None:
        """Send the command of this cycle, and wait for the next state."""
        q, qd = self._way.at(self._t)
        change = self._period / self._braking_seconds(qd)
        aim = 1.0 if going else 0.0
        self._rate += min(max(aim - self._rate, -change), change)
        self._t += self._rate * self._period
        q, qd = self._way.at(self._t)
        self._send(q, self._rate * qd, going)
        self._state = self._robot.wait()
        if np.isfinite(self._state.wrench).all():
            self._felt = max(self._felt, self._state.wrench_time)
        self._over = self._over + self._period if self._t >= self._way.seconds else 0.0

    def come_to_rest(self) -> None:
        """Brake, and see the arm stand; one that is not heard any more is not waited for."""
        robot = self._robot
        try:
            while self._rate > 0.0 or self._sent.any():
                self.step(going=False)
        finally:
            robot.stop()
        deadline = robot.clock() + _PATIENCE
        while robot.clock() < deadline and self._ages()[0] <= self._config.safety.lost_timeout:
            if np.abs(robot.wait().qd).max() <= _THERE:
                return

    def _send(self, q: np.ndarray, qd: np.ndarray, going: bool) -> None:
        """In velocity mode also what the joints are behind, while that is known."""
        if self._robot.led_by == "position":
            self._robot.send_position(q)
            self._sent = qd if self._rate > 0.0 else np.zeros(6)
            return
        limits = self._limits
        wanted = qd + (_GAIN * self._behind() if going else 0.0)
        most = limits.qdd * self._period
        change = np.clip(wanted - self._sent, -most, most)
        self._sent = np.clip(self._sent + change, -limits.qd, limits.qd)
        self._robot.send_velocity(self._sent)

    def _behind(self) -> np.ndarray:
        """What the joints are behind, rad (6,); nothing, while they are not heard."""
        q, _ = self._way.at(self._t)
        return q - self._state.q if self.fresh else np.zeros(6)

    def _braking_seconds(self, qd: np.ndarray) -> float:
        """What it takes to brake from the way's own rates at full speed, s."""
        limits, V = self._limits, self._robot.model.jacobian(self._state.q) @ qd
        needs = [
            float((np.abs(qd) / limits.qdd).max()),
            float(np.linalg.norm(V[LINEAR])) / limits.a,
            float(np.linalg.norm(V[ANGULAR])) / limits.alpha,
        ]
        return max(max(needs) / (1.0 - SHARE), self._period)

    def _ages(self) -> tuple[float, float]:
        """Of joints and of a wrench that is a number, s."""
        now = self._robot.clock()
        return now - self._state.joint_time, now - self._felt
