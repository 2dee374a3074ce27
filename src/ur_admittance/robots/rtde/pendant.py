"""TCP and payload as they are set on the pendant: in words, and as a tool for a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.inspection import Found


def words(found: Found) -> str:
    """TCP, payload and software of a robot, in one line."""
    told = [] if found.arm is None else [f"TCP {_listed(found.arm.tcp)} m, rad"]
    mass, center = found.values.get("payload"), found.values.get("payload_cog")
    if mass is not None:
        told.append(f"payload {mass:.3g} kg")
    if center is not None:
        told.append(f"its centre {_listed(center)} m")
    return ", ".join([*told, found.words])


def text_of(found: Found) -> str:
    """YAML for `tool:`; the centre is as the pendant has it, in flange axes, where the robot's own
    sensor sits.

    Raises:
        RobotError: the robot does not say where its TCP is.
    """
    if found.arm is None:
        raise RobotError(f"the robot's TCP cannot be read: {found.why_no_arm}")
    rows = [
        "# TCP and payload as they are set on the pendant; ur-admittance calibrate measures them.",
        f"point: {_listed(found.arm.tcp)}  # m and rotation vector [rad], in the flange",
    ]
    mass, center = found.values.get("payload"), found.values.get("payload_cog")
    if mass is not None:
        rows.append(f"mass: {mass:.4f}  # kg")
    if mass and center is not None:
        rows.append(f"center_of_mass: {_listed(center)}  # m")
    return "\n".join(rows) + "\n"


def write(path: Path, found: Found) -> None:
    """Write it, unless something is there.

    Raises:
        RobotError: there is, or it cannot be written.
    """
    text = text_of(found)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise RobotError(f"{path}: cannot be written ({error.strerror}); give another") from None


def _listed(values: Any) -> str:
    return "[" + ", ".join(f"{float(value):.4f}" for value in values) + "]"
