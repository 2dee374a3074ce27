"""A trajectory over compliance over a simulated UR5e, in one chain, pushed aside on its way.

    player -> admittance -> forward -> robot

The player knows nothing of the push, the admittance nothing of the trajectory's end: the tool gives
way by F / K and comes back to where it should be by then.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ur_admittance as ua
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    PosePlayer,
    VelocityForward,
    Waypoint,
)
from ur_admittance.robots.sim import ScriptedPush, SimRobot

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="chain.png", help="where the picture goes")
out_file = parser.parse_args().out

PUSH, START, END, K = 15.0, 2.0, 3.5, 300.0  # N along z of the base, s, s, N/m
config = ua.Config.from_dict({"admittance.stiffness": [K, K, K, 20, 20, 20]})
hand = ScriptedPush([(START, END, [0, 0, PUSH, 0, 0, 0])])
rows = []
with SimRobot("ur5e", hand=hand, realtime=False, seed=1) as robot:
    X_start = robot.X_WP
    X_end = X_start.copy()
    X_end[:3, 3] += [0.1, -0.3, 0.0]
    manager = ControllerManager(robot.model)
    manager.load(
        VelocityForward("admittance"),  # in any order: the manager finds who reads from whom
        AdmittanceLink(ua.Controller(robot.model, config), desired="player"),
        PosePlayer(robot.model, [Waypoint(0.5, X_start), Waypoint(4.5, X_end)], config),
    )
    manager.switch(activate=["player", "admittance", "forward"])
    summary = manager.run(
        robot,
        seconds=6.0,
        each=lambda state, out: rows.append(
            (state.joint_time, robot.X_WP[:3, 3], out["X_WD"][:3, 3].copy(), out["qd"].copy())
        ),
    )
t, p_WP, p_WD, qd = map(np.array, zip(*rows, strict=True))
t -= t[0]
p_WP, p_WD = (1e3 * (p - X_start[:3, 3]) for p in (p_WP, p_WD))  # mm from the start
way = np.linalg.norm(p_WP[:, :2], axis=1)
pushed = (t >= START) & (t < END)
gave_way = (p_WP - p_WD)[pushed, 2][-50:].mean()
F = PUSH - config.admittance.deadband_force
print(f"{' > '.join(manager.order)}: {summary.ticks} cycles, {summary.mode} at the end")
print(f"pushed with {PUSH:g} N it gave way by {gave_way:.1f} mm; F / K is {1e3 * F / K:.1f} mm")
print(f"it ended {np.linalg.norm(p_WP[-1] - p_WD[-1]):.1f} mm from the last waypoint")

figure, (path, joints) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
path.plot(np.linalg.norm(p_WD[:, :2], axis=1), p_WD[:, 2], "--", color="0.35", label="player")
path.plot(way, p_WP[:, 2], color="tab:blue", label="tool")
path.plot(way[pushed], p_WP[pushed, 2], color="tab:orange", label=f"{PUSH:g} N")
path.set_xlabel("along the way, mm")
path.set_ylabel("up, mm")
path.legend(frameon=False, loc="upper left")
joints.axvspan(START, END, color="0.93")
for n, joint in enumerate(robot.model.joint_names):
    joints.plot(t, qd[:, n], linewidth=1.2, label=joint.removesuffix("_joint").replace("_", " "))
joints.set_xlabel("time, s")
joints.set_ylabel("joint command, rad/s")
joints.set_xlim(0, t[-1])
joints.legend(frameon=False, fontsize=7, ncols=2, loc="lower right")
for ax in (path, joints):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig(out_file, dpi=110)
print(f"saved {out_file}")
