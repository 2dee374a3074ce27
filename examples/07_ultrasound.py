"""An ultrasound scan: a probe slides over a soft, round body with 5 N, and keeps to its line.

The body is softer in the middle. The planner only moves along a straight line above it; the
preset `constant-force` presses along the tool's axis.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ur_admittance as ua

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="ultrasound.png", help="where the picture goes")
out_file = parser.parse_args().out

TARGET, SPEED, DT, TICKS = 5.0, 0.02, 0.002, 3500  # N, m/s, s
config = ua.Config.preset("constant-force").replace(
    {"force.target": [0, 0, TARGET, 0, 0, 0], "force.stiffness": [5e3] * 6, "arm.lag": 0.01}
)
model = ua.RobotModel.ur("ur5e")
X = model.fk(model.home)
axis, way = X[:3, 2], X[:3, 0]
t = np.arange(TICKS) * DT
gone = SPEED * np.clip(t - 1.5, 0, None)
poses, twists = np.tile(X, (TICKS, 1, 1)), np.zeros((TICKS, 6))
poses[:, :3, 3] += gone[:, None] * way
twists[t > 1.5, :3] = SPEED * way
middle = ua.Strip(way, -0.02, 0.02, stiffer=0.4, flank=0.01)  # a soft place
body = ua.Surface(X[:3, 3] + 0.05 * way - 0.004 * axis, -axis, 2e3, 20.0, 0.1, 0.2, middle)
run = ua.rollout(
    model,
    config,
    np.zeros((TICKS, 6)),
    dt=DT,
    arm=ua.LaggedArm(0.01, 2),
    surface=body,
    noise=ua.Noise(0.1),
    desired=(poses, twists),
)
force = -run.contact[0] @ axis
p = run["X_WP"][0, :, :3, 3] - X[:3, 3]
sliding = t > 2.0
error = force[sliding] - TARGET
aside = np.abs(p @ np.cross(axis, way)).max()
print(
    f"{TARGET:g} N held to {error.mean():+.2f} N in the mean, {np.abs(error).max():.2f} N at worst"
)
print(f"{1e3 * aside:.2f} mm beside the line")

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained")
top.plot(1e3 * p @ way, force)
top.axhline(TARGET, color="0.6", linewidth=0.8)
top.set_ylabel("force, N")
bottom.plot(1e3 * p @ way, -1e3 * p @ axis)
bottom.set_ylabel("height, mm")
bottom.set_xlabel("along the line, mm")
figure.savefig(out_file, dpi=110)
print(f"saved {out_file}")
