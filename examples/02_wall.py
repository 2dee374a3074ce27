"""Press a UR5e with 50 N against a workspace wall for ten seconds, let go, then pull it back.

The wall is met at rest and inside the acceleration limit; ten seconds of pressing wind nothing up,
so letting go moves the tool by less than a millimetre, and a light pull takes it away at once.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ur_admittance as ua

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="wall.png", help="where the picture goes")
out_file = parser.parse_args().out

DT = 0.002
model = ua.RobotModel.ur("ur5e")
q = model.home
y_wall = model.fk(q)[1, 3] + 0.3
config = ua.Config(limits={"workspace_max": [10, y_wall, 10]})
controller = ua.Controller(model, config)
controller.activate(q)

t = DT * np.arange(round(12.0 / DT))
push = np.where(t < 10, 50.0, np.where(t < 11, 0.0, -15.0))  # N along y of the base
gap, V = np.empty_like(t), np.empty((len(t), 3))
for k in range(len(t)):
    X_WP = model.fk(q)
    gap[k] = y_wall - X_WP[1, 3]
    force = X_WP[:3, :3].T @ [0, push[k], 0]  # the sensor reports in the tool's axes
    out = controller.update(q, np.array([*force, 0, 0, 0]), DT)
    q = q + out["qd"] * DT
    V[k] = out["V_WP_cmd"][:3]
speed = np.linalg.norm(V, axis=1)
acceleration = np.linalg.norm(np.diff(V, axis=0, prepend=0.0), axis=1) / DT

away = gap[np.searchsorted(t, 11.0)] - gap[np.searchsorted(t, 10.0)]
print(f"furthest beyond the wall: {max(0.0, -1e3 * gap.min()):.6f} mm")
print(f"fastest {speed.max():.3f} m/s, hardest {acceleration.max():.3f} m/s^2")
print(f"in the second after letting go the tool moved {1e3 * away:.2f} mm away from the wall")

figure, axes = plt.subplots(
    3, 2, sharex="col", sharey="row", figsize=(7.5, 6), layout="constrained", width_ratios=(3, 2)
)
limits = config.max_linear_velocity, config.limits.max_linear_acceleration
for column, span in enumerate(((0, 2), (9.8, 12))):
    for ax, values, limit in zip(
        axes[:, column], (1e3 * gap, speed, acceleration), (0, *limits), strict=True
    ):
        ax.plot(t, values, color="tab:blue", linewidth=1.8)
        ax.axhline(limit, color="tab:red", linewidth=0.9, linestyle=":")
        ax.spines[["top", "right"]].set_visible(False)
        for start, end in ((0, 10), (11, 12)):
            ax.axvspan(start, end, color="0.93" if start == 0 else "0.97")
    axes[2, column].set_xlim(span)
    axes[2, column].set_xlabel("time, s")
labels = "to the wall\nmm", "speed\nm/s", "acceleration\nm/s²"
for ax, label in zip(axes[:, 0], labels, strict=True):
    ax.set_ylabel(label)
for ax, limit in zip(axes[1:, 0], limits, strict=True):
    ax.set_ylim(-0.04 * limit, 1.2 * limit)
axes[0, 0].text(1.95, 6, "wall", color="tab:red", ha="right", va="bottom")
axes[1, 0].text(1.95, limits[0], "limit", color="tab:red", ha="right", va="bottom")
axes[2, 0].text(1.95, limits[1], "limit", color="tab:red", ha="right", va="bottom")
axes[0, 0].set_title("pushed with 50 N", fontsize=10, color="0.3")
axes[0, 1].set_title("let go at 10 s, pulled with 15 N at 11 s", fontsize=10, color="0.3")
figure.savefig(out_file, dpi=110)
print(f"saved {out_file}")
