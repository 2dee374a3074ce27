"""What the sensor said while the arm stood still in one pose, and whether it is fit to use."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ur_admittance.errors import CalibrationError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR

FEWEST = 6  # poses: two determine everything, four more show whether it is true
_BLOCKS = 10  # of a pose's samples: their means tell the noise of the mean, correlated or not
_UNSTEADY = 4.0  # times the usual spread of a pose: it moved, or was touched
_FLOOR = np.repeat([1e-4, 1e-5], 3)  # N, Nm: what no sensor resolves
SHARE = 0.95  # of its range: beyond it a sensor counts as saturated
AXES = ("force x", "force y", "force z", "torque x", "torque y", "torque z")
UNITS = ("N",) * 3 + ("Nm",) * 3
PARTS = ((LINEAR, "force", "N"), (ANGULAR, "torque", "Nm"))


class Refused(CalibrationError):
    """Measurements from which nothing reliable can be said of the payload."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason  # one word for the cause, such as 'touched'


@dataclass(frozen=True)
class Measured:
    """One pose."""

    R_WS: np.ndarray  # (3, 3) the sensor's axes as the model has them, in the base's
    samples: np.ndarray  # (n, 6) readings [force; torque], N and Nm, in sensor axes at its origin
    time: float = 0.0  # when it was taken, s on any clock
    q: np.ndarray | None = None  # (6,) joint angles, rad, if known


@dataclass(frozen=True)
class Readings:
    """All poses that are fit to use, as arrays."""

    poses: np.ndarray  # (n,) their numbers among those given, from 0
    R_WS: np.ndarray  # (n, 3, 3)
    wrench: np.ndarray  # (n, 6) mean readings, N and Nm
    time: np.ndarray  # (n,) s, from the first
    noise: np.ndarray  # (6,) standard deviation of one sample, N and Nm
    mean_noise: np.ndarray  # (6,) standard deviation of a pose's mean, N and Nm
    unsteady: tuple[int, ...]  # numbers of the poses that were left out

    def __len__(self) -> int:
        return len(self.poses)

    def only(self, keep: np.ndarray) -> Readings:
        """Those poses for which `keep` is true."""
        rows = {name: getattr(self, name)[keep] for name in ("poses", "R_WS", "wrench", "time")}
        return replace(self, **rows)


def read(
    measured: Sequence[Measured],
    *,
    sensor_range: Sequence[float] | None = None,
    real: bool = True,
) -> Readings:
    """The means of all steady poses.

    Args:
        measured: in the order in which they were taken.
        sensor_range: (6,) greatest reading of each axis, N and Nm, if known.
        real: no real sensor says the same twice; a simulated one may.

    Raises:
        Refused: too few, not numbers, frozen, saturated, unsteady.
    """
    if len(measured) < FEWEST:
        raise Refused(
            "too few",
            f"{len(measured)} poses; at least {FEWEST} are needed, 12 are better: turn the tool "
            "so that its weight pulls at the sensor from all sides",
        )
    for n, one in enumerate(measured):
        _check_numbers(n, one)
    if real:
        _check_not_frozen(measured)
    _check_not_saturated(measured, sensor_range)
    spread = np.array([one.samples.std(axis=0) for one in measured])
    usual = np.maximum(np.quantile(spread, 0.25, axis=0), _FLOOR)
    steady = np.asarray((spread <= _UNSTEADY * usual).all(axis=1))
    unsteady = tuple(int(n) for n in np.flatnonzero(~steady))
    if steady.sum() < max(FEWEST, 0.5 * len(measured)):
        pose, axis = np.unravel_index(int((spread / usual).argmax()), spread.shape)
        raise Refused(
            "not still",
            f"only {int(steady.sum())} of {len(measured)} poses were still; in pose {pose + 1} "
            f"{AXES[axis]} varied by {spread[pose, axis]:.3g} {UNITS[axis]}, usual is "
            f"{usual[axis]:.3g}: wait until the arm stands, and let go of the tool",
        )
    kept = [one for one, good in zip(measured, steady.tolist(), strict=True) if good]
    means = np.array([one.samples.mean(axis=0) for one in kept])
    noise = np.maximum(np.sqrt((spread[steady] ** 2).mean(axis=0)), _FLOOR)
    errors = np.array([_error_of_mean(one.samples) for one in kept])
    time = np.array([one.time for one in kept], dtype=float)
    return Readings(
        np.flatnonzero(steady),
        np.array([one.R_WS for one in kept], dtype=float),
        means,
        time - time[0],
        noise,
        np.maximum(np.sqrt((errors**2).mean(axis=0)), _FLOOR / 10),
        unsteady,
    )


def _check_numbers(n: int, one: Measured) -> None:
    samples, R = np.asarray(one.samples), np.asarray(one.R_WS)
    if samples.ndim != 2 or samples.shape[1] != 6 or len(samples) < 2:
        raise Refused(
            "not numbers",
            f"pose {n + 1}: readings of shape {samples.shape}; two or more rows of six are needed",
        )
    if not (np.isfinite(samples).all() and np.isfinite(one.time)):
        raise Refused(
            "not numbers", f"pose {n + 1}: a reading or its time is NaN or infinite; is it stale?"
        )
    if R.shape != (3, 3) or not np.abs(R @ R.T - np.eye(3)).max() < 1e-3 or np.linalg.det(R) < 0:
        raise Refused(
            "no rotation",
            f"pose {n + 1}: its orientation is no rotation; quaternions must be of length 1, and "
            "joint angles in rad",
        )


def _check_not_frozen(measured: Sequence[Measured]) -> None:
    """Bit for bit the same within a pose, or from one pose to the next: nobody measured that."""
    for n, one in enumerate(measured):
        if (np.ptp(one.samples, axis=0) == 0.0).all():
            raise Refused(
                "frozen",
                f"pose {n + 1}: all {len(one.samples)} readings are equal to the last bit: the "
                "sensor, or what passes its readings on, has stopped; start it again",
            )
    for n, (a, b) in enumerate(itertools.pairwise(measured)):
        if a.samples.shape == b.samples.shape and (a.samples == b.samples).all():
            raise Refused(
                "stale",
                f"poses {n + 1} and {n + 2} have the same readings to the last bit: the second "
                "are old ones; take it again when new ones come",
            )


def _check_not_saturated(
    measured: Sequence[Measured], sensor_range: Sequence[float] | None
) -> None:
    """At the end of its range a sensor says nothing any more; that end may not have been given."""
    peaks = np.array([np.abs(one.samples).max(axis=0) for one in measured])
    if sensor_range is not None:
        ends = np.asarray(sensor_range, dtype=float)
        pose, axis = np.unravel_index(int((peaks / ends).argmax()), peaks.shape)
        if peaks[pose, axis] >= SHARE * ends[axis]:
            raise Refused(
                "saturated",
                f"pose {pose + 1}: {AXES[axis]} reads {peaks[pose, axis]:.4g} {UNITS[axis]}, the "
                f"sensor's range ends at {ends[axis]:g}; zero the sensor, or take a lighter tool",
            )
    still = np.array([np.ptp(one.samples, axis=0) == 0.0 for one in measured])
    for axis in range(6):
        poses = np.flatnonzero(still[:, axis])
        moving = np.flatnonzero(~still[:, axis])
        if len(poses) and len(moving) and not still[poses[0]].all():
            pose = int(poses[0])
            raise Refused(
                "saturated",
                f"pose {pose + 1}: {AXES[axis]} stays at {peaks[pose, axis]:.4g} {UNITS[axis]} to "
                "the last bit while the other axes vary: it is at the end of its range; zero the "
                "sensor, or take a lighter tool",
            )


def _error_of_mean(samples: np.ndarray) -> np.ndarray:
    """Standard deviation of the mean (6,), also of samples that a filter has made alike."""
    n = len(samples)
    if n < 2 * _BLOCKS:
        return samples.std(axis=0, ddof=1) / np.sqrt(n)
    means = np.array([block.mean(axis=0) for block in np.array_split(samples, _BLOCKS)])
    return means.std(axis=0, ddof=1) / np.sqrt(_BLOCKS)
