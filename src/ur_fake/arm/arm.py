"""The arm behind the controller: the simulated one, its kinematics, and what its sensors say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ur_admittance.kernel import layout
from ur_admittance.kernel.kinematics import pose_and_jacobian
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.robots.sim import SimRobot
from ur_fake.arm import poses
from ur_fake.identity import Identity

CYCLE = 0.002  # s


class Arm:
    """The MuJoCo arm, told where its joints should be every 2 ms.

    Attributes:
        model: kinematics and limits in the controller's own frame `base`, calibrated.
        q, qd: (6,) measured, rad and rad/s.
        wrench: (6,) what the world does to everything beyond the sensor, weight included, at the
            flange in its axes, N and N m.
        moments: (6,) what the joints give, gravity included, N m.
        gravity_moments: (6,) of it what holds the arm and the tool up, N m.
        slowness: 1; above it the arm is that much slower than told.
    """

    def __init__(self, name: str, identity: Identity, **options: Any) -> None:
        """
        Args:
            name: of the arm.
            identity: gives the calibration.
            options: to the simulated arm; and `grip`, where in the flange the tool's tip is, at
                which scene and hand act (4, 4), default: the flange.
        """
        self.model = calibrated(RobotModel.ur(name, base="base"), identity)
        endless = np.full(6, np.inf)  # the safety system watches the limits, not the simulation
        free = replace(self.model, q_min=-endless, q_max=endless)
        grip = options.pop("grip", None)
        if grip is not None:
            free = free.with_tool(grip, np.eye(4))
        options = {"noise": (0.1, 0.005), "q0": self.model.home, **options}
        self._sim = _Simulation(
            free, realtime=False, latency=0, sensor_delay=0, servo_bandwidth=math.inf, **options
        )
        self._sim.connect()
        self.slowness = 1.0
        state = self._sim.wait()
        self.q, self.qd = state.q.copy(), state.qd.copy()
        self.wrench = state.wrench.copy()
        self.moments, self.gravity_moments = np.zeros(6), np.zeros(6)
        self._reference = self.q.copy()
        self.advance(self.q)

    @property
    def hand(self) -> Any:
        """What pushes the tool at the flange, see `robots.sim.Hand`."""
        return self._sim.hand

    @hand.setter
    def hand(self, hand: Any) -> None:
        self._sim.hand = hand

    def advance(self, q: np.ndarray) -> None:
        """One cycle, during which the joints should come to `q` rad."""
        reference = self._reference
        if self.slowness > 1.0:
            reference = reference + (q - reference) * (CYCLE / (CYCLE + 0.05 * (self.slowness - 1)))
        else:
            reference = q
        self._sim.send_position(reference)
        state = self._sim.wait()
        self._reference = np.array(reference)
        self.q[:], self.qd[:], self.wrench[:] = state.q, state.qd, state.wrench
        self._sim.read_moments(self.moments, self.gravity_moments)

    def target_moments(self, qdd: np.ndarray, total: np.ndarray) -> None:
        """What the joints should give for `qdd` rad/s^2, N m: M qdd, and gravity."""
        self._sim.inertial_moments(qdd, total)
        total += self.gravity_moments

    def place(self, q: np.ndarray) -> None:
        """Put the joints at `q` rad, at rest, as a hand on a released brake would."""
        self._sim.place(q)
        self._reference = np.array(q, dtype=np.float64)
        self.q[:], self.qd[:] = q, 0.0


class _Simulation(SimRobot):
    """`SimRobot`, with what a controller measures of its joints, N m."""

    def read_moments(self, total: np.ndarray, gravity: np.ndarray) -> None:
        gravity[:] = self._d.qfrc_gravcomp
        np.add(self._d.qfrc_actuator, gravity, out=total)

    def inertial_moments(self, qdd: np.ndarray, total: np.ndarray) -> None:
        self._mj.mj_mulM(self._m, self._d, total, qdd)

    def place(self, q: np.ndarray) -> None:
        self._d.qpos[:], self._d.qvel[:] = q, 0.0
        self._servo.q[:], self._servo.qd[:] = q, 0.0
        self._servo.stop()
        self._mj.mj_forward(self._m, self._d)


class Kinematics:
    """Where the tool point is, and how it moves, for the TCP that is set."""

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._params, self._state = layout.new_params(), layout.new_state()
        self._params["chain_R"][0], self._params["chain_p"][0] = model.chain_R, model.chain_p
        self._last_R, self._last_p = model.chain_R[6].copy(), model.chain_p[6].copy()
        self._tcp: poses.Pose6 = (0.0,) * 6
        self._q, self._J = self._state["q"][0], self._state["J"][0]
        self._R, self._p = self._state["R_WP"][0], self._state["p_WP"][0]
        pose_and_jacobian(self._params, self._state)

    @property
    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Parameters and state, for compiled functions."""
        return self._params, self._state

    @property
    def tcp(self) -> poses.Pose6:
        """The TCP in the flange."""
        return self._tcp

    @tcp.setter
    def tcp(self, offset: Sequence[float]) -> None:
        self._tcp = tuple(float(x) for x in offset)
        R = np.reshape(poses.rotation(*self._tcp[ANGULAR]), (3, 3))
        self._params["chain_R"][0, 6] = self._last_R @ R
        self._params["chain_p"][0, 6] = self._last_R @ np.array(self._tcp[LINEAR]) + self._last_p

    def update(self, q: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """R_WP (3, 3), p_WP (3,) and the Jacobian (6, 6) at `q`: views, until the next call."""
        self._q[:] = q
        pose_and_jacobian(self._params, self._state)
        return self._R, self._p, self._J

    def pose(self, q: Sequence[float] | np.ndarray) -> poses.Pose6:
        """The tool point at `q`."""
        R, p, _ = self.update(q)
        return (*p.tolist(), *poses.rotation_vector(R.ravel().tolist()))


def dh_table(model: RobotModel) -> np.ndarray:
    """(4, 6) theta, a, d, alpha of a UR arm: Rz(q + theta) Tz(d) Tx(a) Rx(alpha), rad and m."""
    table = np.zeros((4, 6))
    for n in range(6):
        before, after = model.X_chain[n], model.X_chain[n + 1]
        p, z = before[:3, 3], _axis_before_turn(before)
        table[0, n] = _turn_about_z(before)
        table[2, n] = float(p @ z)
        table[1, n] = after[0, 3]
        z = _axis_before_turn(after)
        table[3, n] = math.atan2(-z[1], z[2])
    return table


def _axis_before_turn(X: np.ndarray) -> np.ndarray:
    return X[:3, 2]


def _turn_about_z(X: np.ndarray) -> float:
    """theta of Tx(a) Rx(alpha) Tz(d) Rz(theta)."""
    return math.atan2(-X[0, 1], X[0, 0])


def calibrated(model: RobotModel, identity: Identity) -> RobotModel:
    """The arm as the factory measured it."""
    delta = np.asarray(identity.calibration, dtype=np.float64).reshape(4, 6)
    if not delta.any():
        return model
    theta, a, d, alpha = dh_table(model) + delta
    chain = [np.eye(4)]
    for n in range(6):
        chain[-1] = chain[-1] @ _screw_z(theta[n], d[n])
        chain.append(_screw_x(alpha[n], a[n]))
    return replace(model, X_chain=np.array(chain))


def _screw_z(angle: float, length: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, length], [0, 0, 0, 1.0]])


def _screw_x(angle: float, length: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])
