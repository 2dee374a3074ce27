"""The chain of a URDF as the arguments of a model."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ur_admittance.config.validate import NEARLY, suggest
from ur_admittance.errors import ModelError
from ur_admittance.model.link import Link
from ur_admittance.model.urdf_parser import Description, Joint, parse

_Poses = dict[str, tuple[int, np.ndarray]]


def read_urdf(
    source: str | os.PathLike,
    *,
    base: str,
    tip: str,
    joint_velocity: float | None = None,
) -> dict[str, Any]:
    """The chain from `base` to `tip`; see `RobotModel.from_urdf`.

    A joint turns about its own axis k; the chain wants z. With R z = k, Rot(k, q) = R Rz(q) R^T: R
    ends the joint's entry of X_chain, and R^T begins what follows.
    """
    robot = parse(source)
    moving = [joint for joint in _path(robot, base, tip) if joint.kind != "fixed"]
    for joint in moving:
        if joint.kind not in ("revolute", "continuous") or joint.mimics:
            kind = "mimics another joint" if joint.mimics else f"is {joint.kind}"
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
    return {
        "name": robot.name,
        "joint_names": tuple(joint.name for joint in moving),
        "X_chain": X_chain,
        "q_min": limits[:, 0],
        "q_max": limits[:, 1],
        "qd_max": limits[:, 2],
        "links": _links(robot, moving, poses),
        "tau_max": limits[:, 3],
    }


def _path(robot: Description, base: str, tip: str) -> list[Joint]:
    """The joints from `base` to `tip`."""
    links = [link.name for link in robot.bodies]
    for role, name in (("base", base), ("tip", tip)):
        if name not in links:
            raise ModelError(
                f"URDF {robot.name!r}: no link {name!r} to be the {role}; there are "
                f"{', '.join(links)}{suggest(str(name), links)}"
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


def _chain(robot: Description, base: str, moving: list[Joint]) -> tuple[np.ndarray, _Poses]:
    """X_chain up to the last joint, and for every link that is rigid with W (-1) or one of the six
    bodies (0 .. 5): which, and its pose in W or in that joint's moved frame."""
    number = {joint.name: i for i, joint in enumerate(moving)}
    X_chain, poses = np.zeros((7, 4, 4)), {base: (-1, np.eye(4))}
    reached = [base]
    for parent in reached:  # grows as it is walked
        for joint in robot.joints:
            if joint.parent != parent or (joint.name not in number and joint.kind != "fixed"):
                continue
            body, X = poses[parent]
            X = X @ joint.X
            if joint.name in number:
                body = number[joint.name]
                X_axis = _turn_z_to(_axis(robot, joint))
                X_chain[body], X = X @ X_axis, X_axis.T
            poses[joint.child] = body, X
            reached.append(joint.child)
    return X_chain, poses


def _axis(robot: Description, joint: Joint) -> np.ndarray:
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


def _limits(
    robot: Description, joint: Joint, speed: float | None
) -> tuple[float, float, float, float]:
    """Lowest and highest position [rad], speed [rad/s] and torque [N m]."""
    where = f"URDF {robot.name!r}: joint {joint.name!r}"
    speed = speed if joint.velocity is None else joint.velocity
    if speed is None:
        raise ModelError(
            f"{where}: no velocity limit; give it as <limit velocity=...>, in rad/s, or as "
            "joint_velocity"
        )
    effort = joint.effort or math.inf
    if joint.kind == "continuous":
        return -math.inf, math.inf, speed, effort
    if joint.lower is None or joint.upper is None:
        raise ModelError(
            f"{where}: a revolute joint needs position limits, <limit lower=... upper=...>, in "
            "rad; one that turns without end is of type continuous"
        )
    return joint.lower, joint.upper, speed, effort


def _links(robot: Description, moving: list[Joint], poses: _Poses) -> tuple[Link, ...]:
    """The six bodies, each with all that is fixed to it; () if the mass of one is unknown."""
    parts: list[list[tuple[float, np.ndarray, np.ndarray]]] = [[] for _ in moving]
    for link in robot.bodies:
        body, X = poses.get(link.name, (-1, np.eye(4)))
        if body < 0 or not link.mass:
            continue
        if link.inertia is None:
            return ()
        X = X @ link.X_com
        R = X[:3, :3]
        parts[body].append((link.mass, X[:3, 3], R @ link.inertia @ R.T))
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
