"""The maker's tables of its arms (`ur_arms.toml`), and what all of them have in common."""

from __future__ import annotations

import functools
import math
import tomllib
from importlib import resources
from typing import Any

import numpy as np

from ur_admittance.model.link import Link

UR_LINKS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")
UR_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
# Upper arm up, forearm level, tool down: far from every limit and singularity.
UR_HOME = (0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0)


def X_W_base(base: str) -> np.ndarray:
    """The controller's frame `base` in W: W itself, or half a turn about z if W is `base_link`."""
    return np.diag([-1.0, -1.0, 1.0, 1.0]) if base == "base_link" else np.eye(4)


@functools.cache
def ur_tables() -> dict[str, dict[str, Any]]:
    """The table of every arm, by its name."""
    file = resources.files("ur_admittance.model") / "ur_arms.toml"
    return tomllib.loads(file.read_text("utf-8"))


def ur_links(table: dict[str, Any], X_link: list[np.ndarray]) -> tuple[Link, ...]:
    """The tables speak of a link in the DH frame at its far end, X_link in its joint's frame."""
    links = []
    for name, mass, com, inertia, X in zip(
        UR_LINKS, table["mass"], table["center_of_mass"], table["inertia"], X_link, strict=True
    ):
        xx, xy, xz, yy, yz, zz = inertia
        R = X[:3, :3]
        I_dh = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        links.append(Link(f"{name}_link", mass, R @ com + X[:3, 3], R @ I_dh @ R.T))
    return tuple(links)
