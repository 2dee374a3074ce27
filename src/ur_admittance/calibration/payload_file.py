"""What a calibration writes: what a configuration names after `payload:`."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import numpy as np

from ur_admittance.calibration.payload import Estimate
from ur_admittance.calibration.payload_fit import exponential, logarithm
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel


def text_of(found: Estimate, *, robot: str, sensor: str, day: date, model: RobotModel) -> str:
    """The YAML text, with the names of robot and sensor, and the day of the measurement; `model`:
    where the sensor was taken to be.
    """
    e = found.errors
    rows = [
        f"# What hangs on the sensor of {robot}, calibrated {day.isoformat()}: {found.verdict}.",
        f"# {len(found.poses)} poses; {found.residual_force:.3g} N and {found.residual_torque:.3g} "
        "Nm rms are left of their readings.",
        f"# Standard errors: mass {1e3 * e['mass']:.2g} g, centre "
        f"{1e3 * max(e[f'center_of_mass {a}'] for a in 'xyz'):.2g} mm, bias "
        f"{max(e[f'force_bias {a}'] for a in 'xyz'):.2g} N and "
        f"{max(e[f'torque_bias {a}'] for a in 'xyz'):.2g} Nm.",
        f"# A deadband of {found.deadband_force:.2g} N and {found.deadband_torque:.2g} Nm takes "
        "away what is left, and the noise.",
        "payload:",
        f"  mass: {found.mass:.5f}  # kg",
        f"  center_of_mass: {_list(found.center_of_mass, 6)}  # m",
        f"  force_bias: {_list(found.force_bias, 4)}  # N",
        f"  torque_bias: {_list(found.torque_bias, 5)}  # Nm",
        f"  gravity: {_list(found.gravity, 5)}  # m/s^2",
        f"  date: {day.isoformat()}",
        f"  robot: {plain(robot)}",
        f"  sensor: {plain(sensor)}",
        f"  verdict: {found.verdict}",
        f"  left_force: {found.left_force:.4g}  # N, at most, in any pose",
        f"  left_torque: {found.left_torque:.4g}  # Nm, likewise",
        f"  noise_force: {max(found.noise[LINEAR]):.4g}  # N rms of a reading",
        f"  noise_torque: {max(found.noise[ANGULAR]):.4g}  # Nm, likewise",
    ]
    if found.mounting.any():
        X = model.X_ES.copy()
        X[:3, :3] = X[:3, :3] @ exponential(found.mounting).T
        rows += [
            "tool:",
            f"  sensor: {_list([*X[:3, 3], *logarithm(X[:3, :3])], 6)}  # m, rotation vector [rad]",
        ]
    return "\n".join(rows) + "\n"


def write(path: Path, text: str) -> None:
    """Write it, whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def plain(name: str) -> str:
    """A name as a configuration takes it: letters, digits and _ . -"""
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-") or "unnamed"


def _list(values: object, digits: int) -> str:
    numbers = (round(float(x), digits) + 0.0 for x in np.asarray(values).tolist())
    return "[" + ", ".join(f"{x:.{digits}f}" for x in numbers) + "]"
