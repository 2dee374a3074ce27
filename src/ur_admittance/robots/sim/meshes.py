"""What an arm looks like: the meshes of the `airo-models` wheel, for the arms it has.

They are read from the installed wheel's files; nothing is downloaded, and its code is not run.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ur_admittance.config.validate import pose
from ur_admittance.errors import ModelError
from ur_admittance.model import RobotModel

HAS = ("ur3e", "ur5e")
VISIBLE, HIDDEN = 2, 3  # MuJoCo's viewers show groups 0 to 2

_BASE = "base_link_inertia"
_LINKS = (
    "shoulder_link",
    "upper_arm_link",
    "forearm_link",
    "wrist_1_link",
    "wrist_2_link",
    "wrist_3_link",
)


def folder_of(name: str) -> Path | None:
    """Where the wheel keeps the arm `name`; None if it is not installed or has no such arm."""
    spec = importlib.util.find_spec("airo_models")
    if spec is None or name not in HAS:
        return None
    return Path((spec.submodule_search_locations or [""])[0]) / "arms" / name


def dress(mj: Any, spec: Any, bodies: list[Any], model: RobotModel) -> None:
    """Light, sky and floor; and for an arm with meshes these, its capsules hidden.

    Nothing of it touches or weighs anything: the physics stays as it is.

    Args:
        spec: MjSpec in the making.
        bodies: those of the six links, base to tip, their frames the maker's.
    """
    _set_stage(mj, spec)
    if folder_of(model.name) is None:
        return
    for body in bodies:
        for geom in body.geoms:
            geom.group = HIDDEN
    # The arm's foot has the axes of the first joint's frame, less that joint's height.
    X_foot = model.X_chain[0].copy()
    X_foot[:3, 3] = 0.0
    places = [(spec.worldbody, X_foot)] + [(body, np.eye(4)) for body in bodies]
    for n, (joint, colour, mesh, X_visual) in enumerate(parts(model.name)):
        body, X_body = places[joint]
        X, wxyz = X_body @ X_visual, np.empty(4)
        mj.mju_mat2Quat(wxyz, np.ascontiguousarray(X[:3, :3]).ravel())
        name = f"part_{n}"
        spec.add_mesh(name=name, inertia=mj.mjtMeshInertia.mjMESH_INERTIA_SHELL, **mesh)
        body.add_geom(
            type=mj.mjtGeom.mjGEOM_MESH,
            meshname=name,
            pos=X[:3, 3],
            quat=wxyz,
            rgba=(*colour, 1.0),
            contype=0,
            conaffinity=0,
            mass=0.0,
            group=VISIBLE,
        )


def parts(name: str) -> Iterator[tuple[int, tuple[float, float, float], Any, np.ndarray]]:
    """Every piece of the arm `name` that has one colour: the joint whose moved frame it belongs to
    (1 to 6; 0: the foot), its colour, MuJoCo's mesh data, and its pose in that frame (4, 4).
    """
    folder = folder_of(name)
    if folder is None:
        return
    looks = _visuals(folder / f"{name}.urdf")
    for joint, link in enumerate((_BASE, *_LINKS)):
        file, X = looks[link]
        for colour, mesh in _read_obj(file):
            yield joint, colour, mesh, X


def _set_stage(mj: Any, spec: Any) -> None:
    spec.add_texture(
        name="sky",
        type=mj.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mj.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(1.0, 1.0, 1.0),
        rgb2=(0.86, 0.9, 0.94),
        width=256,
        height=256,
    )
    spec.worldbody.add_light(pos=(0.8, -0.8, 2.5), dir=(-0.2, 0.4, -1.0), diffuse=(0.5, 0.5, 0.5))
    spec.worldbody.add_geom(
        type=mj.mjtGeom.mjGEOM_PLANE,
        size=(2.0, 2.0, 0.1),
        pos=(0.0, 0.0, -0.001),
        rgba=(0.93, 0.94, 0.95, 1.0),
        contype=0,
        conaffinity=0,
        group=VISIBLE,
    )
    headlight = spec.visual.headlight
    headlight.ambient, headlight.diffuse = (0.35, 0.35, 0.35), (0.45, 0.45, 0.45)


def _visuals(urdf: Path) -> dict[str, tuple[Path, np.ndarray]]:
    """Of every link that has one: the file of its mesh, and the mesh's pose in the link."""
    # The file uses a prefix that it never declares.
    tree = etree.fromstring(urdf.read_bytes(), etree.XMLParser(recover=True))
    found = {}
    for link in tree.iterfind("link"):
        visual = link.find("visual")
        if visual is not None:
            origin, mesh = visual.find("origin"), visual.find("geometry/mesh")
            xyz, rpy = ([float(x) for x in origin.get(key).split()] for key in ("xyz", "rpy"))
            found[link.get("name")] = (urdf.parent / mesh.get("filename"), pose(xyz, *rpy))
    return found


def _read_obj(file: Path) -> list[tuple[tuple[float, float, float], dict[str, np.ndarray]]]:
    """The triangles of a Wavefront file by their material: its colour, and MuJoCo's mesh data."""
    rows: dict[str, list[str]] = {"v": [], "vn": []}
    faces: dict[str, list[str]] = {}
    colours, of_material = {}, []
    for line in file.read_text().splitlines():
        key, _, rest = line.partition(" ")
        if key == "f":
            of_material.append(rest)
        elif key in rows:
            rows[key].append(rest)
        elif key == "usemtl":
            of_material = faces.setdefault(rest.strip(), [])
        elif key == "mtllib":
            colours = _read_colours(file.with_name(rest.strip()))
    vertices, normals = (_numbers(rows[key]).reshape(-1, 3) for key in ("v", "vn"))
    parts = []
    for material, triangles in faces.items():
        if not triangles:
            continue
        if any(len(triangle.split()) != 3 for triangle in triangles):
            raise ModelError(f"{file}: has faces that are no triangles")
        # Of each corner its vertex, perhaps a texture's, and its normal, from 1 on.
        corners = _numbers([triangle.replace("/", " ") for triangle in triangles])
        indices = corners.reshape(3 * len(triangles), -1)[:, [0, -1]].astype(np.int64) - 1
        used, face = np.unique(indices[:, 0], return_inverse=True)
        used_normals, face_normal = np.unique(indices[:, 1], return_inverse=True)
        mesh = {
            "uservert": vertices[used].ravel(),
            "userface": face.astype(np.int32),
            "usernormal": normals[used_normals].ravel(),
            "userfacenormal": face_normal.astype(np.int32),
        }
        parts.append((colours[material], mesh))
    return parts


def _numbers(rows: list[str]) -> np.ndarray:
    """All numbers of lines of text, one after another."""
    return np.fromstring(" ".join(rows), sep=" ")


def _read_colours(file: Path) -> dict[str, tuple[float, float, float]]:
    """The diffuse colour of every material in a Wavefront material file."""
    colours, name = {}, ""
    for line in file.read_text().splitlines():
        key, *rest = line.split() or [""]
        if key == "newmtl":
            name = rest[0]
        elif key == "Kd":
            colours[name] = tuple(float(x) for x in rest)
    return colours
