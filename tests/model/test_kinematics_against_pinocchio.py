"""Kinematics, URDF in and out, calibrations and inertias, held against Pinocchio."""
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import tomllib
import xml.etree.ElementTree as ElementTree
from importlib import resources

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.config.validate import transform
from ur_admittance.model import RobotModel

TABLES = tomllib.loads((resources.files("ur_admittance") / "model" / "ur_arms.toml").read_text())
ARMS = list(TABLES)
BASES = ["base", "base_link"]
TOLERANCE = 1e-10


def random_transform(rng: np.random.Generator) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3] = Rotation.random(None, rng).as_matrix()
    X[:3, 3] = rng.uniform(-0.5, 0.5, 3)
    return X


def arm_from_table(name: str, base: str) -> pin.Model:
    """Straight from the DH table: joint i + 1 sits at Tz(d_i) Tx(a_i) Rx(alpha_i) of joint i."""
    table, model = TABLES[name], pin.Model()
    half_turn = pin.SE3(pin.utils.rotate("z", np.pi), np.zeros(3))
    placement, joint = (half_turn if base == "base_link" else pin.SE3.Identity()), 0
    for i in range(6):
        joint = model.addJoint(joint, pin.JointModelRZ(), placement, f"joint_{i}")
        slide = pin.SE3(np.eye(3), np.array([table["a"][i], 0.0, table["d"][i]]))
        twist = pin.SE3(pin.utils.rotate("x", np.radians(table["alpha"][i])), np.zeros(3))
        placement = slide * twist
        xx, xy, xz, yy, yz, zz = table["inertia"][i]
        body = pin.Inertia(
            table["mass"][i],
            np.array(table["center_of_mass"][i]),
            np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        )
        model.appendBodyToJoint(joint, body, placement)
    model.addFrame(pin.Frame("tool0", joint, 0, placement, pin.FrameType.OP_FRAME))
    return model


def add_probe(model: pin.Model, tip: str, X_EP: np.ndarray) -> None:
    flange = model.frames[model.getFrameId(tip)]
    placement = flange.placement * pin.SE3(X_EP)
    model.addFrame(pin.Frame("P", flange.parentJoint, 0, placement, pin.FrameType.OP_FRAME))


def pin_q(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio keeps joints without limits as (cos q, sin q)."""
    parts = [
        [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        for joint, angle in zip([*model.joints][1:], q, strict=True)
    ]
    return np.concatenate(parts)


def assert_same_kinematics(
    ours: RobotModel, theirs: pin.Model, rng: np.random.Generator, frame: str = "P", times: int = 25
) -> None:
    data, index = theirs.createData(), theirs.getFrameId(frame)
    assert index < theirs.nframes
    for q in [np.zeros(6), *rng.uniform(-2 * np.pi, 2 * np.pi, (times, 6))]:
        pin.computeJointJacobians(theirs, data, pin_q(theirs, q))
        pin.updateFramePlacements(theirs, data)
        J = pin.getFrameJacobian(theirs, data, index, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(ours.fk(q), data.oMf[index].homogeneous, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(ours.jacobian(q), J, rtol=0, atol=TOLERANCE)


def mass_matrix(model: pin.Model, q: np.ndarray) -> np.ndarray:
    M = np.triu(pin.crba(model, model.createData(), pin_q(model, q)))
    return M + np.triu(M, 1).T


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ARMS)
def test_pose_and_jacobian_are_those_of_the_dh_table(name: str, base: str) -> None:
    rng = np.random.default_rng(1)
    for X_EP in (np.eye(4), random_transform(rng), random_transform(rng)):
        theirs = arm_from_table(name, base)
        add_probe(theirs, "tool0", X_EP)
        assert_same_kinematics(RobotModel.ur(name, base=base, X_EP=X_EP), theirs, rng)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ARMS)
def test_the_urdf_we_write_is_the_same_arm_to_pinocchio_and_to_us(name: str, base: str) -> None:
    rng = np.random.default_rng(2)
    X_EP = random_transform(rng)
    model = RobotModel.ur(name, base=base, X_EP=X_EP)
    text = model.to_urdf()
    assert_same_kinematics(model, pin.buildModelFromXML(text), rng, "probe")
    read = RobotModel.from_urdf(text, base=base, X_EP=X_EP)
    assert_same_kinematics(read, pin.buildModelFromXML(text), rng, "probe")
    at_probe = RobotModel.from_urdf(text, base=base, tip="probe")
    assert_same_kinematics(at_probe, pin.buildModelFromXML(text), rng, "probe")


@pytest.mark.parametrize("name", ARMS)
def test_masses_and_inertias_are_those_of_the_dh_table(name: str) -> None:
    rng = np.random.default_rng(3)
    text = RobotModel.ur(name, base="base").to_urdf()
    theirs, ours = arm_from_table(name, "base"), pin.buildModelFromXML(text)
    again = pin.buildModelFromXML(RobotModel.from_urdf(text, base="base").to_urdf())
    for q in rng.uniform(-np.pi, np.pi, (5, 6)):
        expected = mass_matrix(theirs, q)
        np.testing.assert_allclose(mass_matrix(ours, q), expected, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(mass_matrix(again, q), expected, rtol=0, atol=TOLERANCE)


def random_urdf(rng: np.random.Generator) -> str:
    """Six moving joints about any axes, fixed ones in between, fixed branches at the side."""
    root = ElementTree.Element("robot", name="any_arm")

    def words(numbers: np.ndarray) -> str:
        return " ".join(repr(float(number)) for number in numbers)

    def origin(element: ElementTree.Element) -> None:
        if rng.random() < 0.1:
            return
        rpy = rng.choice([-np.pi, -np.pi / 2, 0, np.pi / 2], 3)
        rpy = rpy if rng.random() < 0.3 else rng.uniform(-4, 4, 3)
        attributes = {"xyz": words(rng.uniform(-0.6, 0.6, 3)), "rpy": words(rpy)}
        ElementTree.SubElement(element, "origin", attributes)

    def link(name: str) -> None:
        inertial = ElementTree.SubElement(
            ElementTree.SubElement(root, "link", name=name), "inertial"
        )
        origin(inertial)
        ElementTree.SubElement(inertial, "mass", value=repr(rng.uniform(0.1, 9)))
        B = rng.normal(size=(3, 3))
        tensor = 0.1 * (np.trace(B @ B.T) * np.eye(3) - B @ B.T)
        keys = {
            f"i{'xyz'[i]}{'xyz'[j]}": repr(float(tensor[i, j]))
            for i in range(3)
            for j in range(i, 3)
        }
        ElementTree.SubElement(inertial, "inertia", keys)

    def joint(name: str, kind: str, parent: str, child: str) -> None:
        element = ElementTree.SubElement(root, "joint", name=name, type=kind)
        ElementTree.SubElement(element, "parent", link=parent)
        ElementTree.SubElement(element, "child", link=child)
        origin(element)
        if kind == "fixed":
            return
        axis = rng.normal(size=3)
        if rng.random() < 0.4:
            axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])
        ElementTree.SubElement(element, "axis", xyz=words(axis / np.linalg.norm(axis)))
        limit = {"lower": "-1.5", "upper": "2.5", "velocity": "3", "effort": "40"}
        ElementTree.SubElement(element, "limit", limit)

    link("root")
    parent, number = "root", 0
    for i in range(7):
        for _ in range(rng.integers(0, 3)):
            number += 1
            link(f"fixed_{number}")
            joint(f"fixed_joint_{number}", "fixed", parent, f"fixed_{number}")
            parent = f"fixed_{number}" if rng.random() < 0.7 else parent
        if i < 6:
            link(f"link_{i}")
            kind = "continuous" if rng.random() < 0.3 else "revolute"
            joint(f"joint_{i}", kind, parent, f"link_{i}")
            parent = f"link_{i}"
    link("end")
    joint("end_joint", "fixed", parent, "end")
    return ElementTree.tostring(root, encoding="unicode")


@pytest.mark.parametrize("seed", range(25))
def test_any_six_joint_urdf_is_read_as_pinocchio_reads_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = random_urdf(rng)
    theirs = pin.buildModelFromXML(text)
    model = RobotModel.from_urdf(text, base="root", tip="end")
    assert_same_kinematics(model, theirs, rng, "end", times=5)
    again = pin.buildModelFromXML(model.to_urdf())
    assert_same_kinematics(model, again, rng, "end", times=5)
    q = rng.uniform(-1, 1, 6)
    np.testing.assert_allclose(
        mass_matrix(again, q), mass_matrix(theirs, q), rtol=0, atol=TOLERANCE
    )


LINKS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")
KEYS = ("x", "y", "z", "roll", "pitch", "yaw")


def default_origins(name: str) -> np.ndarray:
    """The nominal arm in the shape of a calibration, from the DH table: (6 links, xyz rpy)."""
    (_, a2, a3, *_), (d1, _, _, d4, d5, d6) = TABLES[name]["a"], TABLES[name]["d"]
    quarter = np.pi / 2
    return np.array(
        [
            [0, 0, d1, 0, 0, 0],
            [0, 0, 0, quarter, 0, 0],
            [a2, 0, 0, 0, 0, 0],
            [a3, 0, d4, 0, 0, 0],
            [0, -d5, 0, quarter, 0, 0],
            [0, d6, 0, quarter, np.pi, np.pi],
        ]
    )


def calibration_text(origins: np.ndarray) -> str:
    lines = ["kinematics:"]
    for link, origin in zip(LINKS, origins, strict=True):
        lines.append(f"  {link}:")
        lines += [f"    {key}: {float(value)!r}" for key, value in zip(KEYS, origin, strict=True)]
    return "\n".join([*lines, "  hash: calib_1234567890", ""])


def arm_from_origins(origins: np.ndarray, base: str) -> pin.Model:
    model, joint = pin.Model(), 0
    mount = pin.SE3(pin.utils.rotate("z", np.pi if base == "base_link" else 0.0), np.zeros(3))
    for i, (x, y, z, roll, pitch, yaw) in enumerate(origins):
        placement = pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), np.array([x, y, z]))
        placement = mount * placement if i == 0 else placement
        joint = model.addJoint(joint, pin.JointModelRZ(), placement, f"joint_{i}")
    # wrist_3_link to flange to tool0, as the maker's description has them
    flange = pin.SE3(pin.rpy.rpyToMatrix(0, -np.pi / 2, -np.pi / 2), np.zeros(3))
    tool0 = flange * pin.SE3(pin.rpy.rpyToMatrix(np.pi / 2, 0, np.pi / 2), np.zeros(3))
    model.addFrame(pin.Frame("tool0", joint, 0, tool0, pin.FrameType.OP_FRAME))
    return model


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ARMS)
def test_the_nominal_arm_written_as_a_calibration_changes_nothing(name: str, base: str) -> None:
    rng = np.random.default_rng(4)
    nominal = RobotModel.ur(name, base=base, X_EP=transform([0, 0.1, 0.2]))
    calibrated = nominal.with_calibration(calibration_text(default_origins(name)))
    for q in rng.uniform(-6, 6, (20, 6)):
        np.testing.assert_allclose(calibrated.fk(q), nominal.fk(q), rtol=0, atol=TOLERANCE)
    theirs = arm_from_origins(default_origins(name), base)
    assert_same_kinematics(nominal.with_tool(np.eye(4)), theirs, rng, "tool0")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ARMS)
def test_a_calibrated_arm_is_the_chain_of_its_calibration(name: str, base: str) -> None:
    rng = np.random.default_rng(5)
    origins = default_origins(name) + rng.normal(scale=1e-3, size=(6, 6))
    X_EP = random_transform(rng)
    theirs = arm_from_origins(origins, base)
    add_probe(theirs, "tool0", X_EP)
    calibrated = RobotModel.ur(name, base=base, X_EP=X_EP, calibration=calibration_text(origins))
    assert_same_kinematics(calibrated, theirs, rng)
