"""Push a UR5e with 20 N for one second, and compare with the mass and damper it should feel like.

    M a + D v = F    gives    v(t) = F / D (1 - exp(-t D / M)),   and decays after the push

No robot: the arm here is ideal and does what it is told at once.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ur_admittance as ua

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="push.png", help="where the picture goes")
out_file = parser.parse_args().out

DT, PUSH, SECONDS = 0.002, 20.0, 1.0
config = ua.Config.preset("hand-guiding")
model = ua.RobotModel.ur("ur5e")
controller = ua.Controller(model, config)

q = model.home
controller.activate(q)
X_start = model.fk(q)
along = X_start[:3, 0]  # the push is along the tool's own x
t = DT * np.arange(1, round(2 * SECONDS / DT) + 1)  # the end of each tick
distance, speed = np.empty_like(t), np.empty_like(t)
for k in range(len(t)):
    wrench = np.array([PUSH if k * DT < SECONDS else 0.0, 0, 0, 0, 0, 0])
    out = controller.update(q, wrench, DT)
    q = q + out["qd"] * DT
    speed[k] = along @ out["V_WP_cmd"][:3]
    distance[k] = along @ (model.fk(q) - X_start)[:3, 3]
acceleration = np.diff(speed, prepend=0.0) / DT

M, D = config.admittance.mass[0], config.effective_damping()[0]
F = PUSH - config.admittance.deadband_force  # what a soft deadband leaves
tau, after = M / D, np.maximum(t - SECONDS, 0.0)
v_law = F / D * (1 - np.exp(-np.minimum(t, SECONDS) / tau)) * np.exp(-after / tau)
x_law = np.cumsum(v_law) * DT

print(f"push {PUSH:g} N, deadband {PUSH - F:g} N, M {M:g} kg, D {D:g} N s/m: F/D = {F / D:.4f} m/s")
print(f"arm: {speed.max():.4f} m/s at most, {distance[-1]:.3f} m in all; law: {x_law[-1]:.3f} m")
print(f"the law would start with {F / M:g} m/s^2; the arm made {acceleration.max():.2f} m/s^2")

figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 6.2), layout="constrained")
rows = (
    ("distance\nm", distance, x_law, None),
    ("speed\nm/s", speed, v_law, config.max_linear_velocity),
    ("acceleration\nm/s²", acceleration, None, config.limits.max_linear_acceleration),
)
for ax, (label, arm, law, limit) in zip(axes, rows, strict=True):
    ax.axvspan(0, SECONDS, color="0.93")
    if law is not None:
        ax.plot(t, law, "--", color="0.35", label="mass and damper alone")
    ax.plot(t, arm, color="tab:blue", linewidth=1.8, label="the arm, inside its limits")
    if limit is not None:
        for level in (limit, -limit) if arm.min() < 0 else (limit,):
            ax.axhline(level, color="tab:red", linewidth=0.9, linestyle=":", label="limit")
    ax.set_ylabel(label)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].text(0.5 * SECONDS, 0.02, f"push of {PUSH:g} N", ha="center", color="0.4")
axes[0].legend(loc="upper left", frameon=False)
axes[1].text(t[-1], config.max_linear_velocity, "limit ", color="tab:red", ha="right", va="bottom")
axes[2].set_xlabel("time, s")
axes[2].set_xlim(0, t[-1])
figure.savefig(out_file, dpi=110)
print(f"saved {out_file}")
