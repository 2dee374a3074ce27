"""The safety system: stops, limits, and what brings the arm back.

                      brake_release                protective_stop
    POWER_OFF -> IDLE ------------> RUNNING/NORMAL ---------------> PROTECTIVE_STOP
        ^          power_on            | ^  reduced <-> NORMAL        | unlock
        |                              | +----------------------------+
        +--- emergency_stop (released by `release_emergency_stop`) ---+

A safeguard stop pauses the program and ends with its cause. A protective stop pauses the program
and waits for a person. An emergency stop ends the program and takes the power off the arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ur_admittance.kernel.spatial import LINEAR
from ur_admittance.model import RobotModel
from ur_fake.arm.measure import within
from ur_fake.modes import SafetyBit, SafetyMode


@dataclass
class Limits:
    """What the safety system allows.

    Attributes:
        joint_speed: (6,) rad/s.
        tcp_speed: m/s. The maker's factory preset is 1.5 in normal and 0.75 in reduced mode.
        q_min, q_max: (6,) rad.
    """

    joint_speed: np.ndarray
    tcp_speed: float
    q_min: np.ndarray
    q_max: np.ndarray


@dataclass(frozen=True)
class Stop:
    """Why the arm was stopped: the error code C<code>A<argument> and its words."""

    code: int
    argument: int
    text: str


SPEED = 156  # C156: joint or tool speed beyond the safety limit
POSITION = 157  # C157: joint position beyond the safety limit
DEVIATION = 153  # C153: the arm is not where it was told to be
_MARGIN = 1.06  # the system trips a little above the speed that a planner may use
_DEVIATION = 0.35  # rad
_HARD = 3.0  # a protective stop brakes so many times harder than a pause


class Safety:
    """Limits and stops. Times in s of the controller.

    `brake`: of a protective stop, rad/s^2.
    """

    def __init__(self, model: RobotModel) -> None:
        self.normal = Limits(model.qd_max.copy(), 1.5, model.q_min, model.q_max)
        self.reduced_limits = Limits(0.5 * model.qd_max, 0.75, model.q_min, model.q_max)
        self.reduced = False
        self.safeguard = False
        self.emergency: SafetyMode | None = None
        self.protective: Stop | None = None
        self.violation = False
        self.protective_stop_time = -math.inf
        self.brake = _HARD * float(model.qdd_max.min())
        self._cut()

    @property
    def limits(self) -> Limits:
        return self.reduced_limits if self.reduced else self.normal

    @property
    def mode(self) -> SafetyMode:
        if self.violation:
            return SafetyMode.VIOLATION
        if self.emergency is not None:
            return self.emergency
        if self.protective is not None:
            return SafetyMode.PROTECTIVE_STOP
        if self.safeguard:
            return SafetyMode.SAFEGUARD_STOP
        return SafetyMode.REDUCED if self.reduced else SafetyMode.NORMAL

    @property
    def stopped(self) -> bool:
        """Whether anything keeps the arm from moving."""
        return (
            self.safeguard
            or self.protective is not None
            or self.emergency is not None
            or self.violation
        )

    @property
    def bits(self) -> int:
        """`safety_status_bits`."""
        emergency = self.emergency is not None
        bits = 0
        for bit, on in (
            (SafetyBit.NORMAL, not (self.stopped or self.reduced)),
            (SafetyBit.REDUCED, self.reduced),
            (SafetyBit.PROTECTIVE_STOP, self.protective is not None),
            (SafetyBit.SAFEGUARD_STOP, self.safeguard),
            (SafetyBit.SYSTEM_EMERGENCY_STOP, self.emergency == SafetyMode.SYSTEM_EMERGENCY_STOP),
            (SafetyBit.ROBOT_EMERGENCY_STOP, self.emergency == SafetyMode.ROBOT_EMERGENCY_STOP),
            (SafetyBit.EMERGENCY_STOP, emergency),
            (SafetyBit.VIOLATION, self.violation),
            (SafetyBit.STOPPED_DUE_TO_SAFETY, self.stopped),
        ):
            bits |= on << bit
        return bits

    def use(self, *, reduced: bool) -> None:
        """Reduced or normal limits."""
        self.reduced = bool(reduced)
        self._cut()

    def _cut(self) -> None:
        limits = self.limits
        self._joint_speed = _MARGIN * limits.joint_speed
        self._tcp_speed = _MARGIN * limits.tcp_speed

    def check(
        self, q: np.ndarray, qd: np.ndarray, twist: np.ndarray, q_actual: np.ndarray
    ) -> Stop | None:
        """What is wrong with targets `q`, `qd` and the twist of the tool point, if anything.

        NaN fails every comparison.
        """
        limits = self.limits
        if within(
            q, qd, twist, q_actual, self._joint_speed, self._tcp_speed, limits.q_min, limits.q_max,
            self.brake, _DEVIATION,
        ):  # fmt: skip
            return None
        if not (np.abs(qd) <= self._joint_speed).all():
            joint = int(np.argmax(~(np.abs(qd) <= self._joint_speed)))
            return Stop(SPEED, joint + 1, f"Joint {joint} speed limit violated")
        if not math.hypot(*twist[LINEAR].tolist()) <= self._tcp_speed:
            return Stop(SPEED, 0, "Tool speed limit violated")
        rest = q + 0.5 * qd * np.abs(qd) / self.brake
        inside = (np.minimum(q, rest) >= limits.q_min) & (np.maximum(q, rest) <= limits.q_max)
        if not inside.all():
            joint = int(np.argmax(~inside))
            return Stop(POSITION, joint, f"Joint {joint} position close to its limit")
        joint = int(np.argmax(~(np.abs(q - q_actual) <= _DEVIATION)))
        return Stop(DEVIATION, joint, f"Position deviates from path: joint {joint}")
