"""A policy that changes the arm's stiffness 50 times a second: soft while it is pushed, else stiff.

`Controller.stream` puts new gains in force at the next tick, without a ramp. A spring that grows
while it is tense waits for the energy it would give away.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ur_admittance as ua
from ur_admittance.robots.sim import ScriptedPush, SimRobot

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="policy.png", help="where the picture goes")
out_file = parser.parse_args().out


def policy(force: float) -> np.ndarray:
    """Six stiffnesses, N/m and Nm/rad, from the force on the tool, N."""
    return np.array([100.0 if force > 5.0 else 600.0] * 3 + [20.0] * 3)


hand = ScriptedPush([(1.0, 2.5, [0, 12.0, 0, 0, 0, 0]), (4.0, 4.5, [0, 12.0, 0, 0, 0, 0])])
rows = []
with SimRobot("ur5e", hand=hand, realtime=False, seed=1) as robot:
    controller = ua.Controller(
        robot.model, ua.Config(**{"admittance.stiffness": [600] * 3 + [20] * 3})
    )
    controller.activate(robot.wait().q)
    for tick in range(3000):
        state = robot.wait()
        if tick % 10 == 0:  # 50 Hz
            controller.stream(stiffness=policy(np.linalg.norm(state.wrench[:3])))
        out = controller.update(state.q, state.wrench, 0.002)
        robot.send_velocity(out["qd"])
        gone = 1e3 * np.linalg.norm(out["offset"][:3])
        rows.append((out["time"], gone, controller.state["stiffness"][0, 0], out["tank"]))
t, offset, stiffness, tank = np.array(rows).T
print(
    f"gave way by {offset.max():.0f} mm; the tank held {abs(tank.min()):.2f} to {tank.max():.2f} J"
)

figure, (way, gains) = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained")
way.plot(t, offset)
way.set_ylabel("offset, mm")
gains.plot(t, stiffness)
gains.set_ylabel("stiffness, N/m")
gains.set_xlabel("time, s")
figure.savefig(out_file, dpi=110)
print(f"saved {out_file}")
