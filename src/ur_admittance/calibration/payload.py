"""Payload and bias from readings in many poses, with how good they are; or why not.

    estimate = payload.estimate(measured)          # Refused, with the reason, or numbers
    estimate.mass, estimate.errors["mass"], estimate.verdict, estimate.deadband_force

A pure function of orientations and readings: no robot, clock or file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.calibration.diagnosis import explain, judge_residuals, rms
from ur_admittance.calibration.measured import Measured, Readings, Refused, read
from ur_admittance.calibration.payload_fit import NAMES, Fit, fit, predict, slopes
from ur_admittance.config.validate import as_numbers
from ur_admittance.errors import CalibrationError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

GRAVITY = (0.0, 0.0, -9.81)  # m/s^2
GOOD_FORCE, GOOD_TORQUE = 1.5, 0.3  # N, Nm: a deadband one hardly feels
_MOST_FORCE, _MOST_TORQUE = 10.0, 2.0  # N, Nm: beyond, nothing is left to guide an arm with
_EARTH = (9.76, 9.84)  # m/s^2, from the equator to the poles, with a little room
_FARTHEST = 0.5  # m: no tool's centre of mass is farther from its sensor
_MILLIMETRES = 4.0  # m: beyond, the unit is likelier wrong than the tool
_LIGHTEST = 0.02  # kg
_HEAVIEST = 40.0  # kg: more than any UR arm carries
_SPREAD = 0.15  # of the directions of gravity, along the second of three
_SURE = 5.0  # standard errors of a mass that is there
_ODDS, _ODDS_ERRORS = 0.05, 4.0  # share and standard errors by which a known mass may be missed
_SIGMAS, _NOISE_SIGMAS = 3.5, 4.0
_DIRECTIONS = 200


@dataclass(frozen=True)
class Estimate:
    """What hangs on the sensor, what the sensor reads without it, and how sure that is."""

    mass: float  # kg
    center_of_mass: np.ndarray  # (3,) m, in sensor axes
    force_bias: np.ndarray  # (3,) N
    torque_bias: np.ndarray  # (3,) Nm
    gravity: np.ndarray  # (3,) m/s^2, at the base
    # (3,) rad, rotation vector from the sensor's axes as the model has them to the true ones; zero
    # if it was not asked for
    mounting: np.ndarray
    errors: Mapping[str, float]  # standard error of each fitted parameter, by name, in its unit
    condition: float  # of the fit; above 100 the poses do not tell all parameters apart
    unseen: tuple[str, ...]  # which, in words
    noise: np.ndarray  # (6,) of one reading, N and Nm rms
    residuals: np.ndarray  # (n, 6) of the poses used, N and Nm
    held_out: np.ndarray  # (n, 6) likewise, each pose predicted from all others
    left_force: float  # N that stay unexplained at most, in any pose
    left_torque: float  # Nm, likewise
    deadband_force: float  # N that a deadband needs to take away that, and the noise
    deadband_torque: float  # Nm, likewise
    verdict: str  # 'good' or 'usable'; usable needs a deadband that is felt
    poses: tuple[int, ...]  # numbers of the poses used, from 0
    R_WS: np.ndarray  # (n, 3, 3) their orientations
    left_out: tuple[int, ...]  # numbers of the poses that were not still

    @property
    def residual_force(self) -> float:
        """N rms."""
        return rms(self.residuals[:, LINEAR])

    @property
    def residual_torque(self) -> float:
        """Nm rms."""
        return rms(self.residuals[:, ANGULAR])


def estimate(
    measured: Sequence[Measured],
    *,
    gravity: ArrayLike = GRAVITY,
    mounting: bool = False,
    tilt: bool = False,
    known_mass: float | None = None,
    sensor_range: Sequence[float] | None = None,
    real: bool = True,
) -> Estimate:
    """Mass, centre of mass and bias that explain the readings.

    Args:
        measured: six poses or more, in which gravity pulls at the sensor from different sides.
        gravity: m/s^2 (3,), in base axes.
        mounting: find the sensor's rotation, too, up to 15 degrees.
        tilt: find the direction of gravity, too; its size stays.
        known_mass: kg, by a scale: refused if another one is found.
        sensor_range: (6,) greatest reading of each axis, N and Nm.
        real: a real sensor, which never says the same twice.

    Raises:
        Refused: with the reason, and what to do about it.
    """
    g = as_numbers(gravity, "payload.gravity", (3,), unit="m/s^2", error=CalibrationError)
    size = float(np.linalg.norm(g))
    if not _EARTH[0] <= size <= _EARTH[1]:
        raise Refused(
            "planet",
            f"payload.gravity is {size:.3g} m/s^2 long; anywhere on Earth it is {_EARTH[0]} to "
            f"{_EARTH[1]}: put it right, or every mass is wrong",
        )
    readings = read(measured, sensor_range=sensor_range, real=real)
    _check_spread(readings, g)
    found = fit(readings, g, mounting=mounting, tilt=tilt)
    explain(readings, found, g, tilt=tilt)
    _check_weight(found)
    _check_plausible(found)
    judge_residuals(readings, found)
    if known_mass is not None:
        _check_known_mass(found, known_mass)
    return _judged(readings, found, g)


def lacking(R_WS: np.ndarray, gravity: ArrayLike = GRAVITY) -> tuple[float, str]:
    """How evenly gravity has pulled at the sensor so far, and along which axis it has not.

    Args:
        R_WS: (n, 3, 3) orientations of the sensor.

    Returns:
        The second greatest spread of gravity's direction, 0 to 0.6 (0.15 is needed), and the sensor
        axis along which its direction has changed least.
    """
    g = np.asarray(gravity, dtype=float)
    u = np.einsum("nji,j->ni", np.asarray(R_WS, dtype=float).reshape(-1, 3, 3), g)
    if len(u) < 3:
        return 0.0, "xyz"[int(np.abs(u).sum(axis=0).argmin())]
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(u - u.mean(axis=0), full_matrices=False)
    return float(s[1] / np.sqrt(len(u))), "xyz"[int(np.abs(Vt[2]).argmax())]


def _check_spread(readings: Readings, gravity: np.ndarray) -> None:
    spread, axis = lacking(readings.R_WS, gravity)
    if spread < _SPREAD:
        raise Refused(
            "too similar",
            f"the {len(readings)} poses are too similar: gravity's direction in the sensor spreads "
            f"by {spread:.2f}, {_SPREAD} is needed; tilt the tool so that its weight also pulls "
            f"along the sensor's {axis}",
        )


def _check_weight(found: Fit) -> None:
    error = found.errors()[0]
    if found.mass <= max(_SURE * error, _LIGHTEST):
        raise Refused(
            "no weight",
            f"no weight is seen: {1e3 * found.mass:.1f} g, +- {1e3 * error:.1f}. Does the robot or "
            "the driver subtract the payload already, are the readings in kN, or does the sensor "
            "sit behind the tool?",
        )


def _check_plausible(found: Fit) -> None:
    if found.mass > _HEAVIEST:
        raise Refused(
            "too heavy",
            f"a mass of {found.mass:.4g} kg: no UR arm carries more than {_HEAVIEST:g}. Are the "
            f"readings in mN? Then it would be {found.mass / 1e3:.3g} kg",
        )
    reach = float(np.linalg.norm(found.center_of_mass))
    where = f"{found.mass:.3g} kg with a centre of mass {reach:.3g} m from the sensor"
    if reach > _MILLIMETRES:
        raise Refused(
            "millimetres",
            f"{where}: outside any tool. Are the torques in N mm? Then it would be {reach:.0f} mm",
        )
    if reach > _FARTHEST:
        raise Refused(
            "outside",
            f"{where}: outside any tool, at most {_FARTHEST:g} is believed. That torque does not "
            "come from this weight: is the mass right, does a cable pull?",
        )


def _check_known_mass(found: Fit, known: float) -> None:
    if not known > 0:
        raise Refused("odds", f"the known mass must be above 0 kg, got {known:g}")
    off, error = found.mass - known, found.errors()[0]
    if abs(off) > max(_ODDS * known, _ODDS_ERRORS * error):
        raise Refused(
            "odds",
            f"the weight seen makes {found.mass:.3f} kg, the tool is said to have {known:.3f}: "
            f"{found.mass / known:.2f} times as much. Weigh it; else the sensor's scale is wrong "
            f"(or gravity is {9.81 * found.mass / known:.2f} m/s^2)",
        )


def _judged(readings: Readings, found: Fit, gravity: np.ndarray) -> Estimate:
    held = _held_out(readings, found, gravity)
    worst = _worst_prediction(found, gravity)
    left = [
        _SIGMAS * sigma + float(np.linalg.norm(held[:, part], axis=1).max())
        for sigma, part in zip(worst, (LINEAR, ANGULAR), strict=True)
    ]
    noise = [float(readings.noise[part].max()) for part in (LINEAR, ANGULAR)]
    force, torque = (a + _NOISE_SIGMAS * b for a, b in zip(left, noise, strict=True))
    if force > _MOST_FORCE or torque > _MOST_TORQUE:
        raise Refused(
            "too noisy",
            f"a deadband of {force:.2g} N and {torque:.2g} Nm would be needed, at most "
            f"{_MOST_FORCE:g} and {_MOST_TORQUE:g} make sense: filter the sensor, or take more "
            "poses",
        )
    good = force <= GOOD_FORCE and torque <= GOOD_TORQUE
    errors = found.errors()
    return Estimate(
        mass=found.mass,
        center_of_mass=found.center_of_mass,
        force_bias=found.bias[LINEAR].copy(),
        torque_bias=found.bias[ANGULAR].copy(),
        gravity=found.gravity(gravity),
        mounting=found.mounting.copy(),
        errors={name: float(errors[n]) for n, name in enumerate(NAMES) if found.free[n]},
        condition=found.condition,
        unseen=found.unseen,
        noise=readings.noise,
        residuals=found.residuals,
        held_out=held,
        left_force=left[0],
        left_torque=left[1],
        deadband_force=force,
        deadband_torque=torque,
        verdict="good" if good else "usable",
        poses=tuple(int(n) for n in readings.poses),
        R_WS=readings.R_WS,
        left_out=readings.unsteady,
    )


def _held_out(readings: Readings, found: Fit, gravity: np.ndarray) -> np.ndarray:
    """Each pose's reading less what all others foretell, N and Nm (n, 6)."""
    out = np.empty_like(readings.wrench)
    for n in range(len(readings)):
        others = readings.only(np.arange(len(readings)) != n)
        x = fit(others, gravity, start=found).x
        out[n] = readings.wrench[n] - predict(x, readings.R_WS[n : n + 1], gravity)[0]
    return out


def _worst_prediction(found: Fit, gravity: np.ndarray) -> tuple[float, float]:
    """The standard deviation of the foretold force and torque, N and Nm, where it is greatest."""
    J = slopes(found.x, _rotations(_DIRECTIONS), gravity)
    worst = []
    for part in (LINEAR, ANGULAR):
        C = np.einsum("kip,pq,kjq->kij", J[:, part], found.covariance, J[:, part])
        worst.append(float(np.sqrt(np.linalg.eigvalsh(C).max())))
    return worst[0], worst[1]


def _rotations(count: int) -> np.ndarray:
    """Rotations all over (count, 3, 3), always the same."""
    Q, R = np.linalg.qr(np.random.default_rng(0).standard_normal((count, 3, 3)))
    Q = Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    return Q * np.sign(np.linalg.det(Q))[:, None, None]
