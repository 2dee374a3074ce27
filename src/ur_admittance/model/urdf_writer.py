"""A model as a URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import numpy as np

from ur_admittance.model.link import Link

if TYPE_CHECKING:
    from ur_admittance.model.robot_model import RobotModel

_UNKNOWN_EFFORT = 1e9  # N m; a URDF must give one, and not all parsers read "inf"


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
