"""Touch 25 surfaces with 1000 random masses and dampings, and see which of them bounce.

A force that is felt late is answered late. By the linear theory D >= K_env * delay is enough for
any mass; far below it the tool leaves the surface and comes back, for ever.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ur_admittance as ua

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="contact.png", help="where the picture goes")
out_file = parser.parse_args().out

DT, TICKS, RUNS = 0.002, 4000, 40
ARM = ua.LaggedArm(time_constant=0.012, delay=3)
DELAY = ARM.time_constant + ARM.delay * DT + DT  # 20 ms; the last tick is the sampling
random = np.random.default_rng(0)
model = ua.RobotModel.ur("ur5e")
X_WP = model.fk(model.home)
surface_z = X_WP[2, 3] - 0.002  # 2 mm below the tool, which points down
wrenches = np.tile([0, 0, 20.0, 0, 0, 0], (TICKS, 1))  # 20 N along the tool's z: down


def config(mass: float, damping: float) -> ua.Config:
    """Only z gives way. Nothing but the arm delays the force, and no force stops the run."""
    return ua.Config(
        admittance={
            "mass": [mass] * 6,
            "damping": [damping] * 6,
            "enabled_axes": [False, False, True, False, False, False],
            "deadband_force": 0,
            "filter_coefficient": 1,
        },
        safety={"max_force": 5000, "spike_force": 0},
    )


K, D, bounces = [], [], []
for stiffness in np.geomspace(1000, 50_000, 25):
    mass = 10 ** random.uniform(0, 1.5, RUNS)
    damping = stiffness * DELAY * 10 ** random.uniform(-1, 0.7, RUNS)
    surface = ua.Surface(point=(*X_WP[:2, 3], surface_z), stiffness=stiffness)
    configs = [config(m, d) for m, d in zip(mass, damping, strict=True)]
    result = ua.rollout(model, configs, wrenches, arm=ARM, surface=surface, dt=DT, every=4)
    height = result["X_WP"][:, -125:, 2, 3] - surface_z  # the last second
    K += [stiffness] * RUNS
    D += list(damping)
    bounces += list((height > 0).any(axis=1))
K, D, bounces = map(np.array, (K, D, bounces))

ratio = D / (K * DELAY)
print(f"{len(K)} runs of {TICKS * DT:g} s, {1e3 * DELAY:g} ms from force to motion, M 1 to 32 kg")
print(f"D below half of K_env * delay: {bounces[ratio < 0.5].mean():.0%} bounce")
print(
    f"D above it: {bounces[ratio >= 1].sum()} of {(ratio >= 1).sum()} bounce, "
    f"the last at {ratio[bounces].max():.2f} times the rule"
)

figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
ax.loglog(K[~bounces], D[~bounces], ".", color="tab:blue", markersize=5, label="settles")
ax.loglog(K[bounces], D[bounces], "x", color="tab:orange", markersize=4, label="bounces")
line = np.array([800, 62_000])
ax.loglog(line, line * DELAY, color="0.2", linewidth=1.4, label="D = K_env · delay")
ax.loglog(line, 1.5 * line * DELAY, "--", color="0.6", linewidth=1, label="1.5 times that")
ax.set_xlabel("stiffness of the surface K_env, N/m")
ax.set_ylabel("damping D, N s/m")
ax.set_xlim(line)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
figure.savefig(out_file, dpi=110)
print(f"saved {out_file}")
