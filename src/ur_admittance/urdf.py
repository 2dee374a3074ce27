"""URDF in and out: a description's chain as a model, a model as a description; UR calibrations."""

from __future__ import annotations

import contextlib
import io
import math
import os
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ur_admittance.errors import ModelError
from ur_admittance.model import UR_LINKS, Link, RobotModel
from ur_admittance.transforms import NEARLY, as_numbers, did_you_mean, pose

# Where a URDF has numbers that matter here, and how many.
_NUMBERS = {
    "joint/origin": {"xyz": 3, "rpy": 3},
    "joint/axis": {"xyz": 3},
    "joint/limit": {"lower": 1, "upper": 1, "velocity": 1, "effort": 1},
    "link/inertial/origin": {"xyz": 3, "rpy": 3},
    "link/inertial/mass": {"value": 1},
    "link/inertial/inertia": {"ixx": 1, "ixy": 1, "ixz": 1, "iyy": 1, "iyz": 1, "izz": 1},
}
_Poses = dict[str, tuple[int, np.ndarray]]
_TURNS = ("roll", "pitch", "yaw")
_UNKNOWN_EFFORT = 1e9  # N m; a URDF must give one, and not all parsers read "inf"


def read_urdf(
    source: str | os.PathLike,
    *,
    base: str,
    tip: str,
    joint_acceleration: Any,
    joint_velocity: float | None = None,
) -> RobotModel:
    """The chain from `base` to `tip`; see `RobotModel.from_urdf`.

    A joint turns about its own axis k; the chain wants z. With R z = k, Rot(k, q) = R Rz(q) R^T: R
    ends the joint's entry of X_chain, and R^T begins what follows.
    """
    robot = _parse(source)
    moving = [joint for joint in _path(robot, base, tip) if joint.type != "fixed"]
    for joint in moving:
        if joint.type not in ("revolute", "continuous") or joint.mimic is not None:
            kind = "mimics another joint" if joint.mimic is not None else f"is {joint.type}"
            raise ModelError(
                f"URDF {robot.name!r}: joint {joint.name!r} {kind}; from {base!r} to {tip!r} every "
                "joint must be revolute, continuous or fixed, and move on its own"
            )
    if len(moving) != 6:
        raise ModelError(
            f"URDF {robot.name!r}: {len(moving)} moving joints from {base!r} to {tip!r} "
            f"({', '.join(joint.name for joint in moving) or 'none'}); there must be six"
        )
    X_chain, poses = _chain(robot, base, moving)
    X_chain[6] = poses[tip][1]
    limits = np.array([_limits(robot, joint, joint_velocity) for joint in moving])
    if isinstance(joint_acceleration, int | float | np.number):
        joint_acceleration = [joint_acceleration] * 6
    return RobotModel(
        name=robot.name,
        base=base,
        tip=tip,
        joint_names=tuple(joint.name for joint in moving),
        X_chain=X_chain,
        q_min=limits[:, 0],
        q_max=limits[:, 1],
        qd_max=limits[:, 2],
        qdd_max=as_numbers(joint_acceleration, "joint_acceleration (rad/s^2)", (6,)),
        links=_links(robot, moving, poses),
        tau_max=limits[:, 3],
    )


def write_urdf(model: RobotModel) -> str:
    """See `RobotModel.to_urdf`."""
    root = ElementTree.Element("robot", name=model.name)
    taken = {model.base, model.tip}

    def unique(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    def add_joint(name: str, kind: str, parent: str, child: str, X: np.ndarray) -> Any:
        joint = ElementTree.SubElement(root, "joint", name=name, type=kind)
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=child)
        ElementTree.SubElement(joint, "origin", xyz=_words(X[:3, 3]), rpy=_words(_rpy(X[:3, :3])))
        return joint

    ElementTree.SubElement(root, "link", name=model.base)
    parent = model.base
    for i, name in enumerate(model.joint_names):
        link = model.links[i] if model.links else None
        child = unique(link.name if link else f"{name.removesuffix('_joint')}_link")
        element = ElementTree.SubElement(root, "link", name=child)
        if link is not None:
            _add_inertial(element, link)
        endless = math.isinf(model.q_max[i])
        kind = "continuous" if endless else "revolute"
        joint = add_joint(name, kind, parent, child, model.X_chain[i])
        ElementTree.SubElement(joint, "axis", xyz="0 0 1")
        limit = {} if endless else {"lower": model.q_min[i], "upper": model.q_max[i]}
        limit |= {"velocity": model.qd_max[i], "effort": min(model.tau_max[i], _UNKNOWN_EFFORT)}
        ElementTree.SubElement(joint, "limit", {key: _words([x]) for key, x in limit.items()})
        parent = child
    ElementTree.SubElement(root, "link", name=model.tip)
    add_joint(f"{parent}-{model.tip}", "fixed", parent, model.tip, model.X_chain[6])
    if not np.array_equal(model.X_EP, np.eye(4)):
        probe = unique("probe")
        ElementTree.SubElement(root, "link", name=probe)
        add_joint(f"{model.tip}-{probe}", "fixed", model.tip, probe, model.X_EP)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def read_calibration(source: str | os.PathLike) -> list[np.ndarray]:
    """The six joint origins, pose of a joint in its parent, of a calibration file or its text."""
    text = source
    if not (isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{"))):
        data = _read_file(source, "calibration", "the file that ur_calibration writes")
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


def _read_file(path: Any, what: str, expected: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(
            f"{what} {str(path)!r:.200}: cannot be read ({reason}). Give the path of {expected}, "
            "or its text"
        ) from error


def _parse(source: str | os.PathLike) -> Any:
    """yourdfpy's robot, after a look at every name and number that matters here.

    yourdfpy alone would repair broken XML as it can, drop what it cannot, and read NaN as a number.
    """
    import yourdfpy  # slow to import, and only needed here
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    if isinstance(source, str) and source.lstrip().startswith("<"):
        # A str is decoded already: what its first line says of the encoding no longer holds.
        lines_before, declaration, rest = source.partition("<?xml")
        if declaration and not lines_before.strip():
            source = lines_before + rest.partition("?>")[2]
        data = source.encode("utf-8", "replace")
    else:
        data = _read_file(source, "URDF", "a .urdf file")
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise ModelError(f"URDF: this is no XML: {error.msg}") from error
    if root.getroottree().docinfo.doctype:
        raise ModelError("URDF: it begins with a DOCTYPE, which no URDF needs; remove it")
    if root.tag != "robot":
        raise ModelError(f"URDF: line {root.sourceline}: expected <robot>, got <{root.tag}>")
    if any("xacro" in str(element.tag) for element in root.iter()):
        raise ModelError("URDF: it has xacro elements; run it through `xacro` first")
    _check(root)
    for element in [*root]:
        if element.tag not in ("link", "joint"):
            root.remove(element)
    for element in root.findall("link/*"):
        if element.tag != "inertial":
            element.getparent().remove(element)
    try:
        return yourdfpy.URDF.load(
            io.BytesIO(etree.tostring(root)),
            build_scene_graph=False,
            load_meshes=False,
            filename_handler=yourdfpy.filename_handler_null,
        ).robot
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise ModelError(f"URDF: it cannot be understood: {error!r}") from error


def _check(root: Any) -> None:
    """Names given, once each; joints between two links that exist; numbers finite and enough."""
    names = {"link": Counter(), "joint": Counter()}
    for element in (root, *root.findall("link"), *root.findall("joint")):
        if not element.get("name"):
            raise ModelError(f"URDF: line {element.sourceline}: <{element.tag}> has no name")
        if element is not root:
            names[element.tag][element.get("name")] += 1
    for kind, count in names.items():
        for name in (name for name, times in count.items() if times > 1):
            raise ModelError(f"URDF: {count[name]} {kind}s are called {name!r}; names must differ")
    parents = {}
    for joint in root.findall("joint"):
        name = joint.get("name")
        for tag in ("parent", "child"):
            found = joint.find(tag)
            link = None if found is None else found.get("link")
            if link not in names["link"]:
                raise ModelError(
                    f"URDF: line {joint.sourceline}: the {tag} of joint {name!r} is {link!r}, "
                    f"which is no link.{did_you_mean(str(link), names['link'])}"
                )
        child = joint.find("child").get("link")
        if child in parents:
            raise ModelError(
                f"URDF: link {child!r} is the child of two joints, {parents[child]!r} and "
                f"{name!r}; it can hang on one only"
            )
        parents[child] = name
    for path, attributes in _NUMBERS.items():
        for element in root.findall(path):
            for key, count in attributes.items():
                words = element.get(key)
                if words is None:
                    continue
                try:
                    numbers = [float(word) for word in words.split()]
                except ValueError:
                    numbers = []
                if len(numbers) != count or not np.isfinite(numbers).all():
                    raise ModelError(
                        f"URDF: line {element.sourceline}: {key}={words!r} of <{path}> must be "
                        f"{count} finite number{'s' if count > 1 else ''}"
                    )


def _path(robot: Any, base: str, tip: str) -> list[Any]:
    """The joints from `base` to `tip`."""
    links = [link.name for link in robot.links]
    for role, name in (("base", base), ("tip", tip)):
        if name not in links:
            raise ModelError(
                f"URDF {robot.name!r}: no link {name!r} to be the {role}; there are "
                f"{', '.join(links)}.{did_you_mean(str(name), links)}"
            )
    above = {joint.child: joint for joint in robot.joints}
    path, link = [], tip
    while link != base:
        if link not in above or len(path) > len(robot.joints):
            raise ModelError(
                f"URDF {robot.name!r}: {base!r} is not above {tip!r}: going up from {tip!r} the "
                f"links are {', '.join(joint.parent for joint in path[:20]) or 'none'}"
            )
        path.append(above[link])
        link = above[link].parent
    return path[::-1]


def _chain(robot: Any, base: str, moving: list[Any]) -> tuple[np.ndarray, _Poses]:
    """X_chain up to the last joint, and for every link that is rigid with W (-1) or one of the six
    bodies (0 .. 5): which, and its pose in W or in that joint's moved frame."""
    number = {joint.name: i for i, joint in enumerate(moving)}
    X_chain, poses = np.zeros((7, 4, 4)), {base: (-1, np.eye(4))}
    reached = [base]
    for parent in reached:  # grows as it is walked
        for joint in robot.joints:
            if joint.parent != parent or (joint.name not in number and joint.type != "fixed"):
                continue
            body, X = poses[parent]
            X = X if joint.origin is None else X @ joint.origin
            if joint.name in number:
                body = number[joint.name]
                X_axis = _turn_z_to(_axis(robot, joint))
                X_chain[body], X = X @ X_axis, X_axis.T
            poses[joint.child] = body, X
            reached.append(joint.child)
    return X_chain, poses


def _axis(robot: Any, joint: Any) -> np.ndarray:
    length = float(np.linalg.norm(joint.axis))
    if not abs(length - 1) <= NEARLY:
        raise ModelError(
            f"URDF {robot.name!r}: the axis of joint {joint.name!r} is {joint.axis.tolist()}, of "
            f"length {length:.6g}; it must have length 1"
        )
    return joint.axis / length


def _turn_z_to(axis: np.ndarray) -> np.ndarray:
    """A transform (4, 4) whose rotation takes z to `axis`: identity for z itself."""
    X = np.eye(4)
    if np.array_equal(axis, (0, 0, 1)):
        return X
    helper = np.eye(3)[np.abs(axis).argmin()]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    X[:3, 0], X[:3, 1], X[:3, 2] = x, np.cross(axis, x), axis
    return X


def _limits(robot: Any, joint: Any, speed: float | None) -> tuple[float, float, float, float]:
    """Lowest and highest position [rad], speed [rad/s] and torque [N m]."""
    limit, where = joint.limit, f"URDF {robot.name!r}: joint {joint.name!r}"
    if limit is not None and limit.velocity is not None:
        speed = limit.velocity
    if speed is None:
        raise ModelError(
            f"{where}: no velocity limit; give it as <limit velocity=...>, in rad/s, or as "
            "joint_velocity"
        )
    effort = limit.effort if limit is not None and limit.effort else math.inf
    if joint.type == "continuous":
        return -math.inf, math.inf, speed, effort
    if limit is None or limit.lower is None or limit.upper is None:
        raise ModelError(
            f"{where}: a revolute joint needs position limits, <limit lower=... upper=...>, in "
            "rad; one that turns without end is of type continuous"
        )
    return limit.lower, limit.upper, speed, effort


def _links(robot: Any, moving: list[Any], poses: _Poses) -> tuple[Link, ...]:
    """The six bodies, each with all that is fixed to it; () if the mass of one is unknown."""
    parts: list[list[tuple[float, np.ndarray, np.ndarray]]] = [[] for _ in moving]
    for link in robot.links:
        body, X = poses.get(link.name, (-1, np.eye(4)))
        if body < 0 or link.inertial is None or not link.inertial.mass:
            continue
        if link.inertial.inertia is None:
            return ()
        X = X if link.inertial.origin is None else X @ link.inertial.origin
        R = X[:3, :3]
        parts[body].append((link.inertial.mass, X[:3, 3], R @ link.inertial.inertia @ R.T))
    if not all(parts):
        return ()
    links = []
    for joint, body in zip(moving, parts, strict=True):
        mass = sum(m for m, _, _ in body)
        com = sum(m * p for m, p, _ in body) / mass
        inertia = sum(about + m * _point_inertia(p - com) for m, p, about in body)
        links.append(Link(joint.child, mass, com, inertia))  # pyright: ignore[reportArgumentType]
    return tuple(links)


def _point_inertia(p: np.ndarray) -> np.ndarray:
    """Of 1 kg at p, m^2: |p|^2 1 - p p^T."""
    return p @ p * np.eye(3) - np.outer(p, p)


def _rpy(R: np.ndarray) -> tuple[float, float, float]:
    """Turns about the fixed x, y, z axes, exact at a pitch of a quarter turn too.

    The roll is read from Rz(yaw)^T R, so that it makes good whatever the yaw was taken to be.
    """
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def _words(numbers: Any) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def _add_inertial(element: ElementTree.Element, link: Link) -> None:
    inertial = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_words(link.com), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=_words([link.mass]))
    upper = [(i, j) for i in range(3) for j in range(i, 3)]
    moments = {f"i{'xyz'[i]}{'xyz'[j]}": _words([link.inertia[i, j]]) for i, j in upper}
    ElementTree.SubElement(inertial, "inertia", moments)
