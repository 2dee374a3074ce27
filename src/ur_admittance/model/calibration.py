"""The factory calibration of a UR arm, as `ur_calibration` of the ROS driver writes it."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np
import yaml

from ur_admittance.config.validate import as_numbers, pose
from ur_admittance.errors import ModelError
from ur_admittance.model.ur_arms import UR_LINKS
from ur_admittance.model.urdf_parser import read_file

_TURNS = ("roll", "pitch", "yaw")


def read_calibration(source: str | os.PathLike) -> list[np.ndarray]:
    """The six joint origins, pose of a joint in its parent, of a calibration file or its text."""
    text = source
    if not (isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{"))):
        data = read_file(source, "calibration", "the file that ur_calibration writes")
        text = data.decode(errors="replace")
    try:
        content = yaml.safe_load(text)  # pyright: ignore[reportArgumentType]
    except (yaml.YAMLError, RecursionError) as error:
        raise ModelError(f"calibration: this is no YAML: {error}") from error
    kinematics = _entry(content, "kinematics", "calibration")
    origins = []
    for link in UR_LINKS:
        origin = _entry(kinematics, link, "calibration: kinematics")
        x, y, z, *turns = (_number(origin, k, link) for k in ("x", "y", "z", *_TURNS))
        origins.append(pose((x, y, z), *turns))
    return origins


def _entry(mapping: Any, key: str, where: str) -> Any:
    if not isinstance(mapping, dict):
        raise ModelError(f"{where}: expected a mapping with {key!r}, got {mapping!r:.80}")
    if key not in mapping:
        there = ", ".join(map(str, mapping)) or "nothing"
        raise ModelError(f"{where}: {key!r} is missing; there is {there:.200}")
    return mapping[key]


def _number(origin: Any, key: str, link: str) -> float:
    where = f"calibration: kinematics.{link}"
    value = _entry(origin, key, where)
    if isinstance(value, str):  # YAML 1.1 takes 1e-5 for a word
        with contextlib.suppress(ValueError):
            value = float(value)
    return float(as_numbers(value, f"{where}.{key}", ()))
