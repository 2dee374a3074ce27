"""What every implementation is timed on: one arm, one configuration, one recorded push and pull."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import expm

from ur_admittance.config import Config
from ur_admittance.config.validate import transform
from ur_admittance.controller import Controller
from ur_admittance.controller.packing import pack
from ur_admittance.kernel import bits
from ur_admittance.model import RobotModel

DT = 0.002  # s
TICKS = 2000  # 4 s, recorded once and replayed
DELAY = 5  # ticks by which the recorded arm follows its command, so that there is an error to track
RIVAL_DAMPING = 1e-5  # of the rivals' least squares: they must agree with J^-1 to 1e-6

SETTINGS: dict[str, Any] = {
    "admittance": {
        "frame": "probe",
        "mass": [8, 8, 8, 0.8, 0.8, 0.8],
        "stiffness": [200, 200, 200, 20, 20, 20],
        "damping_ratio": [1] * 6,
        "engage_seconds": 0,
        "filter_cutoff_hz": 40,
        "deadband_force": 1.0,
        "deadband_torque": 0.1,
    },
    "payload": {
        "mass": 0.7,
        "center_of_mass": [0.0, 0.01, 0.05],
        "force_bias": [0.4, -0.3, 1.1],
        "torque_bias": [0.02, 0.01, -0.03],
    },
}


@dataclass
class Workload:
    """A model, a configuration and the measurements of `TICKS` ticks."""

    model: RobotModel
    config: Config
    q: np.ndarray  # (n, 6) rad
    wrench: np.ndarray  # (n, 6) as the sensor reports it
    dt: np.ndarray  # (n,) s
    qd: np.ndarray  # (n, 6) rad/s, what our controller made of it
    status: int  # all bits that were set meanwhile


def arm() -> RobotModel:
    """A UR5e with a probe 15 cm beyond its sensor, turned by an eighth."""
    X_EP = transform((0.0, 0.02, 0.15), (math.cos(math.pi / 8), 0, 0, math.sin(math.pi / 8)))
    return RobotModel.ur("ur5e", X_EP=X_EP, X_ES=np.eye(4))


def start() -> np.ndarray:
    """Near the arm's home, but not there: no exact zeros that help or hurt an implementation."""
    return arm().home + np.array([0.3, -0.11, 0.17, -0.23, 0.19, 0.4])


def free() -> Workload:
    """The main one: no limit is ever met, so that all implementations must agree."""
    workload = record(SETTINGS, start(), push)
    if workload.status:
        raise RuntimeError(f"the free workload met a limit or a fault: {workload.status:#x}")
    return workload


def special_cases() -> dict[str, Workload]:
    """Where our tick has more to do than in free space."""
    home = start()
    floor = float(arm().fk(home)[2, 3]) - 0.03
    wall = {"limits": {"workspace_min": [-10, -10, floor]}}
    folded, far = home.copy(), home.copy()
    folded[4] = -0.02  # the wrist's axes nearly in line
    far[5] = arm().q_max[5] - 0.0873 - 0.05  # the margin, and 0.05 rad
    cases = {
        "dt that varies": (0, record(SETTINGS, home, push, jitter=2e-5)),
        "held by a wall": (
            bits.WORKSPACE_LIMIT,
            record(SETTINGS | wall, home, steady((0.0, 0.0, 16.0), (0.0, 0.0, 0.0))),
        ),
        "at a singularity": (bits.SINGULARITY, record(SETTINGS, folded, push)),
        "joint at its end": (
            bits.JOINT_POSITION_LIMIT,
            record(SETTINGS, far, steady((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))),
        ),
    }
    for name, (wanted, workload) in cases.items():
        if workload.status & wanted != wanted or workload.status >> 32:
            raise RuntimeError(f"workload {name!r}: status {workload.status:#x}, not {wanted:#x}")
    return {name: workload for name, (_, workload) in cases.items()}


def push(t: float) -> np.ndarray:
    """Slow waves of force [N] and torque [Nm] at the sensor that start and stay gentle."""
    waves = np.sin(2 * np.pi * t * np.array([0.5, 0.4, 0.3, 0.45, 0.35, 0.55]))
    return min(1.0, t) * np.array([9.0, 7.0, 8.0, 0.8, 0.7, 0.9]) * waves


def steady(force: Sequence[float], torque: Sequence[float]) -> Callable[[float], np.ndarray]:
    """A constant wrench at the sensor, reached within a second."""
    return lambda t: min(1.0, t) * np.array([*force, *torque])


def record(
    settings: dict[str, Any],
    q0: np.ndarray,
    pushed: Callable[[float], np.ndarray],
    jitter: float = 0.0,
    ticks: int = TICKS,
) -> Workload:
    """Close the loop once around a late arm, and keep what the controller was given."""
    config, model, rng = Config.from_dict(settings), arm(), np.random.default_rng(1)
    payload = config.payload
    bias = np.array([*payload.force_bias, *payload.torque_bias])
    dt = DT + jitter * rng.uniform(-1, 1, ticks)
    q, wrench, qd, status = np.empty((ticks, 6)), np.empty((ticks, 6)), np.zeros((ticks, 6)), 0
    controller = Controller(model, config)
    controller.activate(q0)
    q[0] = q0
    for k in range(ticks):
        if k > 0:
            q[k] = q[k - 1] + (qd[k - 1 - DELAY] * dt[k] if k > DELAY else 0.0)
        R_WS = model.fk(q[k])[:3, :3] @ model.X_EP[:3, :3].T
        weight = payload.mass * R_WS.T @ payload.gravity
        felt = np.concatenate([weight, np.cross(payload.center_of_mass, weight)]) + bias
        noise = rng.normal(0.0, [0.05] * 3 + [0.003] * 3)
        wrench[k] = felt + pushed(k * DT) + noise
        out = controller.update(q[k], wrench[k], dt[k])
        qd[k] = out["qd"]
        status |= int(out["status"])
    return Workload(model, config, q, wrench, dt, qd, status)


def exact_steps(params: np.ndarray, dt: float) -> np.ndarray:
    """(6, 6): `vv vx vF xv xx xF` of `m a + d v + k x = F` over dt, by matrix exponential."""
    p = params[0]
    steps = np.empty((6, 6))
    for n in range(6):
        m, d, k = p.mass[n], p.damping[n], p.stiffness[n]
        A = np.array([[-d / m, -k / m, 1 / m], [1, 0, 0], [0, 0, 0]])
        E = expm(A * dt)
        steps[n] = [*E[0], E[1, 0], E[1, 1] - 1, E[1, 2]]
    return steps


def rival_parameters(workload: Workload) -> dict[str, np.ndarray]:
    """What the rivals need to know, in the order of `Parameters` in cpp/harness.hpp."""
    params = pack(workload.config, workload.model)
    p = params[0]
    own = {
        "filter_gain": -math.expm1(-DT / p.filter_time_constant),
        "step": exact_steps(params, DT),
        "ik_damping": RIVAL_DAMPING,
    }
    names = """
        chain_R chain_p R_PS p_PS q_min q_max qd_max qdd_max bias payload_mass payload_com gravity
        max_force max_torque filter_gain deadband_force deadband_torque step velocity_gain
        max_joint_lead leak v_max w_max a_max alpha_max workspace_min workspace_max ik_damping
    """
    return {name: np.array(own[name] if name in own else p[name]) for name in names.split()}


def write_files(workload: Workload, folder: Path) -> tuple[Path, Path]:
    """The parameters and the inputs as float64, for the C++ programs."""
    parameters, inputs = folder / "parameters.bin", folder / "inputs.bin"
    numbers = [value.ravel() for value in rival_parameters(workload).values()]
    np.concatenate(numbers).astype(np.float64).tofile(parameters)
    np.hstack([workload.q, workload.wrench, workload.dt[:, None]]).tofile(inputs)
    return parameters, inputs
