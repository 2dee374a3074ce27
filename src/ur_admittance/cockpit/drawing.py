"""The arm as the page draws it: its chain of joints, and its meshes where there are some."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ur_admittance.errors import ModelError
from ur_admittance.model import RobotModel
from ur_admittance.model.ur_arms import ur_tables
from ur_admittance.robots.sim import meshes

_GRID = 0.002  # m
_CALIBRATED = 0.02  # m by which a factory calibration may move a joint


def chain_of(params: Any) -> list[list[float]]:
    """The seven transforms of `RobotModel.X_chain`, the last with the tool, as 16 numbers each, row
    by row: X_WP = prod_i (X_i Rz(q_i)) X_6.
    """
    chain = np.tile(np.eye(4), (7, 1, 1))
    chain[:, :3, :3], chain[:, :3, 3] = params["chain_R"], params["chain_p"]
    return [X.ravel().round(9).tolist() for X in chain]


def name_of(params: Any) -> str:
    """Which UR arm a chain is of, by its lengths; "" for another arm."""
    lengths = params["chain_p"][:6]
    for name in ur_tables():
        try:
            model = RobotModel.ur(name)
        except ModelError:
            continue
        own = model.X_chain[:6, :3, 3]
        # The base may be turned by half a turn about z: lengths are all that counts.
        gap = np.abs(np.linalg.norm(own, axis=1) - np.linalg.norm(lengths, axis=1)).max()
        if gap < _CALIBRATED:
            return name
    return ""


def model_of(params: Any) -> RobotModel:
    """The UR arm that a chain is of, with its tool and sensor; or a ModelError."""
    name = name_of(params)
    if not name:
        raise ModelError("not a UR arm; only the process that controls it knows its model")
    model, X_PS = RobotModel.ur(name), np.eye(4)
    chain = np.array(chain_of(params)).reshape(7, 4, 4)
    X_EP = np.linalg.inv(model.X_chain[6]) @ chain[6]
    X_PS[:3, :3], X_PS[:3, 3] = params["R_PS"], params["p_PS"]
    chain[6] = model.X_chain[6]
    return replace(model, X_chain=chain, X_EP=X_EP, X_ES=X_EP @ X_PS)


@cache
def looks(name: str) -> bytes:
    """The meshes of an arm in one piece: a line of JSON that says what lies where, and the arrays;
    b"" if there are none.

    A part belongs to joint 1 to 6, or to 0, the foot. Positions are float32 m in the joint's moved
    frame (the foot: in the axes of the first joint's, at W's origin), normals int8, indices uint32.
    """
    if meshes.folder_of(name) is None:
        return b""
    parts, data = [], bytearray()

    def put(array: np.ndarray) -> list[int]:
        data.extend(b"\0" * (-len(data) % 4))
        start = len(data)
        data.extend(np.ascontiguousarray(array).tobytes())
        return [start, array.size]

    for joint, colour, mesh, X in meshes.parts(name):
        points = mesh["uservert"].reshape(-1, 3) @ X[:3, :3].T + X[:3, 3]
        normals = mesh["usernormal"].reshape(-1, 3) @ X[:3, :3].T
        at, way, index = _fewer(points[mesh["userface"]], normals[mesh["userfacenormal"]])
        parts.append(
            {
                "joint": joint,
                "colour": list(colour),
                "position": put(at.astype(np.float32)),
                "normal": put((127 * way).round().astype(np.int8)),
                "index": put(index.astype(np.uint32)),
            }
        )
    head = json.dumps(parts).encode()
    head += b" " * (-(len(head) + 1) % 4) + b"\n"
    return head + bytes(data)


def _fewer(points: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The triangles of corners and their normals (3 n, 3), with corners closer than `_GRID` that
    face the same way made one: what a screen shows of them is the same, at a fraction of the work.

    Returns corners (m, 3), normals (m, 3), and indices of the triangles that are left.
    """
    cell = np.rint(points / _GRID).astype(np.int64) + (1 << 15)
    face = np.rint(1.5 * normals).astype(np.int64) + 2
    key = (cell[:, 0] << 44) | (cell[:, 1] << 28) | (cell[:, 2] << 12)
    key |= (face[:, 0] << 8) | (face[:, 1] << 4) | face[:, 2]
    _, first, index, counts = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    at, way = np.zeros((len(first), 3)), np.zeros((len(first), 3))
    np.add.at(at, index, points)
    np.add.at(way, index, normals)
    at /= counts[:, None]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    places = (key[first] >> 12)[index].reshape(-1, 3)  # cells, whatever way they face
    a, b, c = places.T
    kept = (a != b) & (b != c) & (a != c)
    return at, way, index.reshape(-1, 3)[kept].ravel()
