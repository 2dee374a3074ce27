"""Thousands of closed loops in one call, in parallel threads: to tune, to count, to learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import as_numbers, desired_pose, quaternion_of
from ur_admittance.controller.packing import pack
from ur_admittance.errors import AdmittanceError, ConfigError
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import announced
from ur_admittance.model import RobotModel
from ur_admittance.rollout.plant import (
    ARM,
    GOAL,
    LANE,
    LONGEST_DELAY,
    NOISE,
    RUN,
    SURFACE,
    run_all,
)


@dataclass(frozen=True)
class LaggedArm:
    """An arm that makes the commanded joint velocities late and smoothed.

    Attributes:
        time_constant: of the first-order lag of every joint, s.
        delay: ticks between a command and its first effect; parts of a tick count, too.
        mode_frequency: of the first structural mode, Hz; 0: a rigid arm. Its encoders do not see
            how it bends.
        mode_damping: ratio of that mode.
        mode_mass: what swings with the tool, kg.
    """

    time_constant: float = 0.02
    delay: float = 2
    mode_frequency: float = 0.0
    mode_damping: float = 0.05
    mode_mass: float = 5.0


@dataclass(frozen=True)
class Strip:
    """A strip of a surface that is deeper (a groove, an edge) or stiffer.

    Attributes:
        along: across the strip, in W.
        start: where it begins, m along that from the surface's point.
        end: where it ends, m.
        drop: how much deeper it is, m. The force stays along the normal of the whole surface.
        flank: over how many m it gets that deep and that stiff.
        stiffer: its stiffness, in that of the surface.
    """

    along: tuple[float, float, float]
    start: float
    end: float = math.inf
    drop: float = 0.0
    flank: float = 0.003
    stiffer: float = 1.0


@dataclass(frozen=True)
class Surface:
    """A plane, or a ball, that pushes back: force = stiffness * depth - damping * (velocity along
    the normal), never pulling.

    Attributes:
        point: any point of the plane, m in W.
        normal: out of the material there, in W.
        stiffness: N/m.
        damping: N s/m.
        friction: coefficient; the tool sticks to the surface, as stiff as that, before it slips.
        radius: of the ball that the surface is, m; negative: of a hollow one; 0: a plane.
        strip: where the surface is another one, if anywhere.
    """

    point: tuple[float, float, float]
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    stiffness: float = 10_000.0
    damping: float = 0.0
    friction: float = 0.0
    radius: float = 0.0
    strip: Strip | None = None


@dataclass(frozen=True)
class Noise:
    """What the sensors add to the truth: normal and independent from tick to tick.

    Attributes:
        force: standard deviation, N.
        torque: Nm.
        joints: of the joint angles, rad.
        seed: of the first run; the others follow.
    """

    force: float = 0.1
    torque: float = 0.005
    joints: float = 3e-6
    seed: int = 1


@dataclass(frozen=True)
class Rollout:
    """What happened, by run and kept tick.

    Attributes:
        outputs: output records, shape (runs, kept): `outputs["X_WP"][3, :, 0, 3]` is the x of run 3
            over time.
        ticks: how many ticks were run in all.
        contact: force of the surface on the tool, N in W, shape (runs, kept, 3).
    """

    outputs: np.ndarray
    ticks: int
    contact: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        """A field of the outputs, such as `rollout["qd"]`, shape (runs, kept, ...)."""
        return self.outputs[name]


def rollout(
    model: RobotModel,
    configs: Config | Sequence[Config],
    wrenches: ArrayLike,
    *,
    q0: ArrayLike | None = None,
    dt: ArrayLike = 0.002,
    arm: LaggedArm | Sequence[LaggedArm] | None = None,
    surface: Surface | Sequence[Surface] | None = None,
    noise: Noise | Sequence[Noise] | None = None,
    desired: tuple[ArrayLike, ArrayLike] | None = None,
    wrench_axes: str = "probe",
    every: int = 1,
    threads: int | None = None,
) -> Rollout:
    """Run the controller in closed loop, once for every configuration, start or wrench sequence.

    Args:
        model: the arm.
        configs: one, or one for each run.
        wrenches: what pushes the tool at P, N and Nm: (ticks, 6) for all runs, or (runs, ticks, 6).
        q0: joint angles at the start, rad: (6,) or (runs, 6). Default: `model.home`.
        dt: s; one number, or one for each tick.
        arm: None for an ideal arm that does what it is told at once; one, or one for each run.
        surface: a plane the tool may touch; one, or one for each run.
        noise: of the sensors; one, or one for each run.
        desired: what a planner gives before each tick: poses of P (ticks, 4, 4) and twists (ticks,
            6) m/s and rad/s, or both with a first axis for the runs. Default: none.
        wrench_axes: axes of `wrenches`: "probe", or "world".
        every: keep one tick of so many.
        threads: at most this many. Default: all cores.
    """
    if not isinstance(model, RobotModel):
        raise AdmittanceError(f"rollout: model must be a RobotModel, got {model!r:.100}")
    if wrench_axes not in ("probe", "world"):
        raise AdmittanceError(
            f"rollout: wrench_axes must be 'probe' or 'world', got {wrench_axes!r}"
        )
    if not (isinstance(every, int) and every >= 1):
        raise AdmittanceError(f"rollout: every must be a whole number of at least 1, got {every!r}")
    if not (threads is None or (isinstance(threads, int) and threads >= 1)):
        raise AdmittanceError(f"rollout: threads must be a whole number >= 1, got {threads!r}")
    each = [configs] if isinstance(configs, Config) else configs
    if not (isinstance(each, Sequence) and each and all(isinstance(c, Config) for c in each)):
        raise ConfigError(f"rollout: configs must be Config objects, got {configs!r:.100}")
    configs = list(each)
    W = _batched("wrenches", wrenches, 3)
    Q = _batched("q0", model.home if q0 is None else q0, 2)
    if not np.isfinite(Q).all():
        raise AdmittanceError("rollout: q0 must be finite joint angles in rad")
    arms, surfaces = _records(arm, _arm, ARM), _records(surface, _surface, SURFACE)
    noises = _records(noise, _noise, NOISE)
    count = _common_length(
        {
            "configs": len(configs),
            "wrenches": len(W),
            "q0": len(Q),
            "arm": len(arms),
            "surface": len(surfaces),
            "noise": len(noises),
        }
    )
    goals = _goals(desired, W.shape[1], count)
    D = _numbers("dt", dt).ravel()
    if len(D) not in (1, W.shape[1]) or not np.all((D > 0) & (D <= 0.1)):
        raise AdmittanceError(
            "rollout: dt must be in (0, 0.1] s, one number or one for each of the "
            f"{W.shape[1]} ticks"
        )
    params = np.concatenate([pack(config, model) for config in configs])
    ticks = W.shape[1]
    runs = np.zeros(count, RUN)
    numbers = np.arange(count)
    runs["params"], runs["q0"] = numbers % len(configs), Q
    runs["arm"], runs["surface"], runs["noise"] = arms, surfaces, noises
    own = noises["seed"] if len(noises) == count else noises["seed"] + numbers
    runs["noise"]["seed"] = 1 + (own * 7919 + 1) * 104729 % 2147483646
    history = np.zeros((count, -(-ticks // every)), layout.OUTPUTS)
    felt = np.zeros((*history.shape, 3))
    cores = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    used = max(1, min(cores, threads or cores))
    rest = (
        np.zeros(min(count, used * 4), LANE), layout.new_state(), W, goals, D,
        wrench_axes == "world", every, history, felt,
    )  # fmt: skip
    before = numba.get_num_threads()
    numba.set_num_threads(used)
    try:
        with announced("the parallel kernel", run_all):
            run_all(params, runs[:0], *rest)  # no run: compiles, or loads, what is needed
        run_all(params, runs, *rest)
    finally:
        numba.set_num_threads(before)
    return Rollout(history, count * ticks, felt)


def _batched(name: str, value: ArrayLike, dimensions: int) -> np.ndarray:
    """A float array whose last axis is six long, with a first axis for the runs."""
    shape = "(ticks, 6) or (runs, ticks, 6)" if dimensions == 3 else "(6,) or (runs, 6)"
    array = _numbers(name, value)
    if array.ndim == dimensions - 1:
        array = array[None]
    if array.ndim != dimensions or array.shape[-1] != 6 or 0 in array.shape:
        raise AdmittanceError(f"rollout: {name} must have the shape {shape}, got {np.shape(value)}")
    return array


def _goals(desired: tuple[ArrayLike, ArrayLike] | None, ticks: int, runs: int) -> np.ndarray:
    """Goals, (1 or runs, ticks); no ticks where there is no planner."""
    if desired is None:
        return np.zeros((1, 0), GOAL)
    X, V = (_numbers("desired", part) for part in desired)
    X, V = X[None] if X.ndim == 3 else X, V[None] if V.ndim == 2 else V
    if X.shape[1:] != (ticks, 4, 4) or V.shape != (len(X), ticks, 6) or len(X) not in (1, runs):
        raise AdmittanceError(
            f"rollout: desired must be poses ({ticks}, 4, 4) and twists ({ticks}, 6), or "
            f"{runs} times as many, got {X.shape} and {V.shape}"
        )
    goals = np.zeros(X.shape[:2], GOAL)
    goals["p"], goals["V"] = X[:, :, :3, 3], V
    for run, poses in enumerate(X):
        turned = np.r_[True, np.any(np.diff(poses[:, :3, :3], axis=0) != 0, axis=(1, 2))]
        wxyz = [quaternion_of(desired_pose(pose)) for pose in poses[turned]]
        goals["wxyz"][run] = np.array(wxyz)[np.cumsum(turned) - 1]
    return goals


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    return as_numbers(value, f"rollout: {name}", None, nan=True, error=AdmittanceError)


def _common_length(lengths: dict[str, int]) -> int:
    runs = max(lengths.values())
    if any(n not in (1, runs) for n in lengths.values()):
        got = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise AdmittanceError(f"rollout: give one of each, or as many as there are runs; got {got}")
    return runs


def _records(given: Any, fields: Callable[[Any], tuple], dtype: np.dtype) -> np.ndarray:
    """One record for each arm, surface or noise; one of zeros for none."""
    if given is None:
        return np.zeros(1, dtype)
    each = list(given) if isinstance(given, Sequence) else [given]
    return np.array([fields(one) for one in each], dtype)


def _arm(arm: LaggedArm) -> tuple:
    if not isinstance(arm, LaggedArm):
        raise AdmittanceError(f"rollout: arm must be a LaggedArm or None, got {arm!r:.100}")
    lag, delay = _each_number(arm, "arm", "time_constant", "delay")
    if not (0 <= delay < LONGEST_DELAY - 1 and lag >= 0):
        raise AdmittanceError(
            f"rollout: an arm needs 0 <= delay < {LONGEST_DELAY - 1} ticks and time_constant >= 0 "
            f"s, got {arm}"
        )
    frequency, ratio, mass = _each_number(arm, "arm", "mode_frequency", "mode_damping", "mode_mass")
    if not (frequency >= 0 and ratio >= 0 and mass > 0 and (lag > 0 or frequency == 0)):
        raise AdmittanceError(
            "rollout: a structural mode needs mode_frequency and mode_damping >= 0, mode_mass > 0 "
            f"and a time_constant > 0, got {arm}"
        )
    return lag, delay, math.tau * frequency, ratio, mass


def _surface(surface: Surface) -> tuple:
    if not isinstance(surface, Surface):
        raise AdmittanceError(f"rollout: surface must be a Surface or None, got {surface!r:.100}")
    point = as_numbers(surface.point, "surface.point", (3,))
    normal = as_numbers(surface.normal, "surface.normal", (3,))
    values = _each_number(surface, "surface", "stiffness", "damping", "friction")
    length = np.linalg.norm(normal)
    if not length > 0:
        raise AdmittanceError("rollout: surface.normal must not be zero")
    if not min(values) >= 0:
        raise AdmittanceError(
            "rollout: surface.stiffness, .damping and .friction must be 0 or more"
        )
    curvature = 0.0 if surface.radius == 0.0 else 1.0 / surface.radius
    return True, point, normal / length, *values, curvature, *_strip(surface.strip)


def _strip(strip: Strip | None) -> tuple:
    if strip is None:
        return (0.0, 0.0, 0.0), math.inf, math.inf, 0.0, 1.0, 1.0
    along = as_numbers(strip.along, "surface.strip.along", (3,))
    if not (np.linalg.norm(along) > 0 and strip.flank > 0 and strip.stiffer >= 0):
        raise AdmittanceError(
            "rollout: surface.strip needs a direction that is not zero, a flank > 0 m and a "
            f"stiffer >= 0, got {strip}"
        )
    numbers = (strip.start, strip.end, strip.drop, strip.flank, strip.stiffer)
    return along / np.linalg.norm(along), *numbers


def _noise(noise: Noise) -> tuple:
    if not isinstance(noise, Noise):
        raise AdmittanceError(f"rollout: noise must be a Noise or None, got {noise!r:.100}")
    values = _each_number(noise, "noise", "force", "torque", "joints")
    if not (min(values) >= 0 and isinstance(noise.seed, int) and 0 <= noise.seed < 2**31):
        raise AdmittanceError(
            f"rollout: noise must be 0 or more, and so must its seed, a whole number, got {noise}"
        )
    return *values, noise.seed


def _each_number(of: Any, name: str, *fields: str) -> list[float]:
    """These fields of an arm, a surface or a noise, each a number."""
    return [float(as_numbers(getattr(of, field), f"{name}.{field}", ())) for field in fields]
