"""Why readings do not fit a weight on a sensor: the mistake that would explain them, by name.

Each explanation is the same data with one mistake undone: axes exchanged or reversed in one of the
48 ways, force and torque exchanged, base axes for sensor axes, and so on. The one that leaves least
is named, if it leaves far less than the data as they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ur_admittance.calibration.measured import AXES, UNITS, Readings, Refused
from ur_admittance.calibration.payload_fit import (
    Fit,
    exponential,
    logarithm,
    nearest_rotation,
    skew,
)
from ur_admittance.config.validate import listed
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

_FAR_LESS = 0.4  # of what is left, if an explanation is to be believed
_AS_GOOD = 1.3  # times the least that is left: then the first of the list is meant
_ABOVE_NOISE = 3.0  # times the noise of a mean: then there is something to explain
FORCE_FLOOR, TORQUE_FLOOR = 0.1, 0.01  # N, Nm: not worth a word
_FAR_FORCE, _FAR_TORQUE, _FAR_SHARE, _FAR_NOISE = 0.5, 0.05, 0.02, 3.0  # what cannot be borne
_LOOSE = 0.05  # share of what the torque changes between the poses
_OUTLIER = 6.0  # times what is usual in the other poses
_DRIFT_SURE = 5.0  # standard errors
_DRIFT_FORCE, _DRIFT_TORQUE = 0.1, 0.01  # N, Nm, in the time it took
_SURE = 5.0  # standard errors of a mass below zero
_TURNED = 10  # the first parameter of the mounting
MOST_TURNED = np.radians(15.0)  # a mounting that is off, and not another one


@dataclass(frozen=True)
class _Explanation:
    reason: str
    words: str
    left: float  # share of what the force changes that is not explained


def signed_permutations() -> Iterator[np.ndarray]:
    """The 48 ways to exchange and reverse three axes; the first changes nothing."""
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            Q = np.zeros((3, 3))
            Q[range(3), order] = signs
            yield Q


def explain(readings: Readings, fit: Fit, gravity: np.ndarray, *, tilt: bool) -> None:
    """Refuse what a known mistake explains far better than the readings as they are.

    `fit` is of all of them, with gravity in W axes, m/s^2 (3,); `tilt`: its direction was fitted.
    """
    u = np.einsum("nji,j->ni", readings.R_WS, gravity)
    _explain_force(readings, fit, u, gravity, tilt)
    _explain_torque(readings, fit, u)


def _explain_force(
    readings: Readings, fit: Fit, u: np.ndarray, gravity: np.ndarray, tilt: bool
) -> None:
    force, turned = readings.wrench[:, LINEAR], bool(fit.free[_TURNED])
    if turned:
        _refuse_turned(exponential(fit.mounting))
    left = rms(fit.residuals[:, LINEAR])
    upright = fit.mass > -_SURE * fit.errors()[0]
    noise = rms(readings.mean_noise[LINEAR])
    if upright and left <= max(_ABOVE_NOISE * noise, FORCE_FLOOR):
        return
    found = list(_mistakes(readings, u, gravity, turned))
    if not turned:
        found.append(_mounting(force, u))
    if not tilt:
        found.append(_tilted(readings, force, gravity))
    least = min(e.left for e in found)
    best = next(e for e in found if e.left <= _AS_GOOD * least + 1e-9)
    change = rms(force - force.mean(axis=0))
    if upright and best.left >= _FAR_LESS * left / change:
        return
    if (
        upright
        and _one_pose(readings, fit)
        and best.left > 2 * _without_worst(readings, fit) / change
    ):
        return  # one pose alone is to blame
    if best.reason == "mounting":
        _refuse_turned(nearest_rotation(force, u))
    raise Refused(best.reason, best.words)


def _mistakes(
    readings: Readings, u: np.ndarray, gravity: np.ndarray, turned: bool
) -> Iterator[_Explanation]:
    """Each with what it leaves of the force."""
    force, torque, R = readings.wrench[:, LINEAR], readings.wrench[:, ANGULAR], readings.R_WS
    for n, Q in enumerate(signed_permutations()):
        if n:
            yield _Explanation("axes", _axes_words(Q), _left(force, u @ Q.T, turned))
    for reason, words, f, pull in (
        ("swapped", _SWAPPED, torque, u),
        ("base axes", _BASE_AXES, np.einsum("nji,nj->ni", R, force), u),
        ("inverse", _INVERSE, force, np.einsum("nij,j->ni", R, gravity)),
        ("late", _LATE, force[1:], u[:-1]),
    ):
        yield _Explanation(reason, words, _left(f, pull, turned))


def _refuse_turned(R: np.ndarray) -> None:
    """A rotation beyond what a mounting is off by: other axes, if it is near such."""
    if np.linalg.norm(logarithm(R)) <= MOST_TURNED:
        return
    for Q in signed_permutations():
        if np.linalg.det(Q) > 0 and np.linalg.norm(logarithm(Q.T @ R)) <= MOST_TURNED:
            raise Refused("axes", _axes_words(Q))
    raise Refused("mounting", _mounting_words(logarithm(R)))


def _explain_torque(readings: Readings, fit: Fit, u: np.ndarray) -> None:
    """With the force understood, the torque must be h x u: of reversed axes it is not."""
    left, noise = rms(fit.residuals[:, ANGULAR]), rms(readings.mean_noise[ANGULAR])
    if left <= max(_ABOVE_NOISE * noise, TORQUE_FLOOR):
        return
    torque, best, words = readings.wrench[:, ANGULAR], (np.inf, 0), ""
    u_c = u - u.mean(axis=0)
    A = np.concatenate([-skew(row) for row in u_c])
    for n, Q in enumerate(signed_permutations()):
        if not n:
            continue
        y = ((torque - torque.mean(axis=0)) @ Q).ravel()
        h, *_ = np.linalg.lstsq(A, y, rcond=1e-9)
        # Q and -Q cannot be told apart: the one that changes less is meant.
        this = (round(rms(y - A @ h), 9), int((np.diag(Q) != 1.0).sum()))
        if this < best:
            best, words = this, _axes_words(Q, "torque")
    if best[0] < _FAR_LESS * left and best[0] <= 2 * _without_worst(readings, fit, ANGULAR):
        raise Refused("torque axes", words)


def judge_residuals(readings: Readings, fit: Fit) -> None:
    """Refuse what drifts, one pose that stands out, and what is far above the noise."""
    _judge_drift(readings, fit)
    worst = _one_pose(readings, fit)
    if worst is not None:
        pose, axis = worst
        raise Refused(
            "touched",
            f"pose {readings.poses[pose] + 1}: {AXES[axis]} is off by "
            f"{fit.residuals[pose, axis]:+.3g} {UNITS[axis]}, in the others by "
            f"{np.median(np.abs(fit.residuals[:, axis])):.2g}: something touched the tool or "
            "pulled at it there; take this pose again",
        )
    weight = fit.mass * 9.81
    reach = float(np.linalg.norm(fit.center_of_mass))
    limits = (
        max(_FAR_FORCE, _FAR_SHARE * weight, _FAR_NOISE * rms(readings.noise[LINEAR])),
        max(_FAR_TORQUE, _FAR_SHARE * weight * reach, _FAR_NOISE * rms(readings.noise[ANGULAR])),
    )
    force, torque = rms(fit.residuals[:, LINEAR]), rms(fit.residuals[:, ANGULAR])
    if force > limits[0]:
        raise Refused(
            "above noise",
            f"{force:.3g} N rms remain unexplained, the noise is {rms(readings.noise[LINEAR]):.2g}"
            f" and at most {limits[0]:.2g} is borne: does a cable or hose pull at the tool? Lay it "
            "so that it hangs free, and begin again",
        )
    loose = max(_ABOVE_NOISE * rms(readings.mean_noise[ANGULAR]), TORQUE_FLOOR)
    quiet = force <= max(_ABOVE_NOISE * rms(readings.mean_noise[LINEAR]), FORCE_FLOOR)
    if torque > limits[1] or (quiet and torque > loose and torque > _LOOSE * _swing(readings)):
        raise Refused(
            "loose",
            f"the forces fit, the torques do not: {torque:.3g} Nm rms remain, at most "
            f"{limits[1]:.2g} is borne: the centre of mass moves. Is the tool loose, or does "
            "something swing in it? Tighten it, and begin again",
        )


def rms(values: np.ndarray) -> float:
    """Root of the mean square of all of them."""
    return float(np.sqrt(np.mean(np.square(values))))


def _judge_drift(readings: Readings, fit: Fit) -> None:
    """What is left grows with time: a straight line through it, axis by axis."""
    t = readings.time - readings.time.mean()
    span = float(np.ptp(readings.time))
    if span <= 0.0 or len(t) < 4:
        return
    # what the poses could explain of time's passing was explained: count what is left of it
    slopes = (t @ fit.residuals) / (t @ t)
    rest = fit.residuals - np.outer(t, slopes)
    errors = np.sqrt((rest**2).sum(axis=0) / (len(t) - 2) / (t @ t))
    errors = np.maximum(errors, readings.mean_noise / np.sqrt(t @ t))
    least = np.repeat([_DRIFT_FORCE, _DRIFT_TORQUE], 3) / span
    sure = np.abs(slopes) / errors
    sure[np.abs(slopes) < least] = 0.0
    axis = int(sure.argmax())
    if sure[axis] > _DRIFT_SURE:
        raise Refused(
            "drift",
            f"{AXES[axis]} drifts by {60 * slopes[axis]:+.2g} {UNITS[axis]} a minute: let the "
            "sensor warm up for half an hour, and begin again",
        )


def _one_pose(readings: Readings, fit: Fit) -> tuple[int, int] | None:
    """The pose, and its axis, that stands far out of the others; if at most a quarter do."""
    size = np.abs(fit.residuals)
    usual = np.maximum(1.4826 * np.median(size, axis=0), readings.mean_noise)
    floor = np.repeat([2 * FORCE_FLOOR, 2 * TORQUE_FLOOR], 3)
    out = (size > _OUTLIER * usual) & (size > floor)
    poses = out.any(axis=1).sum()
    if poses == 0 or poses > max(1, len(readings) // 4):
        return None
    pose, axis = np.unravel_index(int(np.where(out, size / usual, 0).argmax()), size.shape)
    return int(pose), int(axis)


def _without_worst(readings: Readings, fit: Fit, part: slice = LINEAR) -> float:
    """What is left, rms, in the three quarters of the poses that fit best."""
    size = np.linalg.norm(fit.residuals[:, part], axis=1)
    return rms(np.sort(size)[: max(3, 3 * len(size) // 4)]) / np.sqrt(3)


def _swing(readings: Readings) -> float:
    """How much the torque changes between the poses, Nm rms."""
    torque = readings.wrench[:, ANGULAR]
    return rms(torque - torque.mean(axis=0))


def _left(force: np.ndarray, pull: np.ndarray, turned: bool) -> float:
    """Share of the force's change that m pull + constant leaves, with m above zero."""
    f, u = force - force.mean(axis=0), pull - pull.mean(axis=0)
    if turned:
        R = nearest_rotation(force, pull)
        if np.linalg.norm(logarithm(R)) > np.radians(45.0):
            return np.inf
        u = u @ R.T
    mass = float((f * u).sum() / max((u * u).sum(), 1e-12))
    return rms(f - mass * u) / max(rms(f), 1e-12) if mass > 0 else np.inf


def _mounting(force: np.ndarray, u: np.ndarray) -> _Explanation:
    R = nearest_rotation(force, u)
    return _Explanation("mounting", _mounting_words(logarithm(R)), _left(force, u @ R.T, False))


def _tilted(readings: Readings, force: np.ndarray, gravity: np.ndarray) -> _Explanation:
    """Gravity from anywhere: f = R_WS' a + b, with a = m g."""
    A = np.concatenate([np.hstack([R.T, np.eye(3)]) for R in readings.R_WS])
    x, *_ = np.linalg.lstsq(A, force.ravel(), rcond=1e-9)
    a, size = x[LINEAR], float(np.linalg.norm(gravity))
    along = a / max(float(np.linalg.norm(a)), 1e-12)
    angle = np.degrees(np.arccos(np.clip(along @ gravity / size, -1, 1)))
    return _Explanation(
        "gravity",
        f"the weight pulls {angle:.0f} degrees off the direction that payload.gravity gives: the "
        f"base does not stand upright. payload.gravity: {listed(along * size)} would explain it; "
        "if the arm hangs or leans, --gravity finds the direction",
        rms(force.ravel() - A @ x) / max(rms(force - force.mean(axis=0)), 1e-12),
    )


def _axes_words(Q: np.ndarray, what: str = "force") -> str:
    """What the sensor calls x, y and z."""
    if (np.asarray(-np.eye(3)) == Q).all():
        return (
            "all three axes are reversed: the sensor reports what the tool does to the world; turn "
            "its sign"
        )
    said = []
    for n, row in enumerate(Q):
        axis = int(np.abs(row).argmax())
        if axis != n or row[axis] < 0:
            said.append(f"{what} {'xyz'[n]} is really {'+' if row[axis] > 0 else '-'}{'xyz'[axis]}")
    kind = "turned" if np.linalg.det(Q) > 0 else "mirrored"
    return (
        f"the axes are {kind}: {', '.join(said)}; put right how the sensor is mounted (ft_frame, "
        "tool.sensor) or the driver that passes it on"
    )


def _mounting_words(phi: np.ndarray) -> str:
    angle = float(np.linalg.norm(phi))
    find = ", or let --mounting find the rotation" if angle <= MOST_TURNED else ""
    return (
        f"the sensor is turned by {np.degrees(angle):.1f} degrees about "
        f"{listed(phi / max(angle, 1e-12))} from where the model has it: put right how it is "
        f"mounted (ft_frame, tool.sensor){find}"
    )


_SWAPPED = (
    "force and torque are exchanged: the weight is seen where torques should be; exchange them "
    "where they are read"
)
_BASE_AXES = (
    "the readings are in the base's axes (as actual_TCP_force of UR is), not in the sensor's; "
    "give readings in sensor axes"
)
_INVERSE = (
    "the orientations are the wrong way round: they turn the base into the sensor; give R_WS, "
    "which takes sensor axes to base axes"
)
_LATE = (
    "each reading belongs to the pose before: what comes with a pose is stale; wait longer at each "
    "pose, or mend what passes the readings on"
)
