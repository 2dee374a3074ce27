"""The same touch with the arm of `sim` (MuJoCo): `python -m benchmarks.contact_mujoco`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import ur_admittance as ua
from benchmarks.contact import DAMPING, config
from ur_admittance.robots.sim import Scene, ScriptedPush, SimRobot
from ur_admittance.robots.sim.scene import Box

DT = 0.002  # s
LEAN = 0.45  # s, when the hand pushes harder


class Pressed(NamedTuple):
    """Force of the table on the tool, as the sensor sees it: N."""

    ripple: float
    least: float
    mean: float
    peak: float


def press(stiffness: float, adapt: bool, speed: float = 0.05, bandwidth: float = 16.0) -> Pressed:
    """Led down onto a table at `speed` [m/s], then pushed with 15 N; judged from 0.65 s later on.

    Args:
        stiffness: of the table, N/m.
        bandwidth: of the arm's servos, Hz.
    """
    model, push, radius = ua.RobotModel.ur("ur5e"), 15.0, 0.02
    p = model.fk(model.home)[:3, 3]
    top = p[2] - radius - 0.3 * speed
    table = Box((p[0], p[1], top - 0.05), (0.4, 0.4, 0.1))
    scene = Scene((table,), stiffness, 0.1 * math.sqrt(stiffness), 0.2)
    down = np.array([0, 0, -1.0, 0, 0, 0])
    led = DAMPING * speed + 1.5
    hand = ScriptedPush([(0, LEAN, led * down), (LEAN, 99, (push + 1.5) * down)])
    controller = ua.Controller(model, config(adapt, **{"arm.lag": 1 / (math.tau * bandwidth)}))
    forces = []
    options = {"realtime": False, "servo_bandwidth": bandwidth}
    with SimRobot(model, scene=scene, hand=hand, **options) as robot:
        controller.activate(robot.wait().q)
        for k in range(round(2.2 / DT)):
            state = robot.wait()
            out = controller.update(state.q, state.wrench, DT)
            robot.send_velocity(out["qd"])
            by_hand = led if k * DT < LEAN else push + 1.5
            forces.append(float((out["X_WP"][:3, :3] @ state.wrench[:3])[2]) + by_hand)
    force = np.array(forces)
    late = force[round(1.1 / DT) :]
    return Pressed(float(late.std()), float(late.min()), float(late.mean()), float(force.max()))


def main() -> None:
    for stiffness in (5e3, 20e3, 50e3, 100e3):
        for way, adapt in (("fixed gains", False), ("contact damping", True)):
            p = press(stiffness, adapt)
            print(
                f"{stiffness / 1e3:3.0f} kN/m, {way}: ripple {p.ripple:.2f} N rms (the sensor's "
                f"noise is 0.20), {p.least:.0f} to {p.peak:.0f} N"
            )


if __name__ == "__main__":
    main()
