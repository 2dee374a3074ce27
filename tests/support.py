"""What the tests share: a free configuration, poses, and a closed loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tests.oracle.judge import oracle as oracle
from tests.oracle.piece import ANGULAR as ANGULAR
from tests.oracle.piece import LINEAR as LINEAR
from tests.oracle.piece import lengths as lengths
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import layout
from ur_admittance.realtime import RealTime, prepare, restore

AXES = ("x", "y", "z", "rx", "ry", "rz")
ZERO = np.zeros(6)

FREE = {
    "admittance.mass": [8.0, 8.0, 8.0, 0.8, 0.8, 0.8],
    "admittance.damping": [80.0, 80.0, 80.0, 4.0, 4.0, 4.0],
    "admittance.engage_seconds": 0.0,
    "admittance.filter_coefficient": 1.0,
    "admittance.deadband_force": 0.0,
    "admittance.deadband_torque": 0.0,
    "admittance.drift_reset_threshold": 0.0,
    "tracking.velocity_gain": 0.0,
    "tracking.max_joint_lead": 1.0,
    "max_linear_velocity": 5.0,
    "max_angular_velocity": 10.0,
    "limits.max_linear_acceleration": 50.0,
    "limits.max_angular_acceleration": 100.0,
    "limits.workspace_min": [-100.0] * 3,
    "limits.workspace_max": [100.0] * 3,
    "limits.joint_margin": 0.0,
    "safety.max_force": 5000.0,
    "safety.max_torque": 1000.0,
    "safety.spike_force": 0.0,
    "safety.spike_torque": 0.0,
    "safety.max_tracking_error": 1.0,
    "safety.max_tracking_rotation": 1.5,
    "safety.tracking_timeout": 10.0,
}


def free_config(**changes: Any) -> Config:
    """The law alone: no filter, deadband, spike gate, re-anchoring or tracking; wide limits."""
    base = dict(FREE)
    if "admittance.filter_cutoff_hz" in changes:
        del base["admittance.filter_coefficient"]
    return Config.from_dict({**base, **changes})


@cache
def arm(name: str = "ur5e") -> RobotModel:
    return RobotModel.ur(name)


@cache
def real_time_granted() -> bool:
    """Whether this machine gives a process a real-time priority."""
    try:
        return not prepare(RealTime(priority=1, lock_memory=False, awake=False))
    finally:
        restore()


def controller_of(config: Config | None = None, model: RobotModel | None = None) -> Controller:
    """A controller that is active at the model's home."""
    controller = Controller(arm() if model is None else model, config)
    controller.activate(controller.model.home)
    return controller


def pose(R: np.ndarray | Rotation, p: Any = (0, 0, 0)) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3] = R.as_matrix() if isinstance(R, Rotation) else R
    X[:3, 3] = p
    return X


def random_pose(rng: np.random.Generator, reach: float = 0.3) -> np.ndarray:
    return pose(Rotation.random(None, rng), rng.uniform(-reach, reach, 3))


def moved(X: np.ndarray, shift: Any = (0, 0, 0), turn: Any = (0, 0, 0)) -> np.ndarray:
    """X shifted [m] and turned about its own origin [rad], both in W axes."""
    return pose(Rotation.from_rotvec(turn).as_matrix() @ X[:3, :3], X[:3, 3] + np.asarray(shift))


def turned(R: np.ndarray, wrench: Any) -> np.ndarray:
    """The same wrench or twist in other axes, at the same point: R on both its parts."""
    wrench = np.asarray(wrench, float)
    return np.concatenate([R @ wrench[LINEAR], R @ wrench[ANGULAR]])


Wrench = np.ndarray | Callable[[int, np.ndarray], np.ndarray]


def run(
    controller: Controller,
    q: Any,
    wrench: Wrench = ZERO,
    ticks: int | None = None,
    dt: Any = 0.002,
    *,
    speed: float = 1.0,
    **ages: float,
) -> np.ndarray:
    """The closed loop from joint angles `q`, with an arm that does what it is told at once.

    Args:
        wrench: what the sensor reports: (6,), (ticks, 6), or a function of the tick and the joints.
        ticks: how many; by default one for each row of `wrench`, or 500.
        dt: s; one number, or one for each tick.
        speed: what the arm makes of the commanded speed; 0 is an arm that stands still.
        ages: `wrench_age` and `joint_age`, s.

    Returns:
        The output records (ticks,).
    """
    if ticks is None:
        ticks = 500 if callable(wrench) or np.ndim(wrench) == 1 else len(wrench)
    history = np.empty(ticks, layout.OUTPUTS)
    q = np.array(q, float)
    dts = np.broadcast_to(np.asarray(dt, float), (ticks,))
    if not callable(wrench):
        samples = np.broadcast_to(wrench, (ticks, 6)).copy()
    for k in range(ticks):
        sample = wrench(k, q) if callable(wrench) else samples[k]
        out = controller.update(q, sample, float(dts[k]), **ages)
        history[k] = out
        q = q + speed * out["qd"] * out["dt"]
    return history


def q_after(history: np.ndarray, speed: float = 1.0) -> np.ndarray:
    """Where the joints are when the last command of a run has acted."""
    last = history[-1]
    return last["q"] + speed * last["qd"] * last["dt"]


def seconds_in_law(history: np.ndarray) -> np.ndarray:
    """The time the law has been stepped at each tick of a run: the first tick only seeds it."""
    return np.cumsum(history["dt"]) - history["dt"][0]


def names_in(history: np.ndarray) -> set[str]:
    """The names of everything the status said during a run."""
    seen = int(np.bitwise_or.reduce(np.atleast_1d(history["status"])))
    return {fault.name for fault in FAULTS if seen & fault.mask}


def scenario() -> np.ndarray:
    """A few hundred ticks that go through most of the kernel; the same wherever they are run."""
    model = arm()
    top = float(model.fk(model.home)[2, 3])
    config = Config.from_dict(
        {
            "admittance.stiffness": [0, 200, 0, 10, 0, 0],
            "admittance.engage_seconds": 0.05,
            "admittance.ramp_seconds": 0.05,
            "limits.workspace_max": [5, 5, top + 0.01],
            "limits.max_angular_jerk": 100.0,
            "payload.mass": 1.0,
            "payload.center_of_mass": [0.01, 0, 0.05],
            "payload.compensate_inertia": True,
        }
    )
    controller = Controller(model, config)
    controller.activate(model.home)
    weight = np.array([0, 0, 9.81, 0, -0.0981, 0])
    swing = np.sin(np.arange(60)[:, None] / [9, 7, 11, 8, 13, 10])
    acts = [run(controller, model.home, weight + swing * [15, 15, 5, 1, 1, 1])]

    def act(wrench: Any, ticks: int | None = None, **more: Any) -> None:
        acts.append(run(controller, q_after(acts[-1]), weight + wrench, ticks, **more))

    act(np.array([0.0, 0, -60, 0, 0, 0]), 60)  # up, against a wall
    gains = {"admittance.mass": [4, 4, 4, 0.5, 0.5, 0.5], "admittance.stiffness": [0] * 6}
    controller.set(**gains)
    act(np.array([10.0, 0, 0, 0, 0, 1]), 40, dt=0.003)
    controller.set_desired(moved(acts[-1]["X_WP"][-1], [0.02, 0, -0.05], [0.1, 0, 0.2]))
    act(ZERO, 60)
    act(np.full(6, np.nan), 6)  # a hold, and out of it again
    act(ZERO, 90)
    act(np.array([5.0, 5, 0, 0, 0, 0]), 10, dt=-1.0)
    controller.stop()
    act(ZERO, 60)
    q = model.home + np.array([0, 0.4, 0.3, 0, 1.54, 0])  # a straight wrist
    controller.activate(q)
    acts.append(run(controller, q, weight + np.array([8, 8, 0, 1, 1, 0]), 80))
    controller.deactivate()
    act(ZERO, 60)
    return np.concatenate(acts)


def touching(ticks: int = 250) -> np.ndarray:
    """A run onto steel, 5 mm below, with all that is done about contact."""
    on = {"contact.adapt": True, "contact.monitor": True, "arm.lag": 0.005}
    controller = Controller(arm(), Config.from_dict(on))
    top = float(arm().fk(arm().home)[2, 3]) - 0.005
    controller.activate(arm().home)

    def felt(_: int, q: np.ndarray) -> np.ndarray:
        depth = max(0.0, top - float(arm().fk(q)[2, 3]))
        return np.array([1.0, 0, 10.0 - 50e3 * depth, 0, 0, 0])

    return run(controller, arm().home, felt, ticks)
