"""Setting up and driving simulated arms, and what the scene does to them."""

from __future__ import annotations

import numpy as np

from tests.support import ANGULAR, LINEAR
from ur_admittance import RobotModel
from ur_admittance.robots.sim import SimRobot
from ur_admittance.robots.sim.scene import Box

QUIET = {"realtime": False, "noise": (0.0, 0.0)}


def block_below(model: RobotModel, gap: float, radius: float = 0.02) -> Box:
    """A block whose top is `gap` m below the ball at P, with the arm at home."""
    x, y, z = model.fk(model.home)[:3, 3]
    return Box((x, y, z - radius - gap - 0.02), (0.2, 0.2, 0.04))


def lower(robot: SimRobot, speed: float, cycles: int) -> None:
    for _ in range(cycles):
        state = robot.wait()
        twist = [0, 0, -speed, 0, 0, 0]
        robot.send_velocity(np.linalg.solve(robot.model.jacobian(state.q), twist))


def turn_elbow(robot: SimRobot, speed: float, cycles: int) -> None:
    for _ in range(cycles):
        robot.wait()
        robot.send_velocity([0, 0, speed, 0, 0, 0])


def wrench_in_W_at_P(robot: SimRobot, wrench: np.ndarray) -> np.ndarray:
    """What the sensor says, moved from S to P and turned into W axes: the test's own algebra."""
    X_WP = robot.X_WP
    X_WS = X_WP @ np.linalg.inv(robot.model.X_EP) @ robot.model.X_ES
    force, torque = X_WS[:3, :3] @ wrench[LINEAR], X_WS[:3, :3] @ wrench[ANGULAR]
    return np.concatenate([force, torque + np.cross(X_WS[:3, 3] - X_WP[:3, 3], force)])


def contact_wrench(robot: SimRobot) -> np.ndarray:
    """(6,) what MuJoCo has the scene do to the tool, at P in W axes, N and N m."""
    mj, m, d, tool = robot._mj, robot._m, robot._d, robot._tool
    p_WP, total, local = robot.X_WP[:3, 3], np.zeros(6), np.zeros(6)
    for n in range(d.ncon):
        contact = d.contact[n]
        bodies = m.geom_bodyid[contact.geom]
        if tool not in bodies:
            continue
        mj.mj_contactForce(m, d, n, local)
        sign = 1.0 if bodies[1] == tool else -1.0
        R = contact.frame.reshape(3, 3)
        force = sign * (local[LINEAR] @ R)
        total[LINEAR] += force
        total[ANGULAR] += np.cross(contact.pos - p_WP, force) + sign * (local[ANGULAR] @ R)
    return total
