"""What a client can read about the arm: joints, tool point and wrench."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_fake.arm import poses
from ur_fake.arm.arm import Arm, Kinematics
from ur_fake.arm.inverse import Inverse
from ur_fake.arm.measure import felt_wrench, tool_point

GRAVITY = 9.82  # m/s^2, what the controller counts with
HISTORY = 1024  # cycles of joint positions that are kept
_TORQUE_CONSTANT = 10.0  # N m at the joint for each ampere: plausible, not measured
_STEADY = 0.01  # rad/s
_STEADY_CYCLES = 250
_TOUCH = 5.0  # N


class Readings:
    """Names and units as RTDE has them; vectors are arrays that change in place.

    Attributes:
        target_q, target_qd, target_qdd: (6,) where the controller wants the joints.
        actual_q, actual_qd: (6,) where they are.
        target_moment, actual_moment [N m], target_current, actual_current, joint_control_output
            [A]: (6,) gravity included.
        actual_TCP_pose, target_TCP_pose: (6,) the tool point in `base`.
        actual_TCP_speed, target_TCP_speed: (6,) velocity of the tool point and angular velocity, in
            `base` axes.
        actual_TCP_force: (6,) what the world does to the tool, less the payload's weight and what
            `zero_ftsensor` took: at the tool point, in `base` axes. Pushing the tool along +x of
            the base gives +x.
        ft_raw_wrench: (6,) what the sensor feels, weight included: at the flange, in its axes.
        flange_wrench: (6,) `ft_raw_wrench` less weight and zero.
        tcp_offset: (6,) TCP in the flange. payload [kg], payload_cog (3,) [m, flange],
            payload_inertia (6,) [kg m^2: xx, yy, zz, xy, xz, yz].
        gravity: (3,) what holds the arm up against gravity, m/s^2 in `base`, as `set_gravity` says.
        sensor_fault: None, or `f(time, wrench) -> wrench`, applied to what the sensor feels.
        external_force_torque: (6,) of a sensor that a client brings; used while external_sensor.
        history: (HISTORY, 6) measured joint positions, see `joints_before`.
    """

    time: float
    cycle: int

    def __init__(self, arm: Arm) -> None:
        self.arm, self.model = arm, arm.model
        self.kinematics, self._actual = Kinematics(arm.model), Kinematics(arm.model)
        self.inverse = Inverse(arm.model)
        self.target_q, self.target_qd, self.target_qdd = arm.q.copy(), np.zeros(6), np.zeros(6)
        self.actual_q, self.actual_qd = arm.q, arm.qd
        self.target_moment, self.actual_moment = np.zeros(6), arm.moments
        self.target_current, self.actual_current = np.zeros(6), np.zeros(6)
        self.joint_control_output = np.zeros(6)
        self.actual_TCP_pose, self.target_TCP_pose = np.zeros(6), np.zeros(6)
        self.actual_TCP_speed, self.target_TCP_speed = np.zeros(6), np.zeros(6)
        self.actual_TCP_force, self.ft_raw_wrench = np.zeros(6), np.zeros(6)
        self.flange_wrench = np.zeros(6)
        self.tcp_offset = np.zeros(6)
        self.payload, self.payload_cog, self.payload_inertia = 0.0, np.zeros(3), np.zeros(6)
        self.gravity = np.array([0.0, 0.0, GRAVITY])
        self.sensor_fault: Callable[[float, np.ndarray], ArrayLike] | None = None
        self.external_force_torque, self.external_sensor = np.zeros(6), False
        self.history = np.tile(arm.q, (HISTORY, 1))
        self._forces, self._newest = np.zeros((HISTORY, 3)), 0
        self._zero = np.zeros(6)
        self._R_EP, self._p_EP = np.eye(3), np.zeros(3)
        self._still = 0

    def set_tcp(self, offset: ArrayLike) -> None:
        """The TCP in the flange, six numbers."""
        self.tcp_offset[:] = offset
        self._R_EP[:] = np.reshape(poses.rotation(*self.tcp_offset[ANGULAR].tolist()), (3, 3))
        self._p_EP[:] = self.tcp_offset[LINEAR]
        self.kinematics.tcp = self._actual.tcp = self.tcp_offset.tolist()
        self.aim()
        self.observe()

    def zero_sensor(self) -> None:
        """From now on, what the sensor feels is no force (`zero_ftsensor`)."""
        self._zero += self.flange_wrench

    @property
    def steady(self) -> bool:
        """Whether the arm has stood still for half a second (`is_steady`)."""
        return self._still >= _STEADY_CYCLES

    def contact_cycles(self, direction: Sequence[float]) -> int:
        """For how many cycles something has pushed against `direction` (six numbers, the linear
        ones count; all zero: any direction); 0 if nothing does (`tool_contact`).
        """
        along = np.array(direction[LINEAR])
        length = float(np.linalg.norm(along))
        forces = self._forces
        felt = forces @ (along / -length) if length > 1e-9 else np.sqrt((forces**2).sum(axis=1))
        touched = np.roll(felt > _TOUCH, -(self._newest + 1))[::-1]
        return int(np.argmin(touched)) if not touched.all() else HISTORY - 1

    def elbow(self) -> tuple[list[float], list[float]]:
        """Position [m] and velocity [m/s] of the elbow, the third joint's origin, in `base`."""
        first, second = self.model.X_chain[0], self.model.X_chain[1]
        q, qd = self.actual_q, self.actual_qd
        X_0 = first @ _turn(q[0])
        X_1 = X_0 @ second @ _turn(q[1])
        p = (X_1 @ self.model.X_chain[2])[:3, 3]
        v = np.zeros(3)
        for X, rate in ((X_0, qd[0]), (X_1, qd[1])):
            v += np.cross(rate * X[:3, 2], p - X[:3, 3])
        return p.tolist(), v.tolist()

    def joints_before(self, cycles: int) -> np.ndarray:
        """(6,) measured joint positions so many cycles ago."""
        return self.history[(self._newest - cycles) % HISTORY]

    def observe(self) -> None:
        """Take the readings of this cycle from the arm."""
        arm = self.arm
        self._newest = self.cycle % HISTORY
        self.history[self._newest] = arm.q
        self._still = self._still + 1 if arm.qd @ arm.qd < _STEADY**2 else 0
        tool_point(
            *self._actual.records, arm.q, arm.qd, self.actual_TCP_pose, self.actual_TCP_speed
        )
        self._feel()
        arm.target_moments(self.target_qdd, self.target_moment)
        np.divide(arm.moments, _TORQUE_CONSTANT, out=self.actual_current)
        np.divide(self.target_moment, _TORQUE_CONSTANT, out=self.target_current)
        self.joint_control_output[:] = self.actual_current

    def aim(self) -> None:
        """Pose and speed of the tool point at the targets of this cycle."""
        tool_point(
            *self.kinematics.records,
            self.target_q,
            self.target_qd,
            self.target_TCP_pose,
            self.target_TCP_speed,
        )

    def _feel(self) -> None:
        """The wrench, raw and with the payload taken out."""
        raw = self.arm.wrench if not self.external_sensor else self.external_force_torque
        if self.sensor_fault is not None:
            raw = np.asarray(self.sensor_fault(self.time, raw.copy()), dtype=np.float64)
        self.ft_raw_wrench[:] = raw
        felt_wrench(
            self._actual.records[1],
            self._R_EP,
            self._p_EP,
            self.ft_raw_wrench,
            self._zero,
            float(self.payload),
            self.payload_cog,
            self.gravity,
            self.flange_wrench,
            self.actual_TCP_force,
        )
        self._forces[self._newest] = self.actual_TCP_force[LINEAR]


def _turn(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
