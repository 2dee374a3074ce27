"""The links and joints of a URDF, after a look at every name and number that matters here.

A look of our own, because readers of URDFs repair broken XML as they can, drop what they cannot
repair, and take NaN for a number.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.config.validate import pose, suggest
from ur_admittance.errors import ModelError

_UNDECLARED = "NS_ERR_UNDEFINED_NAMESPACE"  # the kind of error, as lxml calls it

# Where a URDF has numbers that matter here, and how many.
_NUMBERS = {
    "joint/origin": {"xyz": 3, "rpy": 3},
    "joint/axis": {"xyz": 3},
    "joint/limit": {"lower": 1, "upper": 1, "velocity": 1, "effort": 1},
    "link/inertial/origin": {"xyz": 3, "rpy": 3},
    "link/inertial/mass": {"value": 1},
    "link/inertial/inertia": {"ixx": 1, "ixy": 1, "ixz": 1, "iyy": 1, "iyz": 1, "izz": 1},
}


@dataclass(frozen=True)
class Body:
    """A link, None where it is not said: mass kg, X_com (4, 4), inertia about it (3, 3) kg m^2."""

    name: str
    mass: float | None
    X_com: np.ndarray
    inertia: np.ndarray | None


@dataclass(frozen=True)
class Joint:
    """A joint: pose in its parent (4, 4), axis (3,), limits in rad, rad/s and N m, or None."""

    name: str
    kind: str
    parent: str
    child: str
    X: np.ndarray
    axis: np.ndarray
    mimics: bool
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None


@dataclass(frozen=True)
class Description:
    """What a URDF says."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]


def parse(source: str | os.PathLike) -> Description:
    """Links and joints of a URDF: its text, or the path of a file."""
    root = _root(source)
    _check(root)
    return Description(
        root.get("name"),
        tuple(_body(link) for link in root.findall("link")),
        tuple(_joint(joint) for joint in root.findall("joint")),
    )


def read_file(path: Any, what: str, expected: str) -> bytes:
    """The content of the file that a user named as `what`."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(
            f"{what} {str(path)!r:.200}: cannot be read ({reason}). Give the path of {expected}, "
            "or its text"
        ) from error


def _root(source: str | os.PathLike) -> Any:
    # only needed here
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    if isinstance(source, str) and source.lstrip().startswith("<"):
        # A str is decoded already: what its first line says of the encoding no longer holds.
        lines_before, declaration, rest = source.partition("<?xml")
        if declaration and not lines_before.strip():
            source = lines_before + rest.partition("?>")[2]
        data = source.encode("utf-8", "replace")
    else:
        data = read_file(source, "URDF", "a .urdf file")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(data, parser)
    # A prefix that was never declared (`drake:`) belongs to somebody else; all else is broken.
    strange = [entry for entry in parser.error_log if entry.type_name != _UNDECLARED]
    if root is None or strange:
        words = f"{strange[0].message}, line {strange[0].line}, column {strange[0].column}"
        raise ModelError(f"URDF: this is no XML: {words}")
    if root.getroottree().docinfo.doctype:
        raise ModelError("URDF: it begins with a DOCTYPE, which no URDF needs; remove it")
    if root.tag != "robot":
        raise ModelError(f"URDF: line {root.sourceline}: expected <robot>, got <{root.tag}>")
    if any("xacro" in str(element.tag) for element in root.iter()):
        raise ModelError("URDF: it has xacro elements; run it through `xacro` first")
    return root


def _body(link: Any) -> Body:
    inertial = link.find("inertial")
    if inertial is None:
        return Body(link.get("name"), None, np.eye(4), None)
    found, inertia = inertial.find("inertia"), None
    if found is not None:
        xx, xy, xz, yy, yz, zz = (
            float(found.get(key, 0.0)) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Body(link.get("name"), _number(inertial.find("mass"), "value"), _pose(inertial), inertia)


def _joint(joint: Any) -> Joint:
    axis, limit = joint.find("axis"), joint.find("limit")
    along = "1 0 0" if axis is None else axis.get("xyz", "1 0 0")
    return Joint(
        joint.get("name"),
        str(joint.get("type")),
        joint.find("parent").get("link"),
        joint.find("child").get("link"),
        _pose(joint),
        np.array([float(word) for word in along.split()]),
        joint.find("mimic") is not None,
        *(_number(limit, key) for key in ("lower", "upper", "velocity", "effort")),
    )


def _number(element: Any, key: str) -> float | None:
    text = None if element is None else element.get(key)
    return None if text is None else float(text)


def _pose(element: Any) -> np.ndarray:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    xyz, rpy = (
        [float(word) for word in origin.get(key, "0 0 0").split()] for key in ("xyz", "rpy")
    )
    return pose(xyz, *rpy)


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
                    f"which is no link{suggest(str(link), names['link'])}"
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
