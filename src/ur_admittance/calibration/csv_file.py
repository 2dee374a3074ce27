"""Readings from a table that another program wrote: CSV with joint angles or orientations."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from ur_admittance.calibration.collect import sensor_axes
from ur_admittance.config.validate import transform
from ur_admittance.errors import CalibrationError, ModelError
from ur_admittance.model import RobotModel

_WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")
_JOINTS = ("q1", "q2", "q3", "q4", "q5", "q6")
_WXYZ = ("qw", "qx", "qy", "qz")
_TURN = 2 * np.pi + 0.01  # rad: no joint turns farther
SHAPE = (
    "a CSV has a first line with the columns time [s], fx fy fz [N], tx ty tz [Nm], and q1 to q6 "
    "[rad] or qw qx qy qz (the sensor's orientation in the base)"
)


def read(path: Path, model: RobotModel | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (n,), orientations R_WS (n, 3, 3) and readings (n, 6). `model` turns joint angles into
    orientations.

    Raises:
        CalibrationError: a column is missing, or a cell is no number; says where.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CalibrationError(f"{path}: cannot be read: {error}") from None
    if not rows:
        raise CalibrationError(f"{path}: has no rows; {SHAPE}")
    there = set(rows[0])
    by_joints = set(_JOINTS) <= there
    needed = ("time", *_WRENCH, *(_JOINTS if by_joints else _WXYZ))
    if missing := [name for name in needed if name not in there]:
        raise CalibrationError(f"{path}: no column {', '.join(missing)}; {SHAPE}")
    table = np.array([_numbers(path, n, row, needed) for n, row in enumerate(rows, 2)])
    time, wrench, pose = table[:, 0], table[:, 1:7], table[:, 7:]
    if not by_joints:
        turns = [_rotation(path, n, row) for n, row in enumerate(pose, 2)]
        return time, np.array(turns), wrench
    if model is None:
        raise CalibrationError(f"{path}: has joint angles; say of which arm, with --arm ur5e")
    if np.abs(pose).max() > _TURN:
        row, joint = np.unravel_index(int(np.abs(pose).argmax()), pose.shape)
        raise CalibrationError(
            f"{path}:{row + 2}: q{joint + 1} is {pose[row, joint]:g}; no joint turns beyond 6.28 "
            "rad: are these degrees? Give rad"
        )
    return time, np.array([sensor_axes(model, q) for q in pose]), wrench


def _rotation(path: Path, line: int, wxyz: np.ndarray) -> np.ndarray:
    try:
        return transform(wxyz=wxyz)[:3, :3]
    except ModelError as error:
        raise CalibrationError(f"{path}:{line}: {error}") from None


def _numbers(path: Path, line: int, row: dict, names: tuple[str, ...]) -> list[float]:
    if None in row:
        raise CalibrationError(
            f"{path}:{line}: has more cells than the first line; write decimals with a point"
        )
    values = []
    for name in names:
        try:
            value = float(row[name])
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise CalibrationError(f"{path}:{line}: {name} must be a number, got {row[name]!r:.40}")
        values.append(value)
    return values
