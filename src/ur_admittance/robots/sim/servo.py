"""The joint servo of a simulated arm: from commands to a reference that moves as a UR's does.

Velocities and positions go through a first-order lag; silence and `stop` ramp the speed to zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ur_admittance.config.sections import Arm
from ur_admittance.model import RobotModel

WATCHDOG = 0.020  # s without a velocity command, then the arm decelerates to rest

_VELOCITY, _POSITION, _TRAJECTORY = range(3)


def following(arm: Arm, rate: float = 500.0) -> dict[str, Any]:
    """Options of `SimRobot` for an arm that follows as `arm` says: its lag, and its delay in whole
    cycles of `rate` Hz. What is not known stays as it is.
    """
    options: dict[str, Any] = {}
    if arm.lag:
        options["servo_bandwidth"] = 1 / (math.tau * arm.lag)
    if arm.delay:
        options["latency"] = max(1, round(arm.delay * rate))
    return options


class Servo:
    """The reference of six joints, advanced one physics step at a time.

    Attributes:
        q: (6,) where the joints should be, rad.
        qd: (6,) how fast they should turn, rad/s.
        speed_scaling: the slider on the pendant, 0 to 1: velocity commands are multiplied by it.
    """

    def __init__(
        self, model: RobotModel, q: np.ndarray, cycle: float, steps: int, bandwidth: float
    ) -> None:
        """
        Args:
            q: joints at the start, rad.
            cycle: time between two commands, s.
            steps: physics steps a cycle.
            bandwidth: of the lag, Hz; infinite for none.
        """
        self.q = np.array(q, dtype=np.float64)
        self.qd = np.zeros(6)
        self.speed_scaling = 1.0
        self._step = cycle / steps
        self._cycle = cycle
        self._lag_seconds = 1 / (2 * math.pi * bandwidth)
        self._lag = math.exp(-self._step / self._lag_seconds) if self._lag_seconds > 0 else 0.0
        self._qd_max, self._farthest = model.qd_max, model.qd_max * self._step
        self._brake = model.qdd_max * self._step
        self._mode = _VELOCITY
        self._stopping = True
        self._silence = 0.0
        self._command = np.zeros(6)  # rad/s
        self._target = self.q.copy()  # rad
        self._target_step = np.zeros(6)  # rad a step
        self._steps_left = 0
        self._cubic = np.zeros((4, 6))
        self._time, self._duration = 0.0, 0.0

    # --- commands: each in force from the next `advance` on ---

    def velocity(self, qd: np.ndarray) -> None:
        """Follow `qd`, cut to the greatest speed of each joint."""
        self._mode, self._stopping, self._silence = _VELOCITY, False, 0.0
        scaled = qd * self.speed_scaling
        np.minimum(np.maximum(scaled, -self._qd_max), self._qd_max, out=self._command)

    def position(self, q_ref: np.ndarray) -> None:
        """Move the target evenly to `q_ref` during this cycle."""
        if self._mode != _POSITION:
            self._target[:] = self.q
        self._mode = _POSITION
        self._steps_left = round(self._cycle / self._step)
        self._target_step[:] = (q_ref - self._target) / self._steps_left

    def trajectory(self, q_ref: np.ndarray, qd: np.ndarray, duration: float) -> None:
        """Move the target on a cubic from where reference and rate are to `q_ref` and `qd`."""
        way = q_ref - self.q
        self._cubic[0] = self.q
        self._cubic[1] = self.qd * duration
        self._cubic[2] = 3 * way - (2 * self.qd + qd) * duration
        self._cubic[3] = (self.qd + qd) * duration - 2 * way
        self._mode, self._time, self._duration = _TRAJECTORY, 0.0, duration

    def stop(self) -> None:
        """Ramp the speed to zero as fast as the joints may, and hold."""
        if self._mode != _VELOCITY:
            self._mode = _VELOCITY
            self._command[:] = np.clip(self.qd, -self._qd_max, self._qd_max)
        self._stopping = True

    def silent(self) -> None:
        """A cycle begins without a command."""
        self._silence += self._cycle
        if self._mode == _VELOCITY and self._silence > WATCHDOG - 1e-9:
            self._stopping = True

    # --- time ---

    def advance(self) -> None:
        """One physics step: `q` and `qd` become what they should be at its end."""
        q, qd, lag = self.q, self.qd, self._lag
        if self._mode == _VELOCITY:
            command = self._command
            if self._stopping:
                command -= np.minimum(np.maximum(command, -self._brake), self._brake)
            behind = (qd - command) * lag
            # exact for a constant command: the lag's own integral is (qd - qd_new) * its time
            q += command * self._step + (qd - command - behind) * self._lag_seconds
            np.add(command, behind, out=qd)
            return
        if self._mode == _TRAJECTORY:
            self._time = min(self._time + self._step, self._duration)
            s = self._time / self._duration
            a, b, c, d = self._cubic
            self._target[:] = a + s * (b + s * (c + s * d))
        elif self._steps_left > 0:
            self._target += self._target_step
            self._steps_left -= 1
        way = (self._target - q) * (1 - lag)
        way = np.minimum(np.maximum(way, -self._farthest), self._farthest)
        q += way
        np.divide(way, self._step, out=qd)

    def keep_near(self, q: np.ndarray, lead: np.ndarray) -> None:
        """Where an obstacle holds the joints at `q`, do not run ahead by more than `lead` rad."""
        np.minimum(np.maximum(self.q, q - lead), q + lead, out=self.q)
