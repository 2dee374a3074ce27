"""The mesh of a tool: where it is, what it touches, and files that are none."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from ur_admittance import Config, RobotError, RobotModel
from ur_admittance.controller.packing import carrying
from ur_admittance.robots import connect
from ur_admittance.robots.sim.carried import tool_of
from ur_admittance.robots.sim.mjcf import TOOL, build, load_mujoco
from ur_admittance.robots.sim.scene import Scene, table

LOW, HIGH = (-0.02, -0.03, 0.0), (0.05, 0.04, 0.12)  # m, in flange axes, not about the axis
CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def corners(scale: float = 1.0) -> np.ndarray:
    return scale * (np.array(LOW) + CORNERS * (np.array(HIGH) - LOW))


def write_obj(file: Path, scale: float = 1.0) -> Path:
    """A box, as OBJ."""
    lines = [f"v {x} {y} {z}" for x, y, z in corners(scale).tolist()]
    lines += [f"f {' '.join(str(n + 1) for n in quad)}" for quad in QUADS]
    file.write_text("\n".join(lines))
    return file


def write_stl(file: Path, scale: float = 1.0) -> Path:
    """The same box, as binary STL."""
    at = corners(scale)
    triangles = [at[list(three)] for a, b, c, d in QUADS for three in ((a, b, c), (a, c, d))]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in triangles)
    file.write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + body)
    return file


@pytest.mark.parametrize(
    ("name", "write", "scale"), [("box.obj", write_obj, 1.0), ("box.STL", write_stl, 1000.0)]
)
def test_a_mesh_is_where_its_file_says_in_flange_axes_however_the_sensor_is_turned(
    name: str, write, scale: float, tmp_path: Path
) -> None:
    write(tmp_path / name, scale)
    (tmp_path / "tool.yaml").write_text(
        f"tool:\n  mesh: {name}\n  mesh_scale: {1 / scale}\n"
        "  sensor: [0.01, 0.02, 0.03, 0.3, -0.2, 0.1]\n  point: [0, 0, 0.12, 0.5, 0, 0]\n"
    )
    config = Config.load(tmp_path / "tool.yaml")
    arm, mj = RobotModel.ur("ur5e"), load_mujoco()
    m = build(carrying(arm, config), tool=tool_of(config)).model
    d = mj.MjData(m)
    d.qpos[:] = arm.home
    mj.mj_forward(m, d)
    geom = m.geom(TOOL).id
    found = m.mesh_vert @ d.geom_xmat[geom].reshape(3, 3).T + d.geom_xpos[geom]
    X_WE = arm.fk(arm.home)
    due = corners() @ X_WE[:3, :3].T + X_WE[:3, 3]
    for corner in due:
        assert np.linalg.norm(found - corner, axis=1).min() < 1e-6
    assert len(found) == 8


def test_a_mesh_touches_with_its_hull_and_weighs_what_the_configuration_says(
    tmp_path: Path,
) -> None:
    """The box stands 2 mm deep in a table: a spring at each of its four corners pushes back. Clear
    of it by 2 mm, the sensor feels the weight alone.
    """
    mesh = str(write_obj(tmp_path / "box.obj"))
    config = Config.from_dict({"tool.mesh": mesh, "tool.mass": 1.5, "tool.point": [0] * 6})
    model = RobotModel.ur("ur5e")
    X_WE = model.fk(model.home)
    lowest = float((corners() @ X_WE[:3, :3].T + X_WE[:3, 3])[:, 2].min())
    felt = []
    for deep in (-0.002, 0.002):
        scene = Scene((table(lowest + deep),), stiffness=5000.0)
        options = {"realtime": False, "ideal": True, "scene": scene}
        with connect("sim", config=config, **options) as arm:
            for _ in range(50):
                state = arm.wait()
            felt.append(X_WE[:3, :3] @ state.wrench[:3])
    assert felt[0] == pytest.approx([0, 0, -1.5 * 9.81], abs=0.05)
    assert felt[1] - felt[0] == pytest.approx([0, 0, 4 * 5000.0 * 0.002], abs=0.1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.obj", None, "no such file"),
        ("empty.obj", b"", "is no OBJ or binary STL of a body: at least 4 vertices"),
        ("text.obj", b"hello\n", "is no OBJ or binary STL of a body"),
        ("ascii.stl", b"solid a\nendsolid a\n" * 20, "perhaps this is an ASCII file"),
        ("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 3 4\n", "coplanar"),
        ("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1\nf 1 2 3\nf 2 3 4\n", "not finite"),
    ],
)
def test_what_is_no_mesh_is_refused_by_its_name(
    name: str, content: bytes | None, words: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    config = Config.from_dict({"tool.mesh": str(tmp_path / name)})
    with pytest.raises(RobotError, match=f"tool.mesh .*{name}: .*{words}"):
        connect("sim", config=config)


@pytest.mark.parametrize(
    ("drawn", "scale", "words"),
    [
        (1000.0, 1.0, "70 x 70 x 120 m, .*mesh_scale is 1; of a file in millimetres it is 0.001"),
        (1.0, 0.001, "mesh_scale is 0.001; of a file in metres it is 1"),
    ],
)
def test_millimetres_for_metres_and_the_reverse_are_refused_with_what_would_be_right(
    drawn: float, scale: float, words: str, tmp_path: Path
) -> None:
    file = write_obj(tmp_path / "box.obj", drawn)
    config = Config.from_dict({"tool.mesh": str(file), "tool.mesh_scale": scale})
    with pytest.raises(RobotError, match=words):
        connect("sim", config=config)
