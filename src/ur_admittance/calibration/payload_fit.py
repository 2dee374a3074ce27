"""The least-squares fit of mass, centre of mass and bias to readings in many poses.

Without contact the sensor reports

    f = m R u + b_f,    t = h x R u + b_t,    u = R_WS' g,    h = m c

with the gravity g in W axes, the centre of mass c in sensor axes, and, if they are asked for, the
rotation R = Exp(phi) from the sensor's axes as the model has them to the true ones, and a g that is
tilted about the base's x and y axes. Residuals count by their size against their scale up to
_HUBER of it, and beyond that linearly: one pose that was touched does not bend the others.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.calibration.measured import Readings
from ur_admittance.errors import CalibrationError, needs
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

_HUBER = 2.5
_ROUNDS = 3  # of fit and scale
_STEP = 1e-5  # rad, of a numeric derivative
_MOMENT = slice(1, 4)  # of the unknowns; the first is the mass
_FORCE_BIAS, _TORQUE_BIAS, _TURN, _TILT = slice(4, 7), slice(7, 10), slice(10, 13), slice(13, 15)
NAMES = (
    "mass",
    *(f"center_of_mass {a}" for a in "xyz"),
    *(f"force_bias {a}" for a in "xyz"),
    *(f"torque_bias {a}" for a in "xyz"),
    *(f"mounting {a}" for a in "xyz"),
    *(f"gravity about {a}" for a in "xy"),
)


def optimizer() -> Any:
    """The `scipy.optimize` module, or how to get it."""
    with needs("calibration needs SciPy", "calibrate", CalibrationError):
        return importlib.import_module("scipy.optimize")


@dataclass(frozen=True)
class Fit:
    """Parameters and how sure they are."""

    # (15,) mass [kg], first moment m c [kg m], force bias [N], torque bias [Nm], mounting rotation
    # [rad], tilt of gravity about the base's x and y [rad]
    x: np.ndarray
    free: np.ndarray  # (15,) which of them were fitted
    covariance: np.ndarray  # (15, 15) of x; zero where nothing was fitted
    residuals: np.ndarray  # (n, 6) reading less model, N and Nm
    # (6,) of the residuals, N and Nm: noise of a mean, or what is left if that is more
    scale: np.ndarray
    condition: float  # of the fit, each parameter in its own best unit
    # directions in the parameters that the poses do not tell apart, in words
    unseen: tuple[str, ...]

    @property
    def mass(self) -> float:
        return float(self.x[0])

    @property
    def center_of_mass(self) -> np.ndarray:
        """m (3,), in sensor axes; without a mass, without meaning."""
        return self.x[_MOMENT] / self.x[0] if self.x[0] else np.full(3, np.nan)

    @property
    def bias(self) -> np.ndarray:
        """[force; torque], N and Nm (6,)."""
        return self.x[4:10]

    @property
    def mounting(self) -> np.ndarray:
        """Rotation vector of the true sensor axes to the model's, rad (3,)."""
        return self.x[_TURN]

    def errors(self) -> np.ndarray:
        """Standard errors (15,), in NAMES' order: of the centre of mass, not of the moment."""
        out = np.sqrt(np.diag(self.covariance))
        if self.mass:
            c = self.center_of_mass
            J = np.zeros((3, len(self.x)))
            J[:, 0] = -c / self.mass
            J[:, _MOMENT] = np.eye(3) / self.mass
            out[_MOMENT] = np.sqrt(np.diag(J @ self.covariance @ J.T))
        return out

    def gravity(self, nominal: np.ndarray) -> np.ndarray:
        """Gravity in W axes as fitted, m/s^2 (3,)."""
        return exponential(np.array([*self.x[_TILT], 0.0])) @ nominal


def fit(
    readings: Readings,
    gravity: np.ndarray,
    *,
    mounting: bool = False,
    tilt: bool = False,
    start: Fit | None = None,
) -> Fit:
    """The parameters that explain the readings best, robustly.

    Args:
        readings: of all poses.
        gravity: m/s^2 (3,), in W axes.
        mounting: find the sensor's rotation, too.
        tilt: find the direction of gravity, too.
        start: of nearly the same readings: the same parameters and scale, in one round.
    """
    if start is not None:
        free, x, scale = start.free, start.x.copy(), start.scale
    else:
        free, x = np.ones(15, dtype=bool), np.zeros(15)
        free[_TURN], free[_TILT] = mounting, tilt
        x[:10] = straight(readings, gravity)
        if mounting:
            force = readings.wrench[:, LINEAR]
            x[_TURN] = logarithm(nearest_rotation(force, _pull(readings, gravity)))
        scale = _scale_of(readings, predict(x, readings.R_WS, gravity) - readings.wrench, 10)
    base = x.copy()

    def full(values: np.ndarray) -> np.ndarray:
        out = base.copy()
        out[free] = values
        return out

    def residual(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
        left = readings.wrench - predict(full(values), readings.R_WS, gravity)
        return (left / scale).ravel()

    def jacobian(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
        J = slopes(full(values), readings.R_WS, gravity)[:, :, free]
        return (-J / scale[:, None]).reshape(-1, J.shape[2])

    J, tiled = np.zeros((0, 0)), np.ones(6)
    for _ in range(_ROUNDS if start is None else 1):
        found = optimizer().least_squares(
            residual, x[free], jacobian, args=(scale,), x_scale="jac", loss="huber", f_scale=_HUBER
        )
        x[free] = found.x
        J = found.jac * np.tile(scale, len(readings))[:, None]  # without outliers, in N and Nm
        scale = _scale_of(readings, residual(found.x, tiled).reshape(-1, 6), J.shape[1])
    covariance = np.zeros((15, 15))
    names = tuple(name for name, fitted in zip(NAMES, free, strict=True) if fitted)
    condition, unseen, inner = _solve(J / np.tile(scale, len(readings))[:, None], names)
    covariance[np.ix_(free, free)] = inner
    left = readings.wrench - predict(x, readings.R_WS, gravity)
    return Fit(x, free, covariance, left, scale, condition, unseen)


def predict(x: np.ndarray, R_WS: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """The readings (n, 6), N and Nm, that parameters x (15,) foretell in these poses."""
    g = exponential(np.array([*x[_TILT], 0.0])) @ gravity
    pull = np.einsum("nji,j->ni", R_WS, g) @ exponential(x[_TURN]).T
    out = np.empty((len(R_WS), 6))
    out[:, LINEAR] = x[0] * pull + x[_FORCE_BIAS]
    out[:, ANGULAR] = np.cross(x[_MOMENT], pull) + x[_TORQUE_BIAS]
    return out


def slopes(x: np.ndarray, R_WS: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """How the foretold readings change with each parameter (n, 6, 15): exact but for the angles."""
    g = exponential(np.array([*x[_TILT], 0.0])) @ gravity
    pull = np.einsum("nji,j->ni", R_WS, g) @ exponential(x[_TURN]).T
    J = np.zeros((len(R_WS), 6, 15))
    J[:, LINEAR, 0] = pull
    J[:, ANGULAR, _MOMENT] = np.array([-skew(row) for row in pull])
    J[:, LINEAR, _FORCE_BIAS] = np.eye(3)
    J[:, ANGULAR, _TORQUE_BIAS] = np.eye(3)
    for n in range(_TURN.start, _TILT.stop):
        step = np.zeros(15)
        step[n] = _STEP
        ahead, behind = predict(x + step, R_WS, gravity), predict(x - step, R_WS, gravity)
        J[:, :, n] = (ahead - behind) / (2 * _STEP)
    return J


def straight(readings: Readings, gravity: np.ndarray) -> np.ndarray:
    """Mass, moment and bias (10,) by plain linear least squares."""
    u = _pull(readings, gravity)
    u_c = u - u.mean(axis=0)
    force, torque = readings.wrench[:, LINEAR], readings.wrench[:, ANGULAR]
    mass = float((u_c * force).sum() / max((u_c**2).sum(), 1e-12))
    A = np.concatenate([-skew(row) for row in u_c])  # h x u = -u x h
    moment = np.linalg.lstsq(A, (torque - torque.mean(axis=0)).ravel(), rcond=1e-9)[0]
    force_bias = (force - mass * u).mean(axis=0)
    torque_bias = (torque - np.cross(moment, u)).mean(axis=0)
    return np.array([mass, *moment, *force_bias, *torque_bias])


def nearest_rotation(force: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """The rotation R for which force is nearest to m R pull + constant: Kabsch's."""
    H = (force - force.mean(axis=0)).T @ (pull - pull.mean(axis=0))
    U, _, Vt = np.linalg.svd(H)
    return (U * (1, 1, np.sign(np.linalg.det(U @ Vt)))) @ Vt


def exponential(phi: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) about a vector, rad (3,)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(phi).as_matrix()


def logarithm(R: np.ndarray) -> np.ndarray:
    """The vector, rad (3,), about which a rotation turns."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _pull(readings: Readings, gravity: np.ndarray) -> np.ndarray:
    """Gravity in the sensor's axes, m/s^2 (n, 3)."""
    return np.einsum("nji,j->ni", readings.R_WS, gravity)


def _scale_of(readings: Readings, residuals: np.ndarray, parameters: int) -> np.ndarray:
    """Of forces and of torques: what is left, robustly, and no less than the noise of a mean."""
    scale = readings.mean_noise.copy()
    freedom = max(1.0 - parameters / residuals.size, 0.1)
    for part in (LINEAR, ANGULAR):
        left = np.abs(residuals[:, part])
        typical = max(1.4826 * float(np.median(left)), 1e-12)
        rms = float(np.sqrt((np.minimum(left, _HUBER * typical) ** 2).mean() / freedom))
        scale[part] = np.maximum(scale[part], rms)
    return scale


def _solve(J: np.ndarray, names: tuple[str, ...]) -> tuple[float, tuple[str, ...], np.ndarray]:
    """Condition, what is not seen, and the covariance."""
    size = np.maximum(np.linalg.norm(J, axis=0), 1e-12)
    _, s, Vt = np.linalg.svd(J / size, full_matrices=False)
    condition = float(s[0] / max(s[-1], 1e-12))
    unseen = []
    for value, direction in zip(s, Vt, strict=True):
        if value < s[0] / 100.0:
            most = np.argsort(-np.abs(direction))[:2]
            unseen.append(" with ".join(names[n] for n in most))
    inner = (Vt.T / np.maximum(s, 1e-9) ** 2) @ Vt
    return condition, tuple(unseen), inner / np.outer(size, size)
