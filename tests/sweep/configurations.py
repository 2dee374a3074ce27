"""Random legal configurations of random arms with random tools."""

from __future__ import annotations

import math

import numpy as np

import ur_admittance as ua
from ur_admittance.controller.packing import pack


def legal_params(rng: np.random.Generator, arms: int, variants: int, rate: float) -> np.ndarray:
    """Records of random legal configurations, shape (arms, variants); a row shares an arm."""
    rows = []
    for _ in range(arms):
        X_EP = np.eye(4)
        X_EP[:3, :3] = _rotation(rng)
        X_EP[:3, 3] = rng.uniform(-0.2, 0.2, 3)
        model = ua.RobotModel.ur(
            rng.choice(ua.RobotModel.arms()), base=rng.choice(["base", "base_link"]), X_EP=X_EP
        )
        slow = float(rng.choice([0.1, 0.3, 1.0]))
        weak = np.maximum(0.5, model.qdd_max * rng.choice([0.1, 0.3, 1.0]))
        fixed = {
            "control_rate": rate,
            "limits.joint_velocity": (model.qd_max * slow).tolist(),
            "limits.joint_acceleration": weak.tolist(),
            "limits.joint_margin": float(rng.choice([0.0, 0.0873, 0.3])),
            "admittance.frame": str(rng.choice(["probe", "base"])),
            "admittance.integrator": str(rng.choice(["exact", "rk4", "semi_implicit_euler"])),
            "admittance.engage_seconds": float(rng.choice([0.0, 0.1, 1.0])),
        }
        configs = [_legal(fixed | _random_values(rng, rate)) for _ in range(variants)]
        rows.append(np.concatenate([pack(config, model) for config in configs]))
    return np.stack(rows)


def _legal(values: dict[str, object]) -> ua.Config:
    """With the exact integrator where another one would not be stable."""
    try:
        return ua.Config.from_dict(values)
    except ua.ConfigError:
        return ua.Config.from_dict(values | {"admittance.integrator": "exact"})


def _random_values(rng: np.random.Generator, rate: float) -> dict[str, object]:
    def spread(low: float, high: float, size: int | None = None):
        return np.exp(rng.uniform(math.log(low), math.log(high), size))

    timeout = max(0.01, 1.5 / rate)
    stiffness = np.r_[spread(1, 5e3, 3), spread(0.1, 300, 3)] * (rng.random(6) < 0.5)
    presses = (rng.random(6) < 0.3) & (rng.random() < 0.4)
    jerk = rng.random() < 0.3
    return {
        "admittance.mass": np.r_[spread(0.2, 100, 3), spread(0.02, 10, 3)].tolist(),
        "admittance.stiffness": stiffness.tolist(),
        "admittance.orientation": (rng.normal(size=3) * (rng.random() < 0.5)).tolist(),
        "admittance.damping_ratio": spread(0.2, 5, 6).tolist(),
        "admittance.enabled_axes": (rng.random(6) < 0.85).tolist(),
        "admittance.ramp_seconds": float(rng.choice([0.0, 0.1, 0.5])),
        "admittance.filter_coefficient": float(rng.choice([0.1, 0.8, 1.0])),
        "admittance.deadband_force": float(rng.choice([0.0, 1.5])),
        "admittance.deadband_torque": float(rng.choice([0.0, 0.2])),
        "admittance.deadband_kind": str(rng.choice(["soft", "hard"])),
        "tracking.velocity_gain": float(rng.choice([0.0, 1.0, 5.0, 30.0, 100.0])),
        "max_linear_velocity": float(spread(0.02, 3)),
        "max_angular_velocity": float(spread(0.05, 5)),
        "limits.max_linear_acceleration": float(spread(0.1, 30)),
        "limits.max_angular_acceleration": float(spread(0.2, 60)),
        "limits.max_linear_jerk": float(spread(5, 500)) if jerk else 0.0,
        "limits.max_angular_jerk": float(spread(5, 500)) if jerk else 0.0,
        "ik.damping": float(spread(0.005, 0.5)),
        "ik.singularity_threshold": float(spread(0.003, 0.1)),
        "safety.max_force": float(rng.choice([200.0, 5000.0])),
        "safety.max_torque": float(rng.choice([30.0, 1000.0])),
        "safety.spike_force": float(rng.choice([0.0, 100.0])),
        "contact.adapt": bool(rng.random() < 0.5),
        "contact.monitor": bool(rng.random() < 0.5),
        "contact.force_noise": 0.5,
        "force.enabled_axes": presses.tolist(),
        "force.target": (rng.normal(size=6) * [20, 20, 20, 2, 2, 2]).tolist(),
        "force.max_speed": spread(0.01, 1, 6).tolist(),
        "force.max_travel": spread(0.001, 1, 6).tolist(),
        "force.approach_speed": spread(0.005, 0.5, 6).tolist(),
        "arm.lag": float(rng.choice([0.0, 0.005, 0.02])),
        "limits.max_contact_braking": float(rng.choice([0.0, 5.0, 15.0, 50.0])),
        "safety.wrench_timeout": timeout,
        "safety.joint_timeout": timeout,
        "safety.lost_timeout": 10 * timeout,
    }


def _rotation(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)
