"""The mesh of a tool, as MuJoCo reads it: OBJ or binary STL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.errors import RobotError

_MOST, _LEAST = 2.0, 0.001  # m from the flange to the farthest point


def read_mesh(mj: Any, file: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Corners [m], in flange axes, and corner numbers of the triangles, each in one row.

    Args:
        mj: the `mujoco` module.
        file: its path.
        scale: metres of one unit of the file.

    Raises:
        RobotError: there is no such file, it holds no body, or one of the size of no tool.
    """
    if not Path(file).is_file():
        raise RobotError(f"tool.mesh {file}: no such file; a path is beside its configuration file")
    spec = mj.MjSpec()
    shell = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL
    spec.add_mesh(name="tool", file=str(Path(file).resolve()), inertia=shell)
    spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_MESH, meshname="tool")
    try:
        compiled = spec.compile()
    except ValueError as error:
        why = str(error).splitlines()[0].removeprefix("Error: ")
        raise RobotError(f"tool.mesh {file}: is no OBJ or binary STL of a body: {why}") from None
    R = np.empty(9)  # MuJoCo turns a mesh into axes of its own, and says how
    mj.mju_quat2Mat(R, compiled.mesh_quat[0])
    vertices = scale * (compiled.mesh_vert @ R.reshape(3, 3).T + compiled.mesh_pos[0])
    _see_size(file, vertices, scale)
    return vertices.ravel(), compiled.mesh_face.ravel()


def _see_size(file: str, vertices: np.ndarray, scale: float) -> None:
    """See that it is as large as a tool, and where a tool is."""
    far = float(np.linalg.norm(vertices, axis=1).max())
    if _LEAST <= far <= _MOST:
        return
    size = " x ".join(f"{length:.3g}" for length in np.ptp(vertices, axis=0))
    hint = "of a file in metres it is 1" if far < _LEAST else "of a file in millimetres it is 0.001"
    raise RobotError(
        f"tool.mesh {file}: {size} m, up to {far:.3g} m from the flange; a tool ends within "
        f"{_LEAST:g} to {_MOST:g} m. tool.mesh_scale is {scale:g}; {hint}"
    )
