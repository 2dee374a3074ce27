"""The file that says where the equilibrium is: where the arm stood once it was led home."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ur_admittance.errors import ConfigError
from ur_admittance.kernel.spatial import quaternion_of


def save(path: Path, X_WP: np.ndarray, note: str) -> None:
    """Write a pose (4, 4) as the configuration's key `equilibrium` reads it."""
    parts = X_WP[:3, 3], quaternion_of(X_WP)
    numbers = [", ".join(repr(float(x)) for x in part) for part in parts]
    path.write_text(
        "# The pose of the tool point in the robot's base frame to which a spring returns.\n"
        f"# {note}\n"
        "equilibrium:\n"
        f"  position: [{numbers[0]}]  # m\n"
        f"  orientation: [{numbers[1]}]  # w, x, y, z\n",
        encoding="utf-8",
    )


def check_file(path: Path, *, force: bool) -> None:
    """See that `save` will succeed, before anything moves."""
    folder = path.parent
    if path.suffix not in (".yaml", ".yml"):
        raise ConfigError(f"{path}: the name must end in .yaml, or no configuration can name it")
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; --force replaces it, --out chooses another")
    if not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ConfigError(f"{path}: cannot be written; is {folder} a folder of yours?")
