"""A peg finds its way into a hole that is not quite where it was thought to be."""

from __future__ import annotations

import math

import numpy as np

from ur_admittance.config.validate import pose
from ur_admittance.robots.sim.scene import Scene, Tool, hole
from ur_admittance.scenarios.base import COM, MASS, NOISE, Finding, Run, Scenario, home, through

RADIUS, LENGTH = 0.010, 0.08  # m, of the peg
WIDTH, DEPTH = 0.0202, 0.040  # m, of the hole
ASIDE, ASKEW = 0.001, math.radians(1.0)  # m, rad: how far the hole is from where it was thought
X, Y, Z = home()[:3, 3]
MOUTH = Z - 0.02  # m, height
BEGIN, END = 1.0, 15.0  # s
PUSH = 0.010  # m, how far below the ground of the hole the desired pose ends

SETTINGS = {
    "admittance.frame": "probe",
    "admittance.mass": [10.0, 10.0, 10.0, 0.2, 0.2, 0.2],
    "admittance.stiffness": [300.0, 300.0, 1000.0, 5.0, 5.0, 5.0],
    "admittance.damping": [1000.0, 1000.0, 1000.0, 4.0, 4.0, 4.0],
    "admittance.filter_cutoff_hz": 40.0,
    "admittance.deadband_force": 0.5,
    "admittance.deadband_torque": 0.04,
    "environment_stiffness": 20_000.0,
    "max_linear_velocity": 0.1,
}


class Peg(Scenario):
    """A peg goes into a hole."""

    name = "peg"
    title = "A peg goes into a hole"
    text = (
        "A peg of 20 mm goes into a hole of 20.2 mm that is 1 mm aside and 1 degree askew of where "
        "it was thought to be. Nothing searches: the arm gives way to what it touches."
    )
    seconds = 18.0
    scene = Scene(
        hole(X + ASIDE, Y, MOUTH, width=WIDTH, depth=DEPTH),
        stiffness=20_000.0,
        damping=200.0,
        friction=0.2,
    )
    tool = Tool(radius=RADIUS, length=LENGTH, mass=MASS, com=COM)
    settings = SETTINGS
    path = through((BEGIN, X, Y, Z), (END, X, Y, MOUTH - DEPTH - PUSH))
    R_WD = home()[:3, :3] @ pose((0, 0, 0), roll=ASKEW)[:3, :3]

    def findings(self, run: Run, lag: float) -> list[Finding]:
        config = self.config()
        depth = float(MOUTH - run.p[-1, 2])
        before = run.t < BEGIN
        aside = float(np.abs(run.p[before, 0] - (X + ASIDE)).min())
        askew = float(np.arccos(-run.X[np.nonzero(before)[0][-1], 2, 2]))
        # What pushes is the spring, stretched to the end of the path, and the damping on its way.
        spring, D = config.admittance.stiffness[2], config.effective_damping()[2]
        fastest = 1.875 * (Z - MOUTH + DEPTH + PUSH) / (END - BEGIN)  # see `through`
        force = spring * PUSH + D * fastest + config.admittance.deadband_force + 5 * NOISE[0]
        torque = RADIUS * force
        return [
            Finding(
                "starts aside and askew",
                aside >= 0.95 * ASIDE and askew >= 0.95 * ASKEW,
                f"{aside * 1e3:.2f} mm and {np.degrees(askew):.2f} degrees off, meant to be "
                f"{ASIDE * 1e3:g} mm and {np.degrees(ASKEW):g} degree",
            ),
            Finding(
                "goes all the way in",
                depth >= DEPTH,
                f"{depth * 1e3:.1f} mm deep, the hole has {DEPTH * 1e3:g} mm",
            ),
            Finding(
                "pushes no harder than its spring and damping",
                float(run.force.max()) <= force,
                f"{run.force.max():.1f} N at most, allowed {force:.1f} N",
            ),
            Finding(
                "does not wedge",
                float(run.torque.max()) <= torque,
                f"{run.torque.max():.2f} Nm at most, allowed {torque:.2f} Nm",
            ),
        ]
