"""The MuJoCo model: the same kinematics and masses as ours, and surfaces that push outwards."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import KDTree

from tests.robots.sim.support import QUIET, contact_wrench, lower
from tests.support import LINEAR, arm, moved, random_pose
from ur_admittance import RobotModel
from ur_admittance.robots.sim import SimRobot
from ur_admittance.robots.sim.mjcf import build
from ur_admittance.robots.sim.scene import Cylinder, Scene, Sphere, Tool, hole, table, wall

mujoco = pytest.importorskip("mujoco")

ARMS = RobotModel.arms()


@pytest.mark.parametrize("name", ARMS)
def test_the_probe_is_where_the_model_says(name):
    rng = np.random.default_rng(1)
    for base in ("base", "base_link"):
        X_EP, X_ES = random_pose(rng), random_pose(rng)
        model = RobotModel.ur(name, base=base, X_EP=X_EP, X_ES=X_ES)
        compiled = build(model).model
        data = mujoco.MjData(compiled)
        for q in rng.uniform(-2 * math.pi, 2 * math.pi, (50, 6)):
            data.qpos[:] = q
            mujoco.mj_kinematics(compiled, data)
            for site, X in (
                ("probe", model.fk(q)),
                ("sensor", model.fk(q) @ np.linalg.inv(X_EP) @ X_ES),
            ):
                np.testing.assert_allclose(data.site(site).xpos, X[:3, 3], atol=1e-9)
                np.testing.assert_allclose(data.site(site).xmat.reshape(3, 3), X[:3, :3], atol=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_the_links_weigh_what_the_model_says(name):
    compiled = build(arm(name)).model
    for link in arm(name).links:
        assert compiled.body(link.name).mass[0] == link.mass
        principal = np.sort(np.linalg.eigvalsh(link.inertia))
        np.testing.assert_allclose(
            np.sort(compiled.body(link.name).inertia), principal, rtol=1e-6, atol=1e-9
        )


def test_an_arm_from_a_urdf_without_masses_is_simulated_too():
    nominal = arm("ur3e")
    model = RobotModel(
        nominal.name, nominal.base, nominal.tip, nominal.joint_names, nominal.X_chain,
        nominal.q_min, nominal.q_max, nominal.qd_max, nominal.qdd_max,
    )  # fmt: skip
    with SimRobot(model, **QUIET) as robot:
        lower(robot, 0.05, 200)
        drop = model.fk(model.home)[2, 3] - robot.X_WP[2, 3]
    assert 0.015 < drop < 0.02


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(lambda p: (table(p[2] - 0.019, size=0.3, x=p[0]),), id="table"),
        pytest.param(lambda p: (Sphere((p[0], p[1], p[2] - 0.519), 0.5),), id="sphere"),
        pytest.param(
            lambda p: (
                Cylinder((p[0], p[1] - 0.3, p[2] - 0.319), (p[0], p[1] + 0.3, p[2] - 0.319), 0.3),
            ),
            id="cylinder",
        ),
    ],
)
def test_every_surface_pushes_outwards(shape):
    model = arm()
    p = model.fk(model.home)[:3, 3]
    with SimRobot(model, scene=Scene(shape(p)), ideal=True, **QUIET) as robot:
        robot.wait()
        np.testing.assert_allclose(contact_wrench(robot)[LINEAR], [0, 0, 20.0], atol=0.2)


def test_a_wall_pushes_back_along_x():
    model = arm()
    x = model.fk(model.home)[0, 3]
    with SimRobot(model, scene=Scene((wall(x + 0.019),)), ideal=True, **QUIET) as robot:
        robot.wait()
        np.testing.assert_allclose(contact_wrench(robot)[LINEAR], [-20.0, 0, 0], atol=0.2)


def test_a_peg_goes_into_its_hole_and_not_beside_it():
    X_EP = moved(np.eye(4), [0, 0, 0.1])
    model, peg = RobotModel.ur("ur5e", X_EP=X_EP), Tool(radius=0.01, length=0.08)
    x, y, z = model.fk(model.home)[:3, 3]
    forces = []
    for aside in (0.0, 0.02):
        scene = Scene(hole(x + aside, y, z - 0.005, width=0.022))
        with SimRobot(model, tool=peg, scene=scene, ideal=True, **QUIET) as robot:
            lower(robot, 0.05, 200)  # 20 mm: 15 mm into the hole
            forces.append(contact_wrench(robot)[2])
    assert forces[0] == 0 and forces[1] > 100


def states_of(looks: bool) -> np.ndarray:
    """An arm that is driven into a table, with noise, with or without meshes."""
    model, rows = arm(), []
    scene = Scene((table(model.fk(model.home)[2, 3] - 0.021),))
    with SimRobot(model, scene=scene, tool=Tool(mass=0.5), realtime=False, looks=looks) as robot:
        for _ in range(300):
            state = robot.wait()
            twist = [0.02, 0, -0.02, 0.1, 0, 0]
            robot.send_velocity(np.linalg.solve(model.jacobian(state.q), twist))
            rows.append(np.concatenate([state.q, state.qd, state.wrench, contact_wrench(robot)]))
    return np.array(rows)


@pytest.mark.slow
def test_meshes_change_nothing_of_the_physics():
    plain = states_of(looks=False)
    assert plain[-1, 20] > 1.0, "it should have touched the table"
    assert np.array_equal(plain, states_of(looks=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur3e", "ur5e"])
def test_the_meshes_of_neighbours_meet_however_the_joints_turn(name):
    """They come from another description of the arm: in a wrong frame they would come apart."""
    pytest.importorskip("airo_models")
    model = arm(name)
    compiled = build(model, looks=True).model
    data = mujoco.MjData(compiled)
    geoms = np.nonzero(compiled.geom_type == mujoco.mjtGeom.mjGEOM_MESH)[0]
    assert not compiled.geom_contype[geoms].any() and not compiled.geom_conaffinity[geoms].any()
    for q in (model.home, np.array([0.5, -1.0, 1.2, 2.0, -0.7, 1.5])):
        data.qpos[:] = q
        mujoco.mj_forward(compiled, data)
        links: dict[int, list[np.ndarray]] = {}
        for geom in geoms:
            mesh = compiled.geom_dataid[geom]
            first, count = compiled.mesh_vertadr[mesh], compiled.mesh_vertnum[mesh]
            vertices = compiled.mesh_vert[first : first + count]
            R = data.geom_xmat[geom].reshape(3, 3)
            body = int(compiled.geom_bodyid[geom])
            links.setdefault(body, []).append(vertices @ R.T + data.geom_xpos[geom])
        points = [np.concatenate(links[body]) for body in sorted(links)]
        assert len(points) == 7
        for one, next_one in pairwise(points):
            assert KDTree(one).query(next_one)[0].min() < 0.003
        flange = model.fk(q)[:3, 3]
        assert KDTree(points[-1]).query(flange)[0] < 0.05


def test_an_arm_without_meshes_keeps_its_capsules_in_sight():
    compiled = build(arm("ur10e"), looks=True).model
    assert compiled.nmesh == 0
    assert compiled.geom("link_2").group[0] < 3
