"""The tick as a good Python roboticist would write it: NumPy arrays and Pinocchio."""
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from benchmarks.workload import Workload, rival_parameters
from ur_admittance.kernel.spatial import ANGULAR, LINEAR


class NumpyPinocchio:
    """One tick a call; the same law, limits and least squares as the C++ rows."""

    def __init__(self, workload: Workload) -> None:
        parameters = rival_parameters(workload)
        for name, value in parameters.items():
            setattr(self, name, value if value.ndim else float(value))
        self.skew_com, self.skew_sensor = pin.skew(self.payload_com), pin.skew(self.p_PS)
        self.steps_v, self.steps_x = np.split(parameters["step"], 2, axis=1)
        self.damping = self.ik_damping**2 * np.eye(6)
        self.arm = pin.Model()
        joint = 0
        for n in range(6):
            X = pin.SE3(parameters["chain_R"][n], parameters["chain_p"][n])
            joint = self.arm.addJoint(joint, pin.JointModelRZ(), X, f"joint_{n}")
        X = pin.SE3(parameters["chain_R"][6], parameters["chain_p"][6])
        self.probe = self.arm.addFrame(pin.Frame("P", joint, 0, X, pin.FrameType.OP_FRAME))
        self.data = self.arm.createData()

    def activate(self, q: np.ndarray) -> None:
        X_WP = self.kinematics(q)[0]
        self.X_WD, self.X_WC = X_WP.copy(), X_WP.copy()
        self.x, self.R_offset = np.zeros(3), np.eye(3)
        self.v, self.F_filt, self.V, self.qd = np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6)
        self.q_ref = q.copy()

    def update(self, q: np.ndarray, wrench: np.ndarray, dt: float) -> dict[str, np.ndarray]:
        if not (0.0 < dt <= 0.1 and np.isfinite(q).all() and np.isfinite(wrench).all()):
            self.qd, self.V = np.zeros(6), np.zeros(6)
            return {"qd": self.qd}
        X_WP, J = self.kinematics(q)
        F_comp, F_S, F_P = self.wrench(wrench, X_WP.rotation)
        error = np.concatenate(
            [
                self.X_WC.translation - X_WP.translation,
                pin.log3(self.X_WC.rotation @ X_WP.rotation.T),
            ]
        )
        self.law(F_P, X_WP.rotation)
        V_track = self.track(error, dt)
        self.V = self.limit(V_track, X_WP.translation, dt)
        self.qd = self.joints(J, q, dt)
        lead = (self.q_ref - q) * (1.0 - min(1.0, self.leak * dt)) + self.qd * dt
        most = self.max_joint_lead
        self.q_ref = q + np.minimum(np.maximum(lead, -most), most)
        return {
            "qd": self.qd,
            "q_ref": self.q_ref,
            "V_WP_cmd": self.V,
            "V_WP_law": V_track,
            "X_WP": X_WP.homogeneous,
            "X_WC": self.X_WC.homogeneous,
            "X_WD": self.X_WD.homogeneous,
            "error": error,
            "offset": np.concatenate([self.x, pin.log3(self.R_offset)]),
            "offset_rate": self.v,
            "F_S_comp": F_comp,
            "F_S_filt": self.F_filt,
            "F_S": F_S,
            "F_P": F_P,
        }

    def kinematics(self, q: np.ndarray) -> tuple[pin.SE3, np.ndarray]:
        pin.computeJointJacobians(self.arm, self.data, q)
        X_WP = pin.updateFramePlacement(self.arm, self.data, self.probe)
        J = pin.getFrameJacobian(self.arm, self.data, self.probe, pin.LOCAL_WORLD_ALIGNED)
        return X_WP, J

    def wrench(self, wrench: np.ndarray, R_WP: np.ndarray) -> tuple[np.ndarray, ...]:
        weight = self.payload_mass * (self.R_PS.T @ (R_WP.T @ self.gravity))
        F_comp = wrench - self.bias
        F_comp[LINEAR] -= weight
        F_comp[ANGULAR] -= self.skew_com @ weight
        self.F_filt = self.F_filt + self.filter_gain * (F_comp - self.F_filt)
        f = self.R_PS @ self.F_filt[LINEAR]
        t = self.R_PS @ self.F_filt[ANGULAR] + self.skew_sensor @ f
        f, t = deadband(f, self.deadband_force), deadband(t, self.deadband_torque)
        F_S = np.concatenate([self.R_PS.T @ f, self.R_PS.T @ (t - self.skew_sensor @ f)])
        return F_comp, F_S, np.concatenate([f, t])

    def law(self, F_P: np.ndarray, R_WP: np.ndarray) -> None:
        R_WD = self.X_WD.rotation
        R_DP = R_WD.T @ R_WP
        now = np.empty((6, 3))  # velocity, offset, force
        now[:, 0] = self.v
        now[LINEAR, 1], now[ANGULAR, 1] = self.x, pin.log3(self.R_offset)
        now[LINEAR, 2], now[ANGULAR, 2] = R_DP @ F_P[LINEAR], R_DP @ F_P[ANGULAR]
        self.v = np.einsum("ij,ij->i", self.steps_v, now)
        dx = np.einsum("ij,ij->i", self.steps_x, now)
        self.x = self.x + dx[LINEAR]
        self.R_offset = pin.exp3(dx[ANGULAR]) @ self.R_offset
        self.X_WC = pin.SE3(R_WD @ self.R_offset, self.X_WD.translation + R_WD @ self.x)

    def track(self, error: np.ndarray, dt: float) -> np.ndarray:
        R_WD, pull = self.X_WD.rotation, self.velocity_gain * error
        v = saturate(pull[LINEAR], braking_speed(norm(error[LINEAR]), self.a_max, dt))
        w = saturate(pull[ANGULAR], braking_speed(norm(error[ANGULAR]), self.alpha_max, dt))
        return np.concatenate([R_WD @ self.v[LINEAR] + v, R_WD @ self.v[ANGULAR] + w])

    def limit(self, V: np.ndarray, p_WP: np.ndarray, dt: float) -> np.ndarray:
        change = V - self.V
        v = self.V[LINEAR] + saturate(change[LINEAR], self.a_max * dt)
        w = self.V[ANGULAR] + saturate(change[ANGULAR], self.alpha_max * dt)
        low = -braking_speed(p_WP - self.workspace_min, self.a_max, dt)
        high = braking_speed(self.workspace_max - p_WP, self.a_max, dt)
        v = np.minimum(np.maximum(v, low), high)
        return np.concatenate([saturate(v, self.v_max), saturate(w, self.w_max)])

    def joints(self, J: np.ndarray, q: np.ndarray, dt: float) -> np.ndarray:
        qd = np.linalg.solve(J.T @ J + self.damping, J.T @ self.V)
        reach = self.qdd_max * dt
        low = np.maximum(-self.qd_max, self.qd - reach)
        high = np.minimum(self.qd_max, self.qd + reach)
        low = np.maximum(low, -braking_speed(q - self.q_min, self.qdd_max, dt))
        high = np.minimum(high, braking_speed(self.q_max - q, self.qdd_max, dt))
        return np.minimum(np.maximum(qd, low), high)


def norm(a: np.ndarray) -> float:
    return math.sqrt(a @ a)


def saturate(a: np.ndarray, largest: float) -> np.ndarray:
    n = norm(a)
    return a * (largest / n) if n > largest else a


def deadband(a: np.ndarray, threshold: float) -> np.ndarray:
    n = norm(a)
    return a * (1.0 - threshold / n) if n > threshold else np.zeros(3)


def braking_speed(distance, deceleration, dt):
    """The fastest that still stops within `distance`; numbers or arrays."""
    distance = np.maximum(distance, 0.0)
    return 2.0 * distance / (dt + np.sqrt(dt * dt + 2.0 * distance / deceleration))


def replay(workload: Workload) -> np.ndarray:
    """(n, 6): the joint rates of every tick of the workload."""
    tick = NumpyPinocchio(workload)
    tick.activate(workload.q[0])
    rows = zip(workload.q, workload.wrench, workload.dt, strict=True)
    return np.array([tick.update(q, wrench, dt)["qd"] for q, wrench, dt in rows])
